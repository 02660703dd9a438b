/** Milliseconds between two tries. */
const MOMENT = 20;
/** What a try counts for at most: a machine that stands still or crawls takes none away. */
const TRY = 100;

/** How long somebody goes on trying. */
export class Patience {
  #left: number;
  #since = performance.now();

  /** @param limit milliseconds, where tries take none to speak of */
  constructor(limit: number) {
    this.#left = limit;
  }

  /** A moment later: is there any left for another try? */
  async isLeft(): Promise<boolean> {
    await new Promise((resolve) => setTimeout(resolve, MOMENT));
    const now = performance.now();
    this.#left -= Math.min(TRY, now - this.#since);
    this.#since = now;
    return this.#left > 0;
  }
}
