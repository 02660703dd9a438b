const RFC3339 =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/;

export const TIMESTAMP_RULE =
  'must be an RFC 3339 time with an offset or Z, such as 2026-01-31T09:00:00+01:00';

/** Every database stores earlier times exactly, in microseconds. */
const LATEST = Date.UTC(2200, 0, 1);

/**
 * Parses an RFC 3339 time; `undefined` for other values, such as a time without an offset or a date
 * that does not exist. A time before 1970 becomes 1970: some languages write the year 1 for no
 * time.
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

/** A time that the request's rules have checked. @throws RangeError */
export function timeOf(checked: string): Date {
  const time = parseTimestamp(checked);
  if (!time) throw new RangeError('a time was not checked before');
  return time;
}
