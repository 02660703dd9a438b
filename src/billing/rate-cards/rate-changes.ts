import { setImmediate as turn } from 'node:timers/promises';
import type { Rate } from './rate-table.js';

/** What a version changes of another one; each list is in the order of its rates. */
export interface RateChanges {
  readonly added: readonly Rate[];
  readonly removed: readonly Rate[];
  /** Rates with another price, or other blocks. */
  readonly changed: readonly { readonly before: Rate; readonly after: Rate }[];
  /** Number of the others. */
  readonly same: number;
}

/** Rates after which other work has a turn of the event loop. */
const SLICE = 5_000;

/** Compares rates by their channel, prefix and category. */
export async function rateChanges(
  before: readonly Rate[],
  after: readonly Rate[],
): Promise<RateChanges> {
  const left = new Map<string, Rate>();
  for (const [n, rate] of before.entries()) {
    if (n % SLICE === SLICE - 1) await turn();
    left.set(keyOf(rate), rate);
  }
  const added: Rate[] = [];
  const changed: { before: Rate; after: Rate }[] = [];
  let same = 0;
  for (const [n, rate] of after.entries()) {
    if (n % SLICE === SLICE - 1) await turn();
    const former = left.get(keyOf(rate));
    left.delete(keyOf(rate));
    if (!former) added.push(rate);
    else if (former.amount === rate.amount && former.billing === rate.billing) same++;
    else changed.push({ before: former, after: rate });
  }
  return { added, removed: [...left.values()], changed, same };
}

function keyOf({ channel, prefix, category }: Rate): string {
  return `${channel} ${prefix} ${category ?? ''}`;
}
