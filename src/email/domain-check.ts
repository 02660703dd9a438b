import { dkimRecord, type MailSettings, recordKey, recordsOf } from './domain-records.js';
import type { EmailDomain, EmailDomainKey, RecordCheck } from './domains.tables.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** After so long with another record, or none, a domain is verified no more. */
const MISMATCH_FOR = 72 * HOUR;

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
