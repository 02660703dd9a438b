import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Clock } from '../ports/clock.js';
import type { ReservedSlots } from '../store/verbs/lanes.js';
import { ProviderRate } from './provider-state.js';

/** Milliseconds of virtual time, shared by clock and database. */
class VirtualTime implements Clock {
  at = 1_000;
  /** Milliseconds by which the database's clock is ahead. */
  ahead = 5_000_000;
  /** End of the reserved slots. */
  #until = 0;

  now(): number {
    return this.at;
  }

  monotonic(): number {
    return this.at;
  }

  id(): string {
    return 'id';
  }

  reserve = (_key: string, count: number, interval: number): Promise<ReservedSlots> => {
    const now = this.at + this.ahead;
    const first = Math.max(this.#until, now);
    this.#until = first + count * interval;
    return Promise.resolve({ first, now });
  };
}

const PER = 1_000;

/** Time for which the system stops a process between its look at the time and the request. */
const stop = fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, fc.integer({ min: 0, max: 60 }));

it('no window has more starts than the rate, however late and in whatever groups several processes start, and where the system stops the only one', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 2_000 }),
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.record({ process: fc.nat(), pause: fc.integer({ min: 0, max: 30 }), stop }), {
        minLength: 200,
        maxLength: 600,
      }),
      async (max, processes, steps) => {
        const time = new VirtualTime();
        const rates = Array.from(
          { length: processes },
          () => new ProviderRate({ reserve: time.reserve }, time, 'provider x', max, PER),
        );
        const starts: number[] = [];
        for (const { process, pause, stop: stopped } of steps) {
          time.at += pause;
          const rate = rates[process % processes] as ProviderRate;
          const n = rate.share(1 + (process % 50));
          for (let tries = 0; tries < 50; tries++) {
            const wait = rate.delay(n, time.at);
            if (wait === 0) {
              // The slots of other processes stay where they are.
              if (processes === 1) time.at += stopped;
              rate.start(n, time.at);
              for (let i = 0; i < n; i++) starts.push(time.at);
              break;
            }
            await Promise.resolve();
            time.at += Math.min(wait, 5);
          }
        }
        const over = starts.filter(
          (start, first) => (starts[first + max] ?? Infinity) - start < PER,
        );
        expect(over).toEqual([]);
      },
    ),
    { numRuns: 100 },
  );
});

it('steady demand uses nearly all of the rate', async () => {
  const time = new VirtualTime();
  const rate = new ProviderRate({ reserve: time.reserve }, time, 'provider x', 500, PER);
  let started = 0;
  for (const end = time.at + 20_000; time.at < end;) {
    const wait = rate.delay(1, time.at);
    if (wait === 0) {
      rate.start(1, time.at);
      started++;
    } else {
      await Promise.resolve();
      time.at += Math.max(1, wait);
    }
  }
  expect(started / 20).toBeGreaterThan(500 * 0.9);
});

it('no window has more starts than the rate where the database takes long for a call, before or after it reads its clock', async () => {
  const latency = fc.oneof(
    { weight: 9, arbitrary: fc.constant(0) },
    fc.integer({ min: 0, max: 90 }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(latency, latency), { minLength: 20, maxLength: 40 }),
      async (latencies) => {
        const time = new VirtualTime();
        const events: { readonly at: number; readonly run: () => void }[] = [];
        const after = (ms: number) =>
          new Promise<void>((run) => void events.push({ at: time.at + ms, run }));
        let calls = 0;
        const reserve: VirtualTime['reserve'] = async (...asked) => {
          const [before, answer] = latencies[calls++ % latencies.length] ?? [0, 0];
          await after(before);
          const slots = await time.reserve(...asked);
          await after(answer);
          return slots;
        };
        const rate = new ProviderRate({ reserve }, time, 'provider x', 40, PER);
        const starts: number[] = [];
        for (const end = time.at + 5_000; time.at < end; time.at++) {
          for (const { at, run } of events.splice(0))
            if (at <= time.at) run();
            else events.push({ at, run });
          // The answer passes through several promises.
          await new Promise(setImmediate);
          if (rate.delay(1, time.at) > 0) continue;
          rate.start(1, time.at);
          starts.push(time.at);
        }
        expect(starts.length).toBeGreaterThan(50);
        const over = starts.filter((start, n) => (starts[n + 40] ?? Infinity) - start < PER);
        expect(over).toEqual([]);
      },
    ),
    { numRuns: 20 },
  );
});

it.each([20, 40, 60, 80])(
  'no window has more starts than the rate where the first call of a process takes %i ms',
  async (slow) => {
    const time = new VirtualTime();
    let calls = 0;
    const slowFirst: VirtualTime['reserve'] = (...asked) => {
      // The statement waits for its connection before the database reads its clock.
      if (calls++ === 0) time.at += slow;
      return time.reserve(...asked);
    };
    const rates = [time.reserve, slowFirst].map(
      (reserve) => new ProviderRate({ reserve }, time, 'provider x', 20, PER),
    );
    const starts: number[] = [];
    for (const end = time.at + 10_000; time.at < end; time.at++) {
      await Promise.resolve();
      for (const [index, rate] of rates.entries()) {
        // The second process has work when the first one has sent for a while.
        if (index === 1 && starts.length < 30) continue;
        if (rate.delay(1, time.at) > 0) continue;
        rate.start(1, time.at);
        starts.push(time.at);
      }
    }
    expect(starts.length).toBeGreaterThan(100);
    const over = starts.filter((start, n) => (starts[n + 20] ?? Infinity) - start < PER);
    expect(over).toEqual([]);
  },
);

it('starts go on at once after the clock of the database was set forward', async () => {
  const time = new VirtualTime();
  const rate = new ProviderRate({ reserve: time.reserve }, time, 'provider x', 40, PER);
  const startsIn = async (ms: number): Promise<number> => {
    let starts = 0;
    for (const end = time.at + ms; time.at < end; time.at++) {
      await Promise.resolve();
      if (rate.delay(1, time.at) > 0) continue;
      rate.start(1, time.at);
      starts++;
    }
    return starts;
  };
  expect(await startsIn(2_000)).toBeGreaterThan(70);
  time.ahead += 60_000;
  expect(await startsIn(2_000)).toBeGreaterThan(70);
});
