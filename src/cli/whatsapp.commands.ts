import type { Command } from 'commander';
import {
  TEMPLATE_CATEGORIES,
  TEMPLATE_STATUSES,
  type TemplateCategory,
  type TemplateStatus,
} from '../accounts/accounts.tables.js';
import { type Template, TemplateRegistry } from '../accounts/templates.js';
import { WhatsAppNumbers } from '../accounts/whatsapp-numbers.js';
import type { Row } from './output.js';
import type { Run } from './run.js';

interface TemplateOptions {
  readonly account: string;
  readonly name: string;
  readonly language: string;
  readonly category: string;
  readonly params: string;
  readonly status: string;
  readonly json?: boolean;
}

/** Most templates in one result. */
const MAX_TEMPLATES = 1_000;

/** Commands for the accounts' WhatsApp numbers and templates. */
export function addWhatsAppCommands(program: Command, run: Run): void {
  program
    .command('number')
    .description('WhatsApp numbers')
    .command('add')
    .description('let an account send from a WhatsApp number; it sends from its oldest')
    .requiredOption('--account <id>', 'the account')
    .requiredOption('--number <number>', 'digits with country code')
    .option('--json', 'answer one line of JSON')
    .action((options: { account: string; number: string; json?: boolean }) =>
      run(options, async (app) => {
        await app.get(WhatsAppNumbers).add(options.account, options.number);
        return { account_id: options.account, number: options.number };
      }),
    );
  const template = program.command('template').description('WhatsApp templates');
  template
    .command('add')
    .description('make a template known, or change what is known of it')
    .requiredOption('--account <id>', 'the account')
    .requiredOption('--name <name>', 'as the platform has it')
    .requiredOption('--category <category>', TEMPLATE_CATEGORIES.join(', '))
    .option('--language <code>', 'such as en or pt_BR', 'en')
    .option('--params <count>', 'how many parameters it takes', '0')
    .option('--status <status>', TEMPLATE_STATUSES.join(', '), 'approved')
    .option('--json', 'answer one line of JSON')
    .action((options: TemplateOptions) =>
      run(options, async (app) => {
        const { account, name, language, params } = options;
        const one = {
          name,
          language,
          // The service checks it together with the other fields.
          category: options.category as TemplateCategory,
          status: options.status as TemplateStatus,
          paramsCount: /^\d{1,4}$/.test(params) ? Number(params) : Number.NaN,
        };
        await app.get(TemplateRegistry).put(account, one);
        return { account_id: account, ...templateRow(one) };
      }),
    );
  template
    .command('list')
    .description(`the templates of an account, the first ${MAX_TEMPLATES}`)
    .requiredOption('--account <id>', 'the account')
    .option('--json', 'answer one line of JSON')
    .action((options: { account: string; json?: boolean }) =>
      run(options, async (app) => {
        const { data } = await app
          .get(TemplateRegistry)
          .list(options.account, { limit: MAX_TEMPLATES });
        return { templates: data.map(templateRow) };
      }),
    );
}

function templateRow({ name, language, category, status, paramsCount }: Template): Row {
  return { name, language, category, status, params_count: paramsCount };
}
