import { domainOf } from '../../channels/email/domains/domains.dto.js';
import { DomainsService } from '../../channels/email/domains/domains.service.js';
import type { AuditAction } from '../../portal/audit.js';
import type { OfAccount, OperatorCommand } from '../operator-command.js';
import { auditOf } from '../operator-gateway.js';

interface DomainOptions extends OfAccount {
  readonly domain: string;
}

const MOST_DOMAINS = 1_000;

export function addDomainCommands(domain: OperatorCommand): void {
  domain
    .accountCommand('add', 'add a domain; shows the records to publish')
    .requiredOption('--domain <name>', 'such as mail.example.com')
    .runs(async (app, { account, domain: name }: DomainOptions) =>
      domainOf(
        await app.get(DomainsService).add(account, name, auditOf(app, account, 'domain.added')),
      ),
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
  const commandForOne = (
    name: 'verify' | 'rotate',
    action: AuditAction,
    description: string,
  ): void => {
    domain
      .accountCommand(name, description)
      .requiredOption('--domain <name>', 'its name or id')
      .runs(async (app, { account, domain: given }: DomainOptions) => {
        const domains = app.get(DomainsService);
        const id = await domains.idOf(account, given);
        return domainOf(await domains[name](account, id, auditOf(app, account, action, id)));
      });
  };
  commandForOne('verify', 'domain.verified', 'ask DNS for its records');
  commandForOne(
    'rotate',
    'domain.rotated',
    'make new DKIM keys; shows the records to publish beside the old ones',
  );
}
