import { ADDRESS_RULES, addressOf } from './address.js';
import type { Mailbox } from './content/email-content.js';
import type { FieldError } from './errors.js';
import { own } from './report-fields.js';

/** A mailbox as callers give it: `ada@example.com`, `Ada <ada@example.com>` or an object. */
export type MailboxInput = string | Mailbox;

const NAMED = /^(?<name>[^<>]*?)[ \t]*<(?<email>[^<>]*)>$/;
const QUOTED = /^"(?:[^"\\\p{Cc}]|\\[^\p{Cc}])*"$/u;
/** Without quotes, these characters have a meaning of their own in a header. */
const UNQUOTED = /^[^"(),:;<>@[\\\]\p{Cc}\p{Cs}]+$/u;
const NAME = /^[^\p{Cc}\p{Cs}]{1,255}$/u;

const RULE = `${ADDRESS_RULES.email}, or Ada <ada@example.com>`;
const NAME_RULE = 'must be 1 to 255 characters, without control characters';

/** Reads a mailbox; adds an error at `path`, or below it, where it is none. */
export function readMailbox(
  given: unknown,
  path: string,
  errors: FieldError[],
): Mailbox | undefined {
  if (typeof given === 'string') {
    const mailbox = parsed(given);
    if (!mailbox) errors.push({ path, message: RULE });
    return mailbox;
  }
  if (typeof given !== 'object' || given === null) {
    errors.push({ path, message: RULE });
    return undefined;
  }
  const address = addressOf('email', own(given, 'email'));
  const name = own(given, 'name');
  if (!address) errors.push({ path: `${path}.email`, message: ADDRESS_RULES.email });
  const isNamed = name === undefined || isName(name);
  if (!isNamed) errors.push({ path: `${path}.name`, message: NAME_RULE });
  return address && isNamed
    ? { email: address.value, ...(typeof name === 'string' && { name }) }
    : undefined;
}

/** The normalised mailbox; `undefined`: it is none. */
export function parseMailbox(given: unknown): Mailbox | undefined {
  return readMailbox(given, '', []);
}

export function isName(value: unknown): value is string {
  return typeof value === 'string' && NAME.test(value);
}

function parsed(text: string): Mailbox | undefined {
  const bare = addressOf('email', text);
  if (bare) return { email: bare.value };
  const { name: shown = '', email } = NAMED.exec(text)?.groups ?? {};
  const address = addressOf('email', email);
  const name = QUOTED.test(shown)
    ? shown.slice(1, -1).replaceAll(/\\(.)/gu, '$1')
    : UNQUOTED.test(shown)
      ? shown
      : '';
  return address && isName(name) && name.trim() === name
    ? { email: address.value, name }
    : undefined;
}
