import { describe, expect, it } from '@jest/globals';
import { PrefetchBudget, SliceSize } from './prefetch-size.js';

/** Lanes that take what they get until none may take more; answers what each has prepared. */
function fill(budget: PrefetchBudget, lanes: number, wanted: number): number[] {
  const ready = Array.from({ length: lanes }, () => 0);
  for (let took = true; took;) {
    took = false;
    for (let lane = 0; lane < lanes; lane++) {
      const size = budget.share(wanted, ready[lane] as number);
      budget.reserve(size);
      ready[lane] = (ready[lane] as number) + size;
      took ||= size > 0;
    }
  }
  return ready;
}

describe('PrefetchBudget', () => {
  it('the budget gives a single lane all messages that it asks for, one slice ahead', () => {
    const budget = new PrefetchBudget();
    expect(fill(budget, 1, 4_000)).toEqual([8_000]);
    expect(budget.share(4_000, 4_000)).toBe(4_000);
    expect(budget.share(4_000, 4_001)).toBe(0);
  });

  it('the budget limits all lanes together, and leaves no lane without messages', () => {
    for (const lanes of [1, 2, 10, 100, 1_000])
      for (const wanted of [1, 2, 16, 64, 4_000]) {
        const budget = new PrefetchBudget(1_000, 16);
        const ready = fill(budget, lanes, wanted);
        expect(Math.min(...ready)).toBeGreaterThan(0);
        expect(budget.reserved).toBeLessThanOrEqual(1_000 + 16 * lanes);
      }
  });

  it('a lane cannot take the whole budget', () => {
    const budget = new PrefetchBudget(1_000, 16);
    budget.reserve(budget.share(4_000, 0));
    expect(budget.share(4_000, 0)).toBeGreaterThan(16);
  });

  it('the budget gives a lane the least share where other lanes have reserved the whole budget', () => {
    const budget = new PrefetchBudget(1_000, 16);
    budget.reserve(5_000);
    expect(budget.share(64, 0)).toBe(16);
    expect(budget.share(64, 1)).toBe(0);
    expect(budget.share(3, 0)).toBe(3);
    budget.reserve(-5_000);
    expect(budget.share(64, 1)).toBe(64);
  });
});

function unlimited(concurrency: number): SliceSize {
  return new SliceSize(() => undefined, concurrency);
}

/** The size after a lane kept a slice ahead and `perSecond` messages left a second. */
function after(seconds: number, perSecond: number, size: SliceSize): number {
  let ready = 0;
  for (let ms = 1; ms <= seconds * 1_000; ms++) {
    for (; ready <= size.messages; ready += size.messages) size.adapt(ms);
    const leaving = Math.min(ready, perSecond / 1_000);
    ready -= leaving;
    size.started(leaving);
  }
  return size.messages;
}

describe('SliceSize', () => {
  it('a slice has about the messages that leave in a quarter second', () => {
    for (const perSecond of [1_000, 4_000, 10_000]) {
      const size = after(5, perSecond, unlimited(10));
      expect(size).toBeGreaterThanOrEqual(perSecond / 8);
      expect(size).toBeLessThanOrEqual(perSecond / 2);
    }
  });

  it('a slice grows where all planned messages leave at once, also where two slices are planned before that', () => {
    const size = unlimited(10);
    for (let now = 10; now <= 200; now += 10) {
      const first = size.messages;
      size.adapt(now);
      size.started(first + size.messages);
      size.adapt(now);
    }
    expect(size.messages).toBe(4_000);
  });

  it('a slice shrinks with a slower provider', () => {
    const size = unlimited(10);
    expect(after(5, 10_000, size)).toBeGreaterThan(1_000);
    expect(after(60, 200, size)).toBeLessThanOrEqual(100);
  });

  it('a slice stays small where no message leaves, however often it is planned', () => {
    const size = unlimited(32);
    for (let n = 1; n <= 100; n++) {
      size.adapt(n * 2);
      expect(size.messages).toBeLessThanOrEqual(64);
    }
  });

  it('a slice has at least the concurrency, and at most 4,000 messages', () => {
    expect(after(5, 10, unlimited(100))).toBe(100);
    expect(after(5, 1_000_000, unlimited(100))).toBe(4_000);
  });
});
