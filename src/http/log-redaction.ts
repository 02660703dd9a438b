import { maskAddress, maskPhoneNumber } from '@dundun/messaging/values';

/** Without other properties, which may contain the parameters of a failed query. */
export function describeError(error: unknown): { name: string; message: string } {
  if (!(error instanceof Error)) return { name: typeof error, message: 'not an Error' };
  const { name, message, stack, cause } = error;
  const { code } = error as { code?: unknown };
  return {
    name,
    message,
    ...(typeof code === 'string' && { code }),
    ...(stack && { stack }),
    ...(cause instanceof Error && { cause: describeError(cause) }),
  };
}

const SECRET = /\b(?:tok|svk|whsec)_[0-9A-Za-z+/=]{8,}|\bBearer\s+[^\s"\\]+/gi;

/** A run of 7 to 15 digits that is not the value of a numeric field, part of an id or of a time. */
const NUMBER = /(?<!":|[0-9A-Za-z._-])\+?([1-9]\d{6,14})(?![0-9A-Za-z_]|-[0-9A-Za-z]|\.\d)/g;

const EMAIL = /[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+/g;
const PLATFORM = /\bplatform:([\x21\x23-\x5b\x5d-\x7e]{1,255})/g;

/** Removes credentials and masks phone numbers, e-mail addresses and platform ids in a log line. */
export function scrub(line: string): string {
  return line
    .replace(SECRET, '[redacted]')
    .replace(PLATFORM, (_, value: string) => maskAddress({ kind: 'platform', value }))
    .replace(EMAIL, (value) => maskAddress({ kind: 'email', value }))
    .replace(NUMBER, (_, digits: string) => maskPhoneNumber(digits));
}

/** The name and code of an error: its message may have an address or a parameter. */
export function causeOf(error: unknown): string {
  const { name, message } = describeError(error);
  const { code, errors } = (error ?? {}) as { code?: unknown; errors?: unknown };
  // After attempts at several addresses there is an error for each.
  const [first] = Array.isArray(errors) ? (errors as unknown[]) : [];
  if (typeof code === 'string' && /^\w{1,64}$/.test(code)) return code;
  if (first !== undefined) return causeOf(first);
  return /time-?d? ?out/i.test(message) ? 'no answer in time' : name;
}
