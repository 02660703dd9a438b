import { domainToASCII } from 'node:url';
import { parse } from 'tldts';
import type { Environment } from '../../../config/environment.js';
import { invalidField } from '../../../http/api-error.js';
import { type EmailDomainKey, MOST_NAME } from './domains.tables.js';

export const RECORD_PURPOSES = [
  'dkim',
  'dkim_ed25519',
  'return_path',
  'return_path_spf',
  'dmarc',
  'inbound',
] as const;

export const RECORD_TYPES = ['TXT', 'CNAME', 'MX'] as const;

/** A record that an account publishes for its domain. */
export interface DomainRecord {
  readonly purpose: (typeof RECORD_PURPOSES)[number];
  readonly type: (typeof RECORD_TYPES)[number];
  /** Fully qualified. */
  readonly name: string;
  /** In one piece, without quotes; of an MX record the preference and the host. */
  readonly value: string;
  /** The domain is not verified without it. */
  readonly required: boolean;
}

export type MailSettings = Pick<
  Environment,
  'PUBLIC_URL' | 'EMAIL_RETURN_HOST' | 'EMAIL_SPF' | 'carriers'
>;

type Key = Pick<EmailDomainKey, 'algorithm' | 'selector' | 'publicKey' | 'state'>;

const STATES = ['current', 'next', 'former'];

/** Names the record among those of its domain. */
export function recordKey({ type, name }: Pick<DomainRecord, 'type' | 'name'>): string {
  return `${type} ${name}`;
}

/** The host that takes returned and inbound mail. */
export function returnHost({
  PUBLIC_URL,
  EMAIL_RETURN_HOST,
}: Pick<MailSettings, 'PUBLIC_URL' | 'EMAIL_RETURN_HOST'>): string {
  return EMAIL_RETURN_HOST ?? new URL(PUBLIC_URL).hostname;
}

export function recordsOf(
  name: string,
  keys: readonly Key[],
  settings: MailSettings,
): DomainRecord[] {
  const { EMAIL_RETURN_HOST, EMAIL_SPF, carriers } = settings;
  const host = returnHost(settings);
  const inOrder = keys.toSorted(
    (a, b) =>
      STATES.indexOf(a.state) - STATES.indexOf(b.state) || (a.algorithm > b.algorithm ? -1 : 1),
  );
  const bounce = `bounce.${name}`;
  const record = (
    purpose: DomainRecord['purpose'],
    type: DomainRecord['type'],
    at: string,
    value: string,
    required: boolean,
  ): DomainRecord => ({ purpose, type, name: at, value, required });
  const ways = carriers.of('email');
  const isReturned = ways.length === 0 || ways.some(({ traits }) => !traits.signsMail);
  const returnPath = EMAIL_RETURN_HOST
    ? [record('return_path', 'CNAME', bounce, host, isReturned)]
    : [
        record('return_path', 'MX', bounce, `10 ${host}`, isReturned),
        record('return_path_spf', 'TXT', bounce, EMAIL_SPF, isReturned),
      ];
  return [
    ...inOrder.map((key) => dkimRecord(name, key)),
    ...returnPath,
    record('dmarc', 'TXT', `_dmarc.${name}`, 'v=DMARC1; p=none', false),
    record('inbound', 'MX', name, `10 ${host}`, false),
  ];
}

export function dkimRecord(name: string, key: Key): DomainRecord {
  const { algorithm, selector, publicKey, state } = key;
  return {
    purpose: algorithm === 'rsa' ? 'dkim' : 'dkim_ed25519',
    type: 'TXT',
    name: `${selector}._domainkey.${name}`,
    value: `v=DKIM1; k=${algorithm}; p=${publicKey}`,
    required: algorithm === 'rsa' && state !== 'former',
  };
}

export function statusOf(
  { purpose, value }: DomainRecord,
  found: readonly string[],
): 'missing' | 'mismatch' | 'found' {
  const [first] = found;
  if (first === undefined) return 'missing';
  if (purpose === 'inbound' || purpose === 'return_path')
    return hostIn(first) === hostIn(value) ? 'found' : 'mismatch';
  // Receivers take either one of two TXT records, or none.
  if (found.length > 1) return 'mismatch';
  const isRight =
    purpose === 'return_path_spf'
      ? words(first) === words(value)
      : purpose === 'dmarc'
        ? /^v=DMARC1\s*;/.test(first) &&
          /^(?:none|quarantine|reject)$/i.test(tagIn(first, 'p') ?? '')
        : ['v', 'k', 'p'].every(
            (tag) => (tagIn(first, tag) ?? DEFAULTS[tag]) === tagIn(value, tag),
          );
  return isRight ? 'found' : 'mismatch';
}

/** Default values of the tags of a DKIM record (RFC 6376, 3.6.1). */
const DEFAULTS: Readonly<Record<string, string>> = { v: 'DKIM1', k: 'rsa' };

/** The value of a tag without white space, which lists of tags ignore. */
function tagIn(list: string, wanted: string): string | undefined {
  for (const tag of list.split(';')) {
    const [, name, value = ''] = /^\s*(\w+)\s*=([^]*)$/.exec(tag) ?? [];
    if (name === wanted) return value.replaceAll(/\s+/g, '');
  }
  return undefined;
}

function hostIn(value: string): string {
  return value.replace(/^\d+ /, '').replace(/\.$/, '').toLowerCase();
}

function words(text: string): string {
  return text.trim().toLowerCase().replaceAll(/ +/g, ' ');
}

const LABELS = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/;

export const DOMAIN_NAME_RULE = `must be a domain name of at most ${MOST_NAME} characters, such as mail.example.com`;

/** In lower case, with A-labels. @throws ApiError 422 on `name`, also for a public suffix */
export function domainName(given: string): string {
  // `domainToASCII()` takes other characters for the end of the name, or for an escape.
  const isWritten = /^[\p{L}\p{M}\p{N}.-]+$/u.test(given);
  const name = isWritten ? domainToASCII(given) : '';
  if (name.length > MOST_NAME || !LABELS.test(name)) throw invalidField('name', DOMAIN_NAME_RULE);
  const { publicSuffix } = parse(name, { allowPrivateDomains: true });
  if (publicSuffix === name)
    throw invalidField(
      'name',
      'is a public suffix, below which anyone can have a name; add a domain of your own',
    );
  return name;
}
