import { afterEach, expect, it } from '@jest/globals';
import type { Lease } from '../store/rows/lease.js';
import type { Lanes } from '../store/verbs/lanes.js';
import type { Clock } from '../ports/clock.js';
import { LeaseKeeper } from './lease-keeper.js';

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

let keeper: LeaseKeeper;
afterEach(() => keeper.stop());

function granted(clock: Clocks): LeaseKeeper {
  const lease = { lane: 'x', fence: 1 } as Lease;
  return new LeaseKeeper({} as Lanes, clock, lease, LEASE_TIME, LeaseKeeper.moment(clock));
}

it('a lease ends at two thirds of its time, by the faster of two clocks', () => {
  const clock = new Clocks();
  keeper = granted(clock);
  clock.pass(19_999);
  expect(keeper.valid).toBe(true);
  clock.wall++;
  expect(keeper.valid).toBe(false);
  keeper.extend(LeaseKeeper.moment(clock));
  clock.pass(19_999);
  expect(keeper.valid).toBe(true);
  clock.ticks++;
  expect(keeper.valid).toBe(false);
});

it('a machine that sleeps after its wall clock was set back wakes without its lease', () => {
  const clock = new Clocks();
  keeper = granted(clock);
  clock.wall -= HOUR;
  clock.pass(5_000);
  keeper.extend(LeaseKeeper.moment(clock));
  // The monotonic clock stands still meanwhile.
  clock.wall += LEASE_TIME;
  expect(keeper.valid).toBe(false);
});

it('a renewal answered late takes nothing back from a later one', () => {
  const clock = new Clocks();
  keeper = granted(clock);
  const earlier = LeaseKeeper.moment(clock);
  clock.pass(10_000);
  keeper.extend(LeaseKeeper.moment(clock));
  keeper.extend(earlier);
  clock.pass(19_999);
  expect(keeper.valid).toBe(true);
});
