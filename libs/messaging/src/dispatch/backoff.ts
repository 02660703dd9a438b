/** Longest wait between tries, in milliseconds. */
const CEILING = 600_000;

/** Exponential with full jitter: between nothing and `base · 2^(tries-1)`, but never less than a tenth of it. */
export function backoff(base: number, tries: number, random: () => number = Math.random): number {
  const most = Math.min(CEILING, base * 2 ** Math.min(30, tries - 1));
  return most / 10 + random() * (most - most / 10);
}
