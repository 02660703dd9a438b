import { domainOf } from '../channels/email/domains/domains.dto.js';
import { DomainsService } from '../channels/email/domains/domains.service.js';
import type { OfAccount, OperatorCommand } from './operator-command.js';

interface DomainOptions extends OfAccount {
  readonly domain: string;
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
