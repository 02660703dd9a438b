const RFC3339 =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/;

export const TIMESTAMP_RULE =
  'must be an RFC 3339 time with an offset or Z, such as 2026-01-31T09:00:00+01:00';

/** Times the store can hold exactly, in microseconds, on every database. */
const LATEST = Date.UTC(2200, 0, 1);

/**
 * An RFC 3339 time; `undefined` for anything else: a time zone is never guessed, nor a date corrected.
 * The store begins in 1970: what was before counts as its beginning, such as the year 1 that some
 * languages write for no time at all.
 */
export function parseTimestamp(value: unknown): Date | undefined {
  if (typeof value !== 'string') return undefined;
  const [, year, month, day, hour, minute, second] = RFC3339.exec(value)?.map(Number) ?? [];
  if (year === undefined || month === undefined || day === undefined) return undefined;
  if (day < 1 || day > new Date(Date.UTC(year, month, 0)).getUTCDate()) return undefined;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const time = Date.parse(value.replace(/[t ]/, 'T').replace('z', 'Z'));
  return time < LATEST ? new Date(Math.max(0, time)) : undefined;
}
