import { type DataSource, In } from 'typeorm';
import type { DomainLookup } from '../channels/email/domains/domain-check.js';
import {
  type MailSettings,
  recordKey,
  recordsOf,
} from '../channels/email/domains/domain-records.js';
import { DEMO_DOMAIN } from '../channels/email/domains/domains.service.js';
import { EmailDomain, EmailDomainKey } from '../channels/email/domains/domains.tables.js';
import { type Check, CheckError, furtherLine } from './check.js';

/** Most domains that are asked after. */
const MOST = 500;

interface DomainSources {
  readonly dataSource: DataSource;
  readonly lookup: Pick<DomainLookup, 'check'>;
  readonly settings: MailSettings;
}

/** A line for each verified domain. */
export async function domainChecks({
  dataSource,
  lookup,
  settings,
}: DomainSources): Promise<Check[]> {
  const { manager } = dataSource;
  const found = await manager.find(EmailDomain, {
    where: { status: 'verified' },
    order: { id: 'ASC' },
    take: MOST + 1,
  });
  const keys = await manager.findBy(EmailDomainKey, {
    domainId: In(found.map(({ id }) => id)),
    state: 'current',
  });
  const lines = found
    .slice(0, MOST)
    .filter(({ name }) => name !== DEMO_DOMAIN)
    .map(({ id, name, accountId }) => ({
      name: `domain ${name}`,
      remedy: `npx dundun domain verify --account ${accountId} --domain ${name}`,
      run: async () => {
        const own = keys.filter(({ domainId }) => domainId === id);
        const records = recordsOf(name, own, settings).filter(({ required }) => required);
        const checks = await lookup.check(records);
        const bad = records.flatMap((record) => {
          const status = checks[recordKey(record)]?.status ?? 'unreachable';
          return status === 'found' ? [] : [`${record.type} ${record.name} is ${WORDS[status]}`];
        });
        if (bad.length > 0)
          throw new CheckError(
            bad.join(', '),
            `publish the records that \`npx dundun domain verify --account ${accountId} --domain ${name}\` shows`,
          );
        return 'its records are in DNS';
      },
    }));
  return [...lines, ...furtherLine('domain', found.length, MOST)];
}

const WORDS = {
  missing: 'missing',
  mismatch: 'another one',
  unreachable: 'not known: no name server answers',
} as const;
