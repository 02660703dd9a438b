/** Longest wait between two tries, in milliseconds. */
const CEILING = 600_000;

/**
 * Exponential backoff with jitter: a random wait between a tenth and the whole of `base · 2^(tries-1)`, at most ten
 * minutes.
 */
export function backoff(base: number, tries: number, random: () => number = Math.random): number {
  const most = Math.min(CEILING, base * 2 ** Math.min(30, tries - 1));
  return most / 10 + random() * (most - most / 10);
}

/**
 * Wait before the next try on a fixed schedule: the scheduled wait plus up to a tenth of it, so that tries that
 * failed together are not repeated together.
 *
 * @param schedule milliseconds before the second try, the third, …
 * @param tries number of tries made so far, at least 1
 * @param retryAfter wait that the receiver asked for, in milliseconds: the result is not shorter
 * @returns milliseconds; `undefined` once the schedule is used up
 */
export function scheduledWait(
  schedule: readonly number[],
  tries: number,
  retryAfter = 0,
  random: () => number = Math.random,
): number | undefined {
  const wait = schedule[tries - 1];
  return wait === undefined ? undefined : Math.max(wait * (1 + random() / 10), retryAfter);
}
