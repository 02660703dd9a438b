import { SmppValueError } from './errors.js';

const QUARTER_HOUR = 900_000;
const SECOND = 1_000;
const DAY = 86_400_000;
/** Longest relative time without months and years. */
const MAX_RELATIVE = 31 * DAY + DAY - SECOND;

const PATTERN = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d)(\d\d)([+\-R])$/;

const pad = (value: number, digits = 2): string => String(value).padStart(digits, '0');

/**
 * A point in time as SMPP writes it, in UTC: `YYMMDDhhmmsst00+` (section 7.1.1).
 * @throws SmppValueError for a date outside 2000 to 2099
 * @example
 * formatAbsoluteTime(new Date('2026-11-24T09:00:00Z')); // '261124090000000+'
 */
export function formatAbsoluteTime(date: Date): string {
  const year = date.getUTCFullYear();
  if (!(year >= 2000 && year <= 2099))
    throw new SmppValueError('date', 'use a date from 2000 to 2099');
  const tenths = Math.floor(date.getUTCMilliseconds() / 100);
  return (
    pad(year - 2000) +
    pad(date.getUTCMonth() + 1) +
    pad(date.getUTCDate()) +
    pad(date.getUTCHours()) +
    pad(date.getUTCMinutes()) +
    pad(date.getUTCSeconds()) +
    `${tenths}00+`
  );
}

/**
 * A duration as SMPP writes it, in days to seconds: `0000DDhhmmss000R`. Parts of a second are rounded up.
 * @param milliseconds up to 31 days, 23:59:59
 * @throws SmppValueError for another duration
 * @example
 * formatRelativeTime(3_600_000); // '000000010000000R'
 */
export function formatRelativeTime(milliseconds: number): string {
  if (!(milliseconds >= 0 && milliseconds <= MAX_RELATIVE))
    throw new SmppValueError('milliseconds', 'use at most 31 days 23:59:59, or an absolute time');
  const seconds = Math.ceil(milliseconds / SECOND);
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor((seconds % 86_400) / 3_600);
  const minutes = Math.floor((seconds % 3_600) / 60);
  return `0000${pad(days)}${pad(hours)}${pad(minutes)}${pad(seconds % 60)}000R`;
}

/**
 * The point in time of an absolute or a relative time of SMPP; `undefined` for an empty or wrong one.
 * @param now the start of a relative time @default the present
 */
export function parseSmppTime(text: string, now = new Date()): Date | undefined {
  const match = PATTERN.exec(text);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second, tenth, quarters] = match
    .slice(1, 9)
    .map(Number) as [number, number, number, number, number, number, number, number];
  if (match[9] === 'R') {
    const date = new Date(now);
    date.setUTCFullYear(date.getUTCFullYear() + year, date.getUTCMonth() + month);
    return new Date(
      date.getTime() + day * DAY + ((hour * 60 + minute) * 60 + second) * SECOND + tenth * 100,
    );
  }
  if (quarters > 48) return undefined;
  const wall = utc({ year: 2000 + year, month, day, hour, minute, second });
  const offset = quarters * QUARTER_HOUR * (match[9] === '+' ? 1 : -1);
  return wall === undefined ? undefined : new Date(wall + tenth * 100 - offset);
}

/**
 * A date of a delivery receipt, `YYMMDDhhmm`, with seconds or with four digits of the year, in the
 * SMSC's time zone; `undefined` for another text. Twelve digits have two of the year where that is a date.
 * @param timeZone of the SMSC, an IANA name @default 'UTC'
 * @throws RangeError for an unknown time zone
 * @example
 * parseReceiptDate('2611240900', 'Africa/Lagos'); // 2026-11-24T08:00:00.000Z
 */
export function parseReceiptDate(text: string, timeZone = 'UTC'): Date | undefined {
  const digits = text.replaceAll(/(?<=\d)[-/:T ](?=\d)/g, '');
  const wall = wallOf(digits) ?? (digits.startsWith('20') ? wallOf(digits.slice(2)) : undefined);
  if (wall === undefined) return undefined;
  if (timeZone === 'UTC') return new Date(wall);
  // The offset at the time itself; the second look matters within hours of a change of clocks.
  const near = wall - offsetOf(timeZone, wall);
  return new Date(wall - offsetOf(timeZone, near));
}

/** The time of `YYMMDDhhmm` or `YYMMDDhhmmss` as if in UTC. */
function wallOf(digits: string): number | undefined {
  const match = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?$/.exec(digits);
  if (!match) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1)
    .map((part) => Number(part ?? 0));
  return utc({ year: 2000 + year, month, day, hour, minute, second });
}

interface WallTime {
  readonly year: number;
  /** From 1. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

/** `undefined` for a date that the calendar does not have. */
function utc({ year, month, day, hour, minute, second }: WallTime): number | undefined {
  const time = Date.UTC(year, month - 1, day, hour, minute, second);
  const date = new Date(time);
  const isReal =
    date.getUTCMonth() === month - 1 &&
    date.getUTCDate() === day &&
    date.getUTCHours() === hour &&
    date.getUTCMinutes() === minute &&
    date.getUTCSeconds() === second;
  return isReal ? time : undefined;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Milliseconds by which the wall clock of the zone is ahead of UTC. */
function offsetOf(timeZone: string, time: number): number {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(timeZone, format);
  }
  const parts = Object.fromEntries(
    format.formatToParts(time).map(({ type, value }) => [type, Number(value)]),
  );
  const { year, month, day, hour, minute, second } = parts as Record<string, number>;
  const wall = Date.UTC(
    year as number,
    (month as number) - 1,
    day as number,
    hour as number,
    minute as number,
    second as number,
  );
  return wall - Math.floor(time / SECOND) * SECOND;
}
