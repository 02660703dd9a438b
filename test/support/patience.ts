/** Milliseconds between two tries. */
const MOMENT = 20;
/** Largest time that one try counts, so that a stalled machine uses up one try only. */
const TRY = 100;

/** Limit of repeated tries. */
export class Patience {
  #left: number;
  #since = performance.now();

  /** @param limit milliseconds, where tries take none to speak of */
  constructor(limit: number) {
    this.#left = limit;
  }

  /** Waits a moment; false when no try is left. */
  async isLeft(): Promise<boolean> {
    await new Promise((resolve) => setTimeout(resolve, MOMENT));
    const now = performance.now();
    this.#left -= Math.min(TRY, now - this.#since);
    this.#since = now;
    return this.#left > 0;
  }
}
