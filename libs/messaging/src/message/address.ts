import type { Personal } from './content/email-content.js';
import type { FieldError } from './errors.js';
import { addressIdentity } from './phone-identity.js';
import {
  isPhoneNumber,
  maskPhoneNumber,
  normalisePhoneNumber,
  withoutTrunkPrefix,
} from './phone-number.js';
import { parsedUrl } from './url.js';

/** `platform`: a user id that only the platform knows, such as a WhatsApp BSUID. */
export type AddressKind = 'phone' | 'email' | 'platform';

export const ADDRESS_KINDS: readonly AddressKind[] = ['phone', 'email', 'platform'];

/** `value` is normalised: digits with country code, a lower-case domain, the id as given. */
export interface Address {
  readonly kind: AddressKind;
  readonly value: string;
}

export const ADDRESS_RULES: Readonly<Record<AddressKind, string>> = {
  phone: 'must be a phone number: 7 to 15 digits with country code, such as 2348012345678',
  email: 'must be an e-mail address, such as ada@example.com',
  platform: 'must be 1 to 255 visible ASCII characters',
};

const PLATFORM = 'platform:';

/**
 * The address as one text: the digits of a phone number, an e-mail address itself, or
 * `platform:{id}`. {@link readAddress} parses it.
 */
export function addressKey({ kind, value }: Address): string {
  return kind === 'platform' ? PLATFORM + value : value;
}

export function addressOfKey(key: string): Address {
  if (key.startsWith(PLATFORM)) return { kind: 'platform', value: key.slice(PLATFORM.length) };
  return { kind: key.includes('@') ? 'email' : 'phone', value: key };
}

/** Normalises an address of this kind; `undefined`: it breaks {@link ADDRESS_RULES}. */
export function addressOf(kind: AddressKind, given: unknown): Address | undefined {
  const value = typeof given === 'string' ? NORMALISED[kind](given) : undefined;
  return value === undefined ? undefined : { kind, value };
}

/**
 * Parses a text as the first of `kinds` that it fits. A platform id needs the prefix `platform:`
 * unless `platform` is the only kind, because most other texts would fit it.
 */
export function readAddress(
  given: unknown,
  kinds: readonly AddressKind[] = ADDRESS_KINDS,
): Address | undefined {
  if (typeof given === 'string') {
    if (given.startsWith(PLATFORM) && kinds.includes('platform'))
      return addressOf('platform', given.slice(PLATFORM.length));
    for (const kind of kinds)
      if (kind !== 'platform' || kinds.length === 1) {
        const address = addressOf(kind, given);
        if (address) return address;
      }
    return undefined;
  }
  if (typeof given !== 'object' || given === null) return undefined;
  const { kind, value } = given as Partial<Record<keyof Address, unknown>>;
  const known = kinds.find((one) => one === kind);
  return known && addressOf(known, value);
}

/** `23480******78`, `a***@example.com`, `platform:NG.1***`: for logs. */
export function maskAddress({ kind, value }: Address): string {
  switch (kind) {
    case 'phone':
      return maskPhoneNumber(value);
    case 'email':
      return `${value.slice(0, 1)}***${value.slice(value.lastIndexOf('@'))}`;
    case 'platform':
      return `${PLATFORM}${value.length < 8 ? '' : value.slice(0, 4)}***`;
  }
}

const NORMALISED: Readonly<Record<AddressKind, (given: string) => string | undefined>> = {
  phone: (given) => {
    const number = normalisePhoneNumber(given);
    return isPhoneNumber(number) ? number : undefined;
  },
  email: normalisedEmail,
  platform: (given) => (/^[\x21-\x7e]{1,255}$/.test(given) ? given : undefined),
};

/** Characters beyond ASCII need a server with SMTPUTF8 (RFC 6531). */
const ATOM = "(?:[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]|[^\\x00-\\x7f\\p{C}\\p{Z}])+";
const LOCAL_PART = new RegExp(`^${ATOM}(?:\\.${ATOM})*$`, 'u');
const HOST =
  /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/;

