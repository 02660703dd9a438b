import { afterEach, expect, it } from '@jest/globals';
import type { Lanes } from '../store/verbs/lanes.js';
import type { Clock } from '../ports/clock.js';
import { LeasedLane } from './leased-lane.js';

const LEASE_TIME = 30_000;
const HOUR = 3_600_000;

/** Two clocks that the test sets. */
class Clocks implements Clock {
  wall = 1_800_000_000_000;
  ticks = 0;

  now = () => this.wall;
  monotonic = () => this.ticks;
  id = () => '';

  pass(milliseconds: number): void {
    this.wall += milliseconds;
    this.ticks += milliseconds;
  }
}

let leased: LeasedLane;
afterEach(() => leased.stop());

async function taken(clock: Clocks): Promise<LeasedLane> {
  const lanes = { acquire: async () => ({ lane: 'x', fence: 1 }) } as unknown as Lanes;
  const context = { lanes, clock, leaseTime: LEASE_TIME };
  return (await LeasedLane.take('x', context, { aborted: false, over: false })) as LeasedLane;
}

it('a lease ends at two thirds of its time, by the faster of two clocks', async () => {
  const clock = new Clocks();
  leased = await taken(clock);
  clock.pass(19_999);
  expect(leased.valid).toBe(true);
  clock.wall++;
  expect(leased.valid).toBe(false);
  await leased.renewing(async () => undefined);
  clock.pass(19_999);
  expect(leased.valid).toBe(true);
  clock.ticks++;
  expect(leased.valid).toBe(false);
});

it('a machine that sleeps after its wall clock was set back wakes without its lease', async () => {
  const clock = new Clocks();
  leased = await taken(clock);
  clock.wall -= HOUR;
  clock.pass(5_000);
  await leased.renewing(async () => undefined);
  // The monotonic clock stands still meanwhile.
  clock.wall += LEASE_TIME;
  expect(leased.valid).toBe(false);
});

it('a late answer to a renewal does not shorten a later renewal', async () => {
  const clock = new Clocks();
  leased = await taken(clock);
  let answer = (): void => undefined;
  const earlier = leased.renewing(() => new Promise<void>((resolve) => (answer = resolve)));
  clock.pass(10_000);
  await leased.renewing(async () => undefined);
  answer();
  await earlier;
  clock.pass(19_999);
  expect(leased.valid).toBe(true);
});
