import { Option } from 'commander';
import { domainOf } from '../email/domains.dto.js';
import { DomainsService } from '../email/domains.service.js';
import { SuppressionsService } from '../email/suppressions.service.js';
import {
  SUPPRESSION_CATEGORIES,
  SUPPRESSION_REASONS,
  suppressionOf,
} from '../email/suppressions.dto.js';
import type { OfAccount, OperatorCommand } from './operator-command.js';

interface DomainOptions extends OfAccount {
  readonly domain: string;
}

interface SuppressionOptions extends OfAccount {
  readonly email: string;
  readonly reason?: string;
  readonly category?: string;
}

const MOST_DOMAINS = 1_000;

export function addEmailCommands(program: OperatorCommand): void {
  const domain = program.subcommand('domain', 'domains that an account sends email from');
  domain
    .accountCommand('add', 'add a domain; shows the records to publish')
    .requiredOption('--domain <name>', 'such as mail.example.com')
    .runs(async (app, { account, domain: name }: DomainOptions) =>
      domainOf(await app.get(DomainsService).add(account, name)),
    );
  domain
    .accountCommand('list', `the domains of an account, the first ${MOST_DOMAINS}`)
    .runs(async (app, { account }: OfAccount) => {
      const { data } = await app.get(DomainsService).list(account, { limit: MOST_DOMAINS });
      const domains = data.map(({ id, name, status, verifiedAt }) => {
        return { id, name, status, verifiedAt: verifiedAt?.toISOString() ?? null };
      });
      return { domains };
    });
  const commandForOne = (name: 'verify' | 'rotate', description: string): void => {
    domain
      .accountCommand(name, description)
      .requiredOption('--domain <name>', 'its name or id')
      .runs(async (app, { account, domain: given }: DomainOptions) => {
        const domains = app.get(DomainsService);
        return domainOf(await domains[name](account, await domains.idOf(account, given)));
      });
  };
  commandForOne('verify', 'ask DNS for its records');
  commandForOne('rotate', 'make new DKIM keys; shows the records to publish beside the old ones');
}

export function addSuppressionCommands(program: OperatorCommand): void {
  const suppression = program.subcommand(
    'suppression',
    'e-mail addresses that an account sends nothing to',
  );
  suppression
    .accountCommand('add', 'send no email to an address any more')
    .requiredOption('--email <address>', 'the address')
    .addOption(
      new Option('--reason <reason>', 'why').choices(SUPPRESSION_REASONS).default('manual'),
    )
    .addOption(
      new Option('--category <category>', 'this category alone (default: all)').choices(
        SUPPRESSION_CATEGORIES,
      ),
    )
    .runs(async (app, { account, ...entry }: SuppressionOptions) => {
      const suppressions = app.get(SuppressionsService);
      await suppressions.add(account, [entry]);
      const { data } = await suppressions.list(account, { email: entry.email, limit: 10 });
      return { suppressions: data.map(suppressionOf) };
    });
  suppression
    .accountCommand('list', 'by address')
    .option('--email <address>', 'only entries of this address')
    .option('--cursor <cursor>', 'next_cursor of the page before')
    .runs(async (app, { account, ...asked }: OfAccount & { email?: string; cursor?: string }) => {
      const page = await app.get(SuppressionsService).list(account, { ...asked, limit: 1_000 });
      return { suppressions: page.data.map(suppressionOf), nextCursor: page.nextCursor };
    });
  suppression
    .accountCommand('remove', 'send to an address again, unless it unsubscribed')
    .requiredOption('--email <address>', 'the address')
    .runs(async (app, { account, email }: SuppressionOptions) => {
      await app.get(SuppressionsService).lift(account, email);
      return { accountId: account, email, status: 'lifted' };
    });
}
