import { setTimeout as wait } from 'node:timers/promises';

/** Milliseconds between two works. */
const PAUSE = 5;

/**
 * Begins works one after the other, with a pause between two. The event loop accepts one connection a turn:
 * where each of a thousand that arrive at once read the database in its turn, all others would wait for them.
 */
export class Paced {
  #last: Promise<void> = Promise.resolve();

  async run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last;
    this.#last = turn.then(() => wait(PAUSE));
    await turn;
    return work();
  }
}
