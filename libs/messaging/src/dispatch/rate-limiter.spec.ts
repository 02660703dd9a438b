import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CountedStart, RateLimiter } from './rate-limiter.js';

/** Rounding error of sums, in milliseconds. */
const ROUNDING = 1e-6;

interface Started {
  readonly at: number;
  readonly n: number;
}

/** Most starts in any half-open window of `per` milliseconds. */
function fullestWindow(starts: readonly Started[], per: number): number {
  let most = 0;
  let inside = 0;
  for (let last = 0, first = 0; last < starts.length; last++) {
    inside += (starts[last] as Started).n;
    while ((starts[last] as Started).at - (starts[first] as Started).at >= per)
      inside -= (starts[first++] as Started).n;
    most = Math.max(most, inside);
  }
  return most;
}

/** One caller on a virtual clock: it asks, waits as long as the limiter says (and `late` on top), and starts. */
class Caller {
  readonly starts: Started[] = [];
  now = 0;

  constructor(public limiter: RateLimiter) {}

  start(wanted: number, late: number): void {
    const n = this.limiter.share(wanted);
    for (;;) {
      const wait = this.limiter.delay(n, this.now);
      if (wait <= 0) break;
      this.now += wait + late;
    }
    this.limiter.start(n, this.now);
    this.starts.push({ at: this.now, n });
  }
}

const limit = fc.record({
  max: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 20_000 })),
  per: fc.constantFrom(100, 1_000, 60_000),
});
const demand = fc.record({
  /** Milliseconds since the previous one. */
  after: fc.oneof(
    { weight: 6, arbitrary: fc.constant(0) },
    fc.double({ min: 0, max: 3_000, noNaN: true }),
  ),
  wanted: fc.integer({ min: 1, max: 3_000 }),
  /** Milliseconds by which the timer fires late. */
  late: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 250, noNaN: true })),
});
const demands = fc.array(demand, { minLength: 1, maxLength: 200 });