/** Local part as given (dot-atom), domain in lower case, international domains as A-labels. */
function normalisedEmail(given: string): string | undefined {
  const at = given.lastIndexOf('@');
  const [local, domain] = [given.slice(0, at), given.slice(at + 1)];
  // Before the octets are counted: the length bounds the work.
  if (at < 1 || local.length > 64 || domain.length > 253 || !LOCAL_PART.test(local))
    return undefined;
  const octets = Buffer.byteLength(local);
  let host = domain.toLowerCase();
  if (!HOST.test(host)) {
    // Only non-ASCII letters may need conversion; `URL` would accept paths, ports and escapes.
    if (!/^[A-Za-z0-9.\-\u0080-\u{10ffff}]+$/u.test(domain)) return undefined;
    host = parsedUrl(`http://${domain}`)?.hostname ?? '';
  }
  const email = `${local}@${host}`;
  return HOST.test(host) && octets <= 64 && octets + 1 + host.length <= 254 ? email : undefined;
}

/** Recipients of a send: addresses, or texts that are parsed as the channel's address kinds. */
export type Recipients = string | Address | readonly (string | Address)[];

/** Whether the text has the form of a group id. */
export function isGroupId(value: unknown): value is string {
  return typeof value === 'string' && /^grp_[0-9A-Za-z]{10,60}$/.test(value);
}

/** Parsed recipients in the order given, one address for each {@link addressIdentity}. */
export interface ReadRecipients {
  /** Address keys and group ids. */
  readonly recipients: string[];
  /** The path of each group id, such as `to[3]`. */
  readonly groups: ReadonlyMap<string, string>;
  /** The first ten errors. */
  readonly errors: FieldError[];
  /** Names and variables in the order of `recipients`. @default none */
  readonly personal?: readonly (Personal | undefined)[];
  /** Billing units of the largest message, where contents differ. @default those of the content */
  readonly parts?: number;
}

export function readRecipients(
  to: readonly unknown[],
  kinds: readonly AddressKind[],
  withGroups = false,
): ReadRecipients {
  return new RecipientReader(kinds, withGroups).add(to).result;
}

/** Reads a list at once or slice by slice. Of two forms of one number it keeps the first. */
export class RecipientReader {
  /** By their identities. */
  readonly #recipients = new Map<string, string>();
  readonly #groups = new Map<string, string>();
  readonly #errors: FieldError[] = [];
  #read = 0;

  constructor(
    private readonly kinds: readonly AddressKind[],
    private readonly withGroups: boolean,
  ) {}

  /** Number of unique recipients so far. */
  get size(): number {
    return this.#recipients.size;
  }

  get result(): ReadRecipients {
    const [recipients, groups, errors] = [
      [...this.#recipients.values()],
      this.#groups,
      this.#errors,
    ];
    return { recipients, groups, errors };
  }

  /** Reads the next entries of the list. */
  add(entries: readonly unknown[]): this {
    const { kinds, withGroups } = this;
    const [groups, errors] = [this.#groups, this.#errors];
    const phone = kinds[0] === 'phone';
    let at = this.#read;
    for (const entry of entries) {
      if (phone && isPhoneNumber(entry)) this.#keep(withoutTrunkPrefix(entry) ?? entry);
      else if (withGroups && isGroupId(entry)) {
        this.#keep(entry);
        if (!groups.has(entry)) groups.set(entry, `to[${at}]`);
      } else {
        const address = readAddress(entry, kinds);
        if (address) this.#keep(addressKey(address));
        else if (errors.length < 10) errors.push({ path: `to[${at}]`, message: ruleOf(kinds) });
      }
      at++;
    }
    this.#read = at;
    return this;
  }

  #keep(recipient: string): void {
    const identity = addressIdentity(recipient);
    if (!this.#recipients.has(identity)) this.#recipients.set(identity, recipient);
  }
}

export function ruleOf(kinds: readonly AddressKind[]): string {
  return kinds.map((kind) => ADDRESS_RULES[kind]).join(', or ');
}
