import { describe, expect, it } from '@jest/globals';
import { backoff, scheduledWait } from './backoff.js';

const zero = () => 0;

describe('backoff', () => {
  it('doubles its upper bound with each try, up to ten minutes', () => {
    expect([1, 2, 3, 40].map((tries) => backoff(1_000, tries, () => 1))).toEqual([
      1_000, 2_000, 4_000, 600_000,
    ]);
  });

  it('is never less than a tenth of its upper bound', () => {
    expect(backoff(1_000, 1, zero)).toBe(100);
  });
});

describe('scheduledWait', () => {
  const schedule = [5_000, 300_000];

  it('gives the waits of the schedule, then none', () => {
    expect([1, 2, 3].map((tries) => scheduledWait(schedule, tries, 0, zero))).toEqual([
      5_000,
      300_000,
      undefined,
    ]);
  });

  it('adds up to a tenth, and is never shorter than the schedule', () => {
    expect(scheduledWait(schedule, 1, 0, () => 0.999)).toBeCloseTo(5_499.5);
    for (let n = 0; n < 100; n++) {
      const wait = scheduledWait(schedule, 2);
      expect(wait).toBeGreaterThanOrEqual(300_000);
      expect(wait).toBeLessThanOrEqual(330_000);
    }
  });

  it('waits longer where the receiver asks for it, but not after the last try', () => {
    expect(scheduledWait(schedule, 1, 60_000, zero)).toBe(60_000);
    expect(scheduledWait(schedule, 1, 1_000, zero)).toBe(5_000);
    expect(scheduledWait(schedule, 3, 60_000, zero)).toBeUndefined();
  });
});
