import type { Percentiles } from '../../message/views.js';

/** Upper bounds of the classes of a histogram of times, in milliseconds; the last class has none. */
export const LATENCY_BOUNDS = [
  100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 900_000, 3_600_000,
  21_600_000,
] as const;

/** SQL: the class of a time in microseconds. */
export function latencyClass(time: string): string {
  const cases = LATENCY_BOUNDS.map((bound, n) => `WHEN ${time} <= ${bound * 1_000} THEN ${n}`);
  return `CASE ${cases.join(' ')} ELSE ${LATENCY_BOUNDS.length} END`;
}

/** The same of a number. */
export function latencyClassOf(microseconds: number): number {
  const found = LATENCY_BOUNDS.findIndex((bound) => microseconds <= bound * 1_000);
  return found === -1 ? LATENCY_BOUNDS.length : found;
}

/** Within a class the times count as spread evenly; above the last bound as that bound. */
export function percentilesOf(histogram: readonly number[]): Percentiles | null {
  const total = histogram.reduce((sum, count) => sum + count, 0);
  if (total <= 0) return null;
  const at = (share: number): number => {
    let left = total * share;
    for (const [n, count] of histogram.entries()) {
      const [from, to] = [LATENCY_BOUNDS[n - 1] ?? 0, LATENCY_BOUNDS[n]];
      if (to === undefined) return from;
      if (left <= count && count > 0) return Math.round(from + ((to - from) * left) / count);
      left -= count;
    }
    return LATENCY_BOUNDS[LATENCY_BOUNDS.length - 1] ?? 0;
  };
  return { p50: at(0.5), p95: at(0.95) };
}
