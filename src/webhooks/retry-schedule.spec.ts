import { describe, expect, it } from '@jest/globals';
import { nextAttemptAt, retryAfterMs } from './retry-schedule.js';
import { RETRY_SCHEDULE } from './webhook-options.js';

const rules = { schedule: RETRY_SCHEDULE, maxRetryAfter: 86_400_000 };
const now = Date.UTC(2026, 0, 31, 9);

describe('retry schedule', () => {
  it('is 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h, then used up', () => {
    const waits = Array.from({ length: 10 }, (_, n) =>
      nextAttemptAt(now, n + 1, null, rules, () => 0),
    );
    expect(waits.map((at) => at && (at - now) / 1_000)).toEqual([
      5,
      300,
      1_800,
      7_200,
      18_000,
      36_000,
      50_400,
      72_000,
      86_400,
      null,
    ]);
  });

  it('adds up to a tenth, never less than the schedule', () => {
    expect(nextAttemptAt(now, 1, null, rules, () => 0.999)).toBe(now + 5_500);
    for (let n = 0; n < 100; n++) {
      const wait = (nextAttemptAt(now, 2, null, rules) ?? 0) - now;
      expect(wait).toBeGreaterThanOrEqual(300_000);
      expect(wait).toBeLessThanOrEqual(330_000);
    }
  });

  it('waits longer where the receiver asks, within bounds', () => {
    const zero = () => 0;
    expect(nextAttemptAt(now, 1, 60_000, rules, zero)).toBe(now + 60_000);
    expect(nextAttemptAt(now, 1, 1_000, rules, zero)).toBe(now + 5_000);
    expect(nextAttemptAt(now, 1, 999_999_999_000, rules, zero)).toBe(now + 86_400_000);
    expect(nextAttemptAt(now, 10, 60_000, rules, zero)).toBeNull();
  });
});

describe('Retry-After', () => {
  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['Sat, 31 Jan 2026 09:02:00 GMT', 120_000],
    ['Sat, 31 Jan 2026 08:00:00 GMT', 0],
    ['soon', null],
    ['-5', null],
    ['1.5', null],
    ['99999999999999', null],
    ['', null],
    [undefined, null],
  ])('%p is %p ms', (header, expected) => {
    expect(retryAfterMs(header, now)).toBe(expected);
  });
});
