import { maskPhoneNumber } from '@dundun/messaging';

/** The parts of an error that a log may hold. */
export interface ErrorDescription {
  readonly name: string;
  readonly code?: string;
  readonly message: string;
  readonly stack?: string;
  readonly cause?: ErrorDescription;
}

/** Name, code, message and stack, and no other properties: a failed query carries its parameters. */
export function describeError(error: unknown): ErrorDescription {
  if (!(error instanceof Error)) return { name: typeof error, message: 'not an Error' };
  const { code, stack, cause } = error as Error & { code?: unknown };
  return {
    name: error.name,
    message: error.message,
    ...(typeof code === 'string' ? { code } : {}),
    ...(stack ? { stack } : {}),
    ...(cause instanceof Error ? { cause: describeError(cause) } : {}),
  };
}

/** Credentials, by their form. */
const SECRET = /\b(?:tok|svk|whsec)_[0-9A-Za-z+/=]{8,}|\bBearer\s+[^\s"\\]+/gi;

/** A run of 7 to 15 digits that is not the value of a numeric field, part of an id or of a time. */
const NUMBER = /(?<!":|[0-9A-Za-z._-])\+?([1-9]\d{6,14})(?![0-9A-Za-z_]|-[0-9A-Za-z]|\.\d)/g;

/** Removes credentials and masks phone numbers in one line of log. */
export function scrub(line: string): string {
  return line
    .replace(SECRET, '[redacted]')
    .replace(NUMBER, (_, digits: string) => maskPhoneNumber(digits));
}
