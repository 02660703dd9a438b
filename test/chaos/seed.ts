import { randomInt } from 'node:crypto';
import { chances, seedOf } from './processes/chance.js';

/**
 * The random numbers of one run: sends, victims, moments, and how long the upstream
 * takes over each request, and the jitter of the processes. `CHAOS_SEED` replays all of that, for one
 * test alone, too. It cannot replay the machine's scheduler: which statement of two processes comes
 * first is as free as ever, so a failure that needs a narrow meeting may take several replays.
 */
export class Seed {
  #next: () => number;

  constructor(readonly value = Number(process.env['CHAOS_SEED'] ?? randomInt(2 ** 31))) {
    this.#next = chances(value);
  }

  /** From here on random numbers depend on `name` and not on earlier draws. */
  begin(name: string): void {
    this.#next = chances(seedOf(this.value, name));
  }

  /** A whole number from 0 up to, but not including, `high`. */
  below(high: number): number {
    return Math.floor(this.#next() * high);
  }
}