describe('a rate limiter', () => {
  it('no window has more than max starts for any demand and timers', () => {
    fc.assert(
      fc.property(limit, demands, ({ max, per }, asked) => {
        const caller = new Caller(new RateLimiter(max, per));
        for (const { after, wanted, late } of asked) {
          caller.now += after;
          caller.start(wanted, late);
        }
        expect(fullestWindow(caller.starts, per)).toBeLessThanOrEqual(max);
      }),
      { numRuns: 200 },
    );
  });

  it('no window has more than max writes, where the bytes of a start go to the socket up to 15 ms after it', () => {
    const step = fc.record({
      after: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 60 })),
      delay: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.integer({ min: 0, max: 15 })),
    });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.array(step, { minLength: 100, maxLength: 300 }),
        (max, steps) => {
          const limiter = new RateLimiter(max, 1_000);
          const pending: { at: number; start: CountedStart }[] = [];
          const writes: Started[] = [];
          let now = 0;
          const goTo = (time: number) => {
            now = time;
            for (const { at, start } of pending.splice(0).toSorted((a, b) => a.at - b.at))
              if (at > now) pending.push({ at, start });
              else {
                start.written(at);
                writes.push({ at, n: 1 });
              }
          };
          for (const { after, delay } of steps) {
            goTo(now + after);
            for (let wait = limiter.delay(1, now); wait > 0; wait = limiter.delay(1, now))
              goTo(now + wait);
            const start = new CountedStart(now);
            start.countIn(limiter, 1, now, true);
            pending.push({ at: now + delay, start });
            goTo(now);
          }
          goTo(now + 100);
          const inOrder = writes.toSorted((a, b) => a.at - b.at);
          expect(fullestWindow(inOrder, 1_000)).toBeLessThanOrEqual(max);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('the window is longer by the longest delay of the last seconds, and by 15 ms at most', () => {
    const limiter = new RateLimiter(1, 1_000);
    const delayed = (now: number, delay: number) => {
      const start = new CountedStart(now);
      start.countIn(limiter, 1, now, true);
      start.written(now + delay);
    };
    delayed(0, 7);
    expect(limiter.delay(1, 7)).toBeCloseTo(1_000 * 1.002 + 7, 1);
    delayed(2_000, 300);
    expect(limiter.delay(1, 2_300)).toBeCloseTo(1_000 * 1.002 + 15, 1);
    delayed(15_000, 0);
    delayed(30_000, 0);
    expect(limiter.delay(1, 30_000)).toBeLessThan(1_006);
  });

  it('the limiter keeps the ceiling when another process takes the lane over, after a stop or a crash', () => {
    fc.assert(
      fc.property(
        limit,
        fc.array(fc.record({ asked: demands, clean: fc.boolean(), gap: fc.nat(500) }), {
          minLength: 2,
          maxLength: 4,
        }),
        ({ max, per }, holders) => {
          const caller = new Caller(new RateLimiter(max, per));
          holders.forEach(({ asked, clean, gap }, index) => {
            if (index > 0) {
              const next = new RateLimiter(max, per);
              const state = caller.limiter.save(caller.now);
              caller.now += gap;
              if (clean) next.restore(state, caller.now);
              else next.blockUntil(caller.now + per + ROUNDING - gap);
              caller.limiter = next;
            }
            for (const { after, wanted, late } of asked) {
              caller.now += after;
              caller.start(wanted, late);
            }
          });
          expect(fullestWindow(caller.starts, per)).toBeLessThanOrEqual(max);
        },
      ),
      { numRuns: 100 },
    );
  });

  /** Messages that start together when a waiting caller comes `late`. */
  const burstAfter = (late: number): number => {
    const limiter = new RateLimiter(100, 1_000);
    while (limiter.delay(1, 0) <= 0) limiter.start(1, 0);
    const now = limiter.delay(1, 0) + late;
    let n = 0;
    for (; limiter.delay(1, now) <= 0; n++) limiter.start(1, now);
    return n;
  };

  it('the limiter catches up with at most half a second that a late timer held back', () => {
    expect(burstAfter(0)).toBe(1);
    expect(burstAfter(50)).toBeGreaterThanOrEqual(5);
    expect(burstAfter(400)).toBeGreaterThanOrEqual(40);
    expect(burstAfter(499)).toBeLessThanOrEqual(51);
    // A longer pause counts as idle time, which the limiter does not catch up with.
    expect(burstAfter(501)).toBeLessThanOrEqual(11);
    expect(burstAfter(60_000)).toBeLessThanOrEqual(11);
  });

  it('the limiter catches up with at most a tenth of a second of idle time, however long and often it idles', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 11, max: 5_000, noNaN: true }), { minLength: 1, maxLength: 100 }),
        (gaps) => {
          const limiter = new RateLimiter(100, 1_000);
          let now = 0;
          limiter.start(1, now);
          for (const gap of gaps) {
            now += gap;
            if (limiter.delay(1, now) <= 0) limiter.start(1, now);
          }
          let burst = 0;
          for (; limiter.delay(1, now) <= 0; burst++) limiter.start(1, now);
          expect(burst).toBeLessThanOrEqual(11);
        },
      ),
    );
  });

  it('the limiter spreads starts that a stall has bunched, a little in every window', () => {
    const limiter = new RateLimiter(100, 1_000);
    const caller = new Caller(limiter);
    for (let n = 0; n < 50; n++) caller.start(1, 0);
    caller.start(1, 80);
    const fullest = (windows: number): number => {
      const from = caller.starts.length;
      for (let n = 0; n < 100 * windows; n++) caller.start(1, 0);
      return fullestWindow(caller.starts.slice(from), 9);
    };
    expect(fullest(1)).toBeGreaterThan(4);
    fullest(60);
    expect(fullest(2)).toBeLessThanOrEqual(2);
  });

  it.each(['', '{', '17', 'null', '[[1]]', '[["a","b"]]', '[[-5,3]]', '[null]'])(
    'an unreadable limiter state (%s) counts as a full window',
    (state) => {
      const limiter = new RateLimiter(10, 1_000);
      limiter.restore(state, 5_000);
      const wait = limiter.delay(1, 5_000);
      expect(wait).toBeGreaterThanOrEqual(0);
      expect(wait).toBeLessThanOrEqual(1_010);
    },
  );

  it.each([
    [1, 1_000],
    [50, 1_000],
    [500, 1_000],
    [5_000, 1_000],
    [20_000, 1_000],
    [600, 60_000],
  ])('at least 99 %% of %i in %i ms is used under constant demand and 1 ms timers', (max, per) => {
    const caller = new Caller(new RateLimiter(max, per));
    const end = per * 20;
    while (caller.now < end) {
      const wait = caller.limiter.delay(1, caller.now);
      if (wait > 0) caller.now = Math.ceil(caller.now + wait);
      else {
        caller.limiter.start(1, caller.now);
        caller.starts.push({ at: caller.now, n: 1 });
      }
    }
    expect(fullestWindow(caller.starts, per)).toBeLessThanOrEqual(max);
    expect(caller.starts.length).toBeGreaterThanOrEqual(0.99 * max * (end / per));
  });
});

it('a holder that does not know the starts of a crashed one passes the full window on to the next holder', () => {
  const second = new RateLimiter(10, 1_000);
  second.blockUntil(1_000 + 1_000);
  const third = new RateLimiter(10, 1_000);
  third.restore(second.save(1_200), 1_200);
  expect(second.delay(1, 1_200)).toBeGreaterThanOrEqual(1_000 - 200);
  expect(third.delay(1, 1_200)).toBeGreaterThanOrEqual(1_000);
  // The third holder passes it on, too.
  const fourth = new RateLimiter(10, 1_000);
  fourth.restore(third.save(1_300), 1_300);
  expect(fourth.delay(1, 1_300)).toBeGreaterThanOrEqual(1_000);
});

it('a holder that has waited for the whole window passes on its own starts', () => {
  const second = new RateLimiter(2, 1_000);
  second.blockUntil(1_000);
  second.start(1, 1_500);
  const third = new RateLimiter(2, 1_000);
  third.restore(second.save(1_600), 1_600);
  expect(third.delay(2, 1_600)).toBeGreaterThanOrEqual(1_000 - 100);
  expect(third.delay(2, 1_500 + 1_000 * 1.1)).toBe(0);
});
