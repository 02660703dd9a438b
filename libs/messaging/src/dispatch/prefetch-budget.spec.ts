import { describe, expect, it } from '@jest/globals';
import { PrefetchBudget } from './prefetch-budget.js';

/** Lanes that take what they get until none may take more; what each has ready. */
function fill(budget: PrefetchBudget, lanes: number, wanted: number): number[] {
  const ready = Array.from({ length: lanes }, () => 0);
  for (let took = true; took;) {
    took = false;
    for (let lane = 0; lane < lanes; lane++) {
      const size = budget.share(wanted, ready[lane] as number);
      budget.hold(size);
      ready[lane] = (ready[lane] as number) + size;
      took ||= size > 0;
    }
  }
  return ready;
}

describe('PrefetchBudget', () => {
  it('leaves a lane alone all it wants, a slice ahead', () => {
    const budget = new PrefetchBudget();
    expect(fill(budget, 1, 4_000)).toEqual([8_000]);
    expect(budget.share(4_000, 4_000)).toBe(4_000);
    expect(budget.share(4_000, 4_001)).toBe(0);
  });

  it('bounds what any number of lanes have, and leaves none without', () => {
    for (const lanes of [1, 2, 10, 100, 1_000])
      for (const wanted of [1, 2, 16, 64, 4_000]) {
        const budget = new PrefetchBudget(1_000, 16);
        const ready = fill(budget, lanes, wanted);
        expect(Math.min(...ready)).toBeGreaterThan(0);
        expect(budget.held).toBeLessThanOrEqual(1_000 + 16 * lanes);
      }
  });

  it('has something for whoever comes after those that want everything', () => {
    const budget = new PrefetchBudget(1_000, 16);
    budget.hold(budget.share(4_000, 0));
    expect(budget.share(4_000, 0)).toBeGreaterThan(16);
  });

  it('gives a lane its least where others have all, however little it wants', () => {
    const budget = new PrefetchBudget(1_000, 16);
    budget.hold(5_000);
    expect(budget.share(64, 0)).toBe(16);
    expect(budget.share(64, 1)).toBe(0);
    expect(budget.share(3, 0)).toBe(3);
    budget.release(5_000);
    expect(budget.share(64, 1)).toBe(64);
  });
});
