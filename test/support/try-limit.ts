/** Milliseconds before the second try, and the most between two later ones. */
const FIRST = 10;
const MOST = 60;
/** Largest time that one try counts, so that a stalled machine uses up one try only. */
const TRY = 150;

/** Limit of repeated tries. */
export class TryLimit {
  #left: number;
  #moment = FIRST;
  #since = performance.now();

  /** @param limit milliseconds, without the time of the tries */
  constructor(limit: number) {
    this.#left = limit;
  }

  /** Waits a moment; false when no try is left. */
  async isLeft(): Promise<boolean> {
    await new Promise((resolve) => setTimeout(resolve, this.#moment));
    this.#moment = Math.min(MOST, this.#moment * 1.3);
    const now = performance.now();
    this.#left -= Math.min(TRY, now - this.#since);
    this.#since = now;
    return this.#left > 0;
  }
}
