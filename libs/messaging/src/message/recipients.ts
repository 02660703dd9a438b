import {
  type Address,
  ADDRESS_RULES,
  addressKey,
  type AddressKind,
  readAddress,
} from './address.js';
import type { FieldError } from './errors.js';
import { NO_PHONE_NUMBER, normalisePhoneNumber, phoneNumberValue } from './phone-number.js';

/** Recipients of a send: addresses, or texts that are parsed as the channel's address kinds. */
export type Recipients = string | Address | readonly (string | Address)[];

/** Parsed recipients without duplicates, in the order given. */
export interface ReadRecipients {
  /** Address keys. */
  readonly recipients: string[];
  /** Errors with paths such as `to[3]`. */
  readonly errors: FieldError[];
}

/**
 * Parses, normalises and de-duplicates recipients in one pass; reports the first `maxErrors`
 * errors.
 */
export function readRecipients(
  to: readonly unknown[],
  kinds: readonly AddressKind[],
  maxErrors = 10,
): ReadRecipients {
  return kinds.length === 1 && kinds[0] === 'phone'
    ? readPhoneNumbers(to, maxErrors)
    : readAddresses(to, kinds, maxErrors);
}

function readAddresses(
  to: readonly unknown[],
  kinds: readonly AddressKind[],
  maxErrors: number,
): ReadRecipients {
  const recipients = new Set<string>();
  const errors: FieldError[] = [];
  to.forEach((entry, index) => {
    const address = readAddress(entry, kinds);
    if (address) recipients.add(addressKey(address));
    else if (errors.length < maxErrors)
      errors.push({ path: `to[${index}]`, message: ruleOf(kinds) });
  });
  return { recipients: [...recipients], errors };
}

/** Form of an address of these kinds, for error messages. */
export function ruleOf(kinds: readonly AddressKind[]): string {
  return kinds
    .map((kind) => (kind === 'phone' ? NO_PHONE_NUMBER : ADDRESS_RULES[kind]))
    .join(', or ');
}

/**
 * Like {@link readAddresses}, but compares numbers by value: for 100,000 numbers a `Set` of texts
 * costs four times as much.
 */
function readPhoneNumbers(to: readonly unknown[], maxErrors: number): ReadRecipients {
  const seen = to.length > 1 ? new PhoneNumberSet(to.length) : undefined;
  const recipients: string[] = [];
  const errors: FieldError[] = [];
  for (let index = 0; index < to.length; index++) {
    const entry = to[index];
    let number = typeof entry === 'string' ? entry : numberOf(entry);
    let value = phoneNumberValue(number);
    if (value === 0) {
      number = normalisePhoneNumber(number);
      value = phoneNumberValue(number);
    }
    if (value > 0) {
      if (!seen || seen.add(value)) recipients.push(number);
    } else if (errors.length < maxErrors)
      errors.push({ path: `to[${index}]`, message: NO_PHONE_NUMBER });
  }
  return { recipients, errors };
}

function numberOf(entry: unknown): string {
  return readAddress(entry, ['phone'])?.value ?? '';
}

/** Set of phone numbers by value: open addressing in one flat array. */
class PhoneNumberSet {
  readonly #slots: Float64Array;
  readonly #shift: number;
  /** Odd and random, so that a caller cannot choose numbers with colliding slots. */
  readonly #factor = Math.floor(Math.random() * 0x1_0000_0000) | 1;

  constructor(capacity: number) {
    const bits = Math.max(2, Math.ceil(Math.log2(capacity * 2 + 1)));
    this.#slots = new Float64Array(2 ** bits);
    this.#shift = 32 - bits;
  }

  /** Adds a positive integer below 2^53; false where the set already has it. */
  add(value: number): boolean {
    const slots = this.#slots;
    const mask = slots.length - 1;
    const low = Math.imul(value % 0x1_0000_0000, this.#factor) >>> this.#shift;
    let at = (low ^ (value / 0x1_0000_0000)) & mask;
    for (; slots[at] !== 0; at = (at + 1) & mask) if (slots[at] === value) return false;
    slots[at] = value;
    return true;
  }
}
