import { digitsOf, isPhoneNumber } from './phone-number.js';

/** Date, time and offset, as in RFC 3339 or without the colon of the offset. */
const WITH_OFFSET = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:?\d{2})$/;
/** No SMSC existed before this time. */
const EARLIEST = Date.UTC(1990, 0, 1);
const DAY = 86_400_000;

/** An own property of parsed JSON, where it is an object; an inherited `__proto__` is excluded. */
export function own(data: unknown, name: string): unknown {
  if (typeof data !== 'object' || data === null || !Object.hasOwn(data, name)) return undefined;
  return (data as Record<string, unknown>)[name];
}

/**
 * Identifiers are compared byte by byte, so they are never shortened; control characters and
 * unpaired surrogates are refused, because no database stores them.
 */
export function identifier(value: unknown): string | null {
  return typeof value === 'string' && /^[^\p{Cc}\p{Cs}]{1,255}$/u.test(value) ? value : null;
}

/** A short text or number for people, shortened and cleaned for storage. */
export function word(value: unknown): string | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const text = String(value)
    .slice(0, 256)
    .replace(/[\p{Cc}\p{Cs}]/gu, '')
    .trim()
    .slice(0, 64);
  return text === '' ? null : text;
}

/** A provider's code of an error; `null` where it is none: SMSCs write `000` for success. */
export function errorCode(value: unknown): string | null {
  const code = word(value);
  return code !== null && /^0+$/.test(code) ? null : code;
}

/** Digits with country code, from a number in any format; a trunk zero stays, as it was sent to. */
export function recipientNumber(value: unknown): string | null {
  if (typeof value !== 'string' && !Number.isSafeInteger(value)) return null;
  const digits = digitsOf(String(value).slice(0, 64));
  return isPhoneNumber(digits) ? digits : null;
}

/** A date and time with its offset; `null` without an offset. */
export function moment(value: unknown): Date | null {
  if (typeof value !== 'string' || !WITH_OFFSET.test(value)) return null;
  const withColon = value.replace(/(\d{2})(\d{2})$/, '$1:$2');
  const at = Date.parse(withColon.toUpperCase().replace(' ', 'T'));
  return Number.isNaN(at) ? null : new Date(at);
}

/** `null` for a time before 1990, more than a day after `now`, or invalid. */
export function plausible(time: Date | null, now: number): Date | null {
  const at = time?.getTime() ?? Number.NaN;
  return at >= EARLIEST && at <= now + DAY ? time : null;
}
