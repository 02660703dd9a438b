import { maskPhoneNumber } from '@dundun/messaging';

/** Credentials by their shape, wherever they turn up. */
const SECRET = /\b(?:tok|svk|whsec)_[0-9A-Za-z+/=]{8,}|\bBearer\s+[^\s"\\]+/gi;

/** A run of 7 to 15 digits that is not the value of a numeric field, part of an id or of a time. */
const NUMBER = /(?<!":|[0-9A-Za-z._-])\+?([1-9]\d{6,14})(?![0-9A-Za-z_]|-[0-9A-Za-z]|\.\d)/g;

/** Takes credentials and whole phone numbers out of one line of log, whoever wrote them in. */
export function scrub(line: string): string {
  return line
    .replace(SECRET, '[redacted]')
    .replace(NUMBER, (_, digits: string) => maskPhoneNumber(digits));
}
