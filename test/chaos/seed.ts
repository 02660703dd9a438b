import { randomInt } from 'node:crypto';

/**
 * The chances of one run. They are printed, and `CHAOS_SEED` replays them; what the processes make of
 * them is up to the machine's scheduler.
 */
export class Seed {
  #state: number;

  constructor(readonly value = Number(process.env['CHAOS_SEED'] ?? randomInt(2 ** 31))) {
    this.#state = value;
  }

  /** A whole number from `low` up to, but not including, `high` (mulberry32). */
  below(high: number, low = 0): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return low + (((t ^ (t >>> 14)) >>> 0) % (high - low));
  }
}
