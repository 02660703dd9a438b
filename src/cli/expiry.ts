import { invalidFields } from '../http/api-error.js';
import { parseTimestamp } from '../http/rfc3339.js';

const UNITS = { h: 3_600_000, d: 86_400_000 } as const;

/** `90d` or `12h` from now, or an RFC 3339 time. @throws ApiError 422 */
export function readExpiry(written: string, now = Date.now()): Date {
  const [, count, unit] = /^(\d{1,5})([hd])$/.exec(written) ?? [];
  const time = count
    ? new Date(now + Number(count) * UNITS[unit as 'h' | 'd'])
    : parseTimestamp(written);
  if (time) return time;
  throw invalidFields([
    { path: 'expires', message: 'must be a time such as 90d, 12h or 2027-01-31T00:00:00Z' },
  ]);
}
