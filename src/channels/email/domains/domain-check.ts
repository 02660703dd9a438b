import { type Clock, MESSAGING_CLOCK } from '@dundun/messaging';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Resolver } from 'node:dns/promises';
import { ENVIRONMENT, type Environment } from '../../../config/environment.js';
import {
  dkimRecord,
  type DomainRecord,
  type MailSettings,
  recordKey,
  recordsOf,
  statusOf,
} from './domain-records.js';
import type { EmailDomain, EmailDomainKey, RecordCheck } from './domains.tables.js';

/** Limit for one question to one server, in milliseconds; the second try takes twice as long. */
const TIMEOUT = 1_500;

/** The domain, or the record, does not exist. */
const ABSENT = new Set(['ENODATA', 'ENOTFOUND']);

/** A record longer than this is shown without its end. */
const MOST_SHOWN = 1_000;

/** Asks DNS for the records of domains. */
@Injectable()
export class DomainLookup implements OnApplicationShutdown {
  readonly #resolver = new Resolver({ timeout: TIMEOUT, tries: 2 });

  constructor(
    @Inject(ENVIRONMENT) { EMAIL_DNS_SERVERS: servers }: Pick<Environment, 'EMAIL_DNS_SERVERS'>,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now'>,
  ) {
    if (servers) this.#resolver.setServers(servers);
  }

  onApplicationShutdown(): void {
    this.cancel();
  }

  /** Ends the questions under way: their records are unreachable. */
  cancel(): void {
    this.#resolver.cancel();
  }

  /** By {@link recordKey}; a server that fails or does not answer makes a record unreachable. */
  async check(records: readonly DomainRecord[]): Promise<Record<string, RecordCheck>> {
    const checks = records.map(async (record) => {
      const found = await this.#find(record);
      const checkedAt = new Date(this.clock.now()).toISOString();
      const check: RecordCheck = found
        ? { status: statusOf(record, found), found: shown(found), checkedAt }
        : { status: 'unreachable', found: null, checkedAt };
      return [recordKey(record), check] as const;
    });
    return Object.fromEntries(await Promise.all(checks));
  }

  /** The TXT records of a name, each in pieces. @throws Error of `node:dns` */
  textsOf(name: string): Promise<string[][]> {
    return this.#resolver.resolveTxt(name);
  }

  /** `undefined`: not known. */
  async #find({ type, name }: DomainRecord): Promise<string[] | undefined> {
    try {
      return await this.#ask(type, name);
    } catch (error) {
      return ABSENT.has(String((error as { code?: unknown }).code)) ? [] : undefined;
    }
  }

  async #ask(type: DomainRecord['type'], name: string): Promise<string[]> {
    switch (type) {
      case 'TXT':
        return (await this.textsOf(name)).map((pieces) => pieces.join(''));
      case 'CNAME':
        return this.#resolver.resolveCname(name);
      case 'MX':
        return (await this.#resolver.resolveMx(name))
          .toSorted((a, b) => a.priority - b.priority)
          .map(({ priority, exchange }) => `${priority} ${exchange}`);
    }
  }
}

function shown(found: readonly string[]): string | null {
  if (found.length === 0) return null;
  return found
    .join(', ')
    .slice(0, MOST_SHOWN)
    .replaceAll(/[^\x20-\x7e]/g, '?');
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** After so long with another record, or none, a domain is verified no more. */
export const MISMATCH_FOR = 72 * HOUR;

/** For so long the record of a former key stays, for mail that is still under way. */
const FORMER_FOR = 7 * DAY;

/** For so long a new domain is checked by itself. */
const PENDING_FOR = 72 * HOUR;

const SOON = 10 * MINUTE;
const LATER = 6 * HOUR;

interface Answers {
  /** By `recordKey()`. */
  readonly checks: Readonly<Record<string, RecordCheck>>;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Changes the domain and its keys after DNS has answered. */
export function afterCheck(
  domain: EmailDomain,
  keys: readonly EmailDomainKey[],
  { checks, now }: Answers,
  settings: MailSettings,
): { readonly changed: EmailDomainKey[]; readonly removed: EmailDomainKey[] } {
  domain.checks = checks;
  const changed = promoted(domain.name, keys, checks, now);
  const removed = keys.filter(({ formerUntil }) => formerUntil && formerUntil.getTime() <= now);
  const isRotating = keys.some(({ state }) => state === 'next');
  const signing = keys.filter(({ state }) => state === 'current');
  const required = recordsOf(domain.name, signing, settings).filter((record) => record.required);
  const found = required.map((record) => checks[recordKey(record)]?.status ?? 'unreachable');
  const isFound = found.every((status) => status === 'found');
  const isWrong = found.some((status) => status === 'missing' || status === 'mismatch');
  if (isFound) verify(domain, now);
  else if (isWrong && domain.status === 'verified') {
    domain.mismatchSince ??= new Date(now);
    if (now - domain.mismatchSince.getTime() >= MISMATCH_FOR) unverify(domain);
  }
  domain.checkDueAt = dueAfter(domain, { isSteady: isFound && !isRotating, now });
  return { changed: changed.filter((key) => !removed.includes(key)), removed };
}

/** The keys whose state changes: the next ones sign from now on, if their RSA record is there. */
function promoted(
  name: string,
  keys: readonly EmailDomainKey[],
  checks: Answers['checks'],
  now: number,
): EmailDomainKey[] {
  const next = keys.filter(({ state }) => state === 'next');
  const rsa = next.find(({ algorithm }) => algorithm === 'rsa');
  if (!rsa || checks[recordKey(dkimRecord(name, rsa))]?.status !== 'found') return [];
  const current = keys.filter(({ state }) => state === 'current');
  for (const key of current) {
    key.state = 'former';
    key.formerUntil = new Date(now + FORMER_FOR);
  }
  for (const key of next) key.state = 'current';
  return [...current, ...next];
}

function verify(domain: EmailDomain, now: number): void {
  domain.mismatchSince = null;
  if (domain.status === 'verified') return;
  domain.status = 'verified';
  domain.verifiedName = domain.name;
  domain.verifiedAt = new Date(now);
}

export function unverify(domain: EmailDomain): void {
  domain.status = 'failed';
  domain.verifiedName = null;
  domain.verifiedAt = null;
  domain.mismatchSince = null;
  domain.checkDueAt = null;
}

function dueAfter(
  { status, createdAt }: EmailDomain,
  { isSteady, now }: { readonly isSteady: boolean; readonly now: number },
): Date | null {
  const isChecked =
    status === 'verified' || (status === 'pending' && now - createdAt.getTime() < PENDING_FOR);
  return isChecked ? new Date(now + (isSteady ? LATER : SOON)) : null;
}
