import { isPhoneNumber, normalisePhoneNumber } from './phone-number.js';

/** Date, time and offset, as in RFC 3339 or without the colon of the offset. */
const WITH_OFFSET = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:?\d{2})$/;
/** No SMSC existed before this time. */
const EARLIEST = Date.UTC(1990, 0, 1);
const DAY = 86_400_000;

/** The form of nearly every field; it needs no further check. */
const PLAIN = /^[\x20-\x7e]{1,255}$/;
const PLAIN_WORD = /^[\x21-\x7e](?:[\x20-\x7e]{0,62}[\x21-\x7e])?$/;

/** An own property of the parsed JSON; an inherited `__proto__` is excluded. */
export function own(data: object, name: string): unknown {
  return Object.hasOwn(data, name) ? (data as Record<string, unknown>)[name] : undefined;
}

/**
 * Identifiers are compared byte by byte, so they are never shortened; control characters and
 * unpaired surrogates are refused, because no database stores them.
 */
export function identifier(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  return PLAIN.test(value) || /^[^\p{Cc}\p{Cs}]{1,255}$/u.test(value) ? value : null;
}

/** A short text or number for people, shortened and cleaned for storage. */
export function word(value: unknown): string | null {
  if (typeof value === 'string' && PLAIN_WORD.test(value)) return value;
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const text = String(value)
    .slice(0, 256)
    .replace(/[\p{Cc}\p{Cs}]/gu, '')
    .trim()
    .slice(0, 64);
  return text === '' ? null : text;
}

/** Digits with country code, from a number in any format. */
export function recipientNumber(value: unknown): string | null {
  if (typeof value !== 'string' && !Number.isSafeInteger(value)) return null;
  const number = normalisePhoneNumber(String(value).slice(0, 64));
  return isPhoneNumber(number) ? number : null;
}

/** A date and time with its offset; `null` without an offset. */
export function moment(value: unknown): Date | null {
  if (typeof value !== 'string' || !WITH_OFFSET.test(value)) return null;
  const plain = value[10] === 'T' && value.endsWith('Z');
  const at = Date.parse(
    plain
      ? value
      : value
          .toUpperCase()
          .replace(' ', 'T')
          .replace(/(\d{2})(\d{2})$/, '$1:$2'),
  );
  return Number.isNaN(at) ? null : new Date(at);
}

/** `null` for a time before 1990, more than a day after `now`, or invalid. */
export function plausible(time: Date | null, now: number): Date | null {
  const at = time?.getTime() ?? Number.NaN;
  return at >= EARLIEST && at <= now + DAY ? time : null;
}
