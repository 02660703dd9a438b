import { AccountsService } from '../../accounts/accounts.service.js';
import {
  TEMPLATE_CATEGORIES,
  TEMPLATE_STATUSES,
  type TemplateCategory,
  type TemplateStatus,
} from '../../accounts/accounts.tables.js';
import { TemplateRegistry } from '../../accounts/templates.js';
import { type MetaNumber, SendersService } from '../../senders/senders.service.js';
import type { OfAccount, OperatorCommand } from '../operator-command.js';
import { auditOf } from '../operator-gateway.js';

interface TemplateOptions extends OfAccount {
  readonly name: string;
  readonly language: string;
  /** The service checks it, and the status. */
  readonly category: TemplateCategory;
  readonly params: string;
  readonly status: TemplateStatus;
}

interface NumberOptions extends OfAccount, MetaNumber {
  readonly number: string;
}

/** Most templates in one result. */
const MAX_TEMPLATES = 1_000;

export function addNumberCommands(group: OperatorCommand): void {
  group
    .accountCommand(
      'add',
      'give an account a number: WhatsApp messages leave from its oldest, and what is sent to it is its own',
    )
    .requiredOption('--number <number>', 'digits with country code')
    .option(
      '--phone-number-id <id>',
      'the id of the number at Meta, for WHATSAPP_CARRIER=whatsapp-cloud',
    )
    .option('--waba <id>', 'the id of its business account at Meta')
    .runs(async (app, { account: accountId, number, ...meta }: NumberOptions) => {
      await app
        .get(SendersService, { strict: false })
        .addNumber(accountId, number, meta, auditOf(app, accountId, 'number.added', number));
      return { accountId, number, ...meta };
    });
}

export function addTemplateCommands(template: OperatorCommand): void {
  template
    .accountCommand('add', 'make a template known, or change what is known of it')
    .requiredOption('--name <name>', 'as the platform has it')
    .requiredOption('--category <category>', TEMPLATE_CATEGORIES.join(', '))
    .option('--language <code>', 'such as en or pt_BR', 'en')
    .option('--params <count>', 'how many parameters it takes', '0')
    .option('--status <status>', TEMPLATE_STATUSES.join(', '), 'approved')
    .runs(async (app, { account: accountId, params, ...options }: TemplateOptions) => {
      const { name, language, category, status } = options;
      const params_count = /^\d{1,4}$/.test(params) ? Number(params) : Number.NaN;
      const put = { name, language, category, status, params_count };
      const also = auditOf(app, accountId, 'template.changed', `${name} ${language}`);
      await app.get(AccountsService).putTemplate(accountId, put, also);
      return { accountId, ...put };
    });
  template
    .accountCommand('list', `the templates of an account, the first ${MAX_TEMPLATES}`)
    .runs(async (app, { account }: OfAccount) => {
      const { data } = await app.get(TemplateRegistry).list(account, { limit: MAX_TEMPLATES });
      return { templates: data };
    });
}
