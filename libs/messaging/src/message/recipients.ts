import {
  type Address,
  ADDRESS_RULES,
  addressKey,
  type AddressKind,
  readAddress,
} from './address.js';
import type { FieldError } from './errors.js';
import { isPhoneNumber } from './phone-number.js';

/** Recipients of a send: addresses, or texts that are parsed as the channel's address kinds. */
export type Recipients = string | Address | readonly (string | Address)[];

const GROUP_ID = /^grp_[0-9A-Za-z]{10,60}$/;

/** Whether the text has the form of a group id. */
export function isGroupId(value: unknown): value is string {
  return typeof value === 'string' && GROUP_ID.test(value);
}

/** Parsed recipients without duplicates, in the order given. */
export interface ReadRecipients {
  /** Address keys and group ids. */
  readonly recipients: string[];
  readonly groups: string[];
  /** The first ten errors, with paths such as `to[3]`. */
  readonly errors: FieldError[];
}

export function readRecipients(
  to: readonly unknown[],
  kinds: readonly AddressKind[],
  withGroups = false,
): ReadRecipients {
  const recipients = new Set<string>();
  const groups = new Set<string>();
  const errors: FieldError[] = [];
  const phone = kinds[0] === 'phone';
  to.forEach((entry, index) => {
    if (phone && isPhoneNumber(entry)) recipients.add(entry);
    else if (withGroups && isGroupId(entry)) {
      recipients.add(entry);
      groups.add(entry);
    } else {
      const address = readAddress(entry, kinds);
      if (address) recipients.add(addressKey(address));
      else if (errors.length < 10) errors.push({ path: `to[${index}]`, message: ruleOf(kinds) });
    }
  });
  return { recipients: [...recipients], groups: [...groups], errors };
}

export function ruleOf(kinds: readonly AddressKind[]): string {
  return kinds.map((kind) => ADDRESS_RULES[kind]).join(', or ');
}
