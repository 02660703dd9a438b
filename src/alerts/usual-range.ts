import type { DeliveredCount } from '@dundun/messaging/operations';

/** Fewest days from which a usual range is known. */
const LEAST_DAYS = 3;

export interface UsualRange {
  /** Middle of the days' shares, 0 to 1. */
  readonly usual: number;
  /** A share below it is unusual. */
  readonly lowest: number;
}

/**
 * The middle of the days, and below it the larger of `drop` and three times the middle distance of the days from it:
 * one bad day widens the range of no other.
 * @param days those with fewer messages than `minimum` do not count
 * @param drop 0 to 1
 * @returns `undefined` where fewer than three days count
 */
export function usualRange(
  days: readonly DeliveredCount[],
  { minimum, drop }: { readonly minimum: number; readonly drop: number },
): UsualRange | undefined {
  const shares = days
    .filter(({ messages }) => messages >= minimum)
    .map(({ delivered, messages }) => delivered / messages);
  if (shares.length < LEAST_DAYS) return undefined;
  const usual = middleOf(shares);
  const spread = middleOf(shares.map((share) => Math.abs(share - usual)));
  return { usual, lowest: usual - Math.max(drop, 3 * spread) };
}

function middleOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  const upper = sorted[half] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? 0) + upper) / 2;
}
