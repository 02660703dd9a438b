import { type Clock, systemClock } from '../ports/clock.js';

/** The clock of the machine plus the time by which tests have advanced it. */
export class TestClock implements Clock {
  #ahead = 0;

  now(): number {
    return systemClock.now() + this.#ahead;
  }

  monotonic(): number {
    return systemClock.monotonic() + this.#ahead;
  }

  id(): string {
    return systemClock.id();
  }

  /** Never goes back. */
  advanceTo(epoch: number): void {
    this.#ahead += Math.max(0, epoch - this.now());
  }
}
