import type { WebhookOptions } from './webhook-options.js';

type Rules = Pick<WebhookOptions, 'schedule' | 'maxRetryAfter'>;

/**
 * When a failed delivery is tried again: after the schedule's wait and up to a tenth more, so that
 * what failed together does not come back together; later where the receiver asked for it.
 *
 * @param attempts made so far, at least 1
 * @param retryAfter the receiver's wish in milliseconds
 * @returns epoch milliseconds; `null`: the schedule is used up
 */
export function nextAttemptAt(
  now: number,
  attempts: number,
  retryAfter: number | null,
  { schedule, maxRetryAfter }: Rules,
  random: () => number = Math.random,
): number | null {
  const wait = schedule[attempts - 1];
  if (wait === undefined) return null;
  const jittered = wait * (1 + random() / 10);
  return Math.round(now + Math.max(jittered, Math.min(retryAfter ?? 0, maxRetryAfter)));
}

/**
 * `Retry-After` in milliseconds from `now`: seconds or an HTTP date (RFC 9110, 10.2.3); `null` where
 * there is none to understand.
 */
export function retryAfterMs(header: string | string[] | undefined, now: number): number | null {
  const value = (Array.isArray(header) ? header[0] : header)?.trim();
  if (!value) return null;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  const date = /^[A-Z][a-z]+,? .*GMT$/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
