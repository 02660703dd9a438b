interface Waiting<T> {
  readonly item: T;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Whatever arrives while a flush is running goes into the next one: one item alone waits for nobody
 * and a crowd shares statements. No timer.
 */
export class NaturalBatch<T> {
  #waiting: Waiting<T>[] = [];
  #running = false;

  constructor(
    private readonly flush: (items: readonly T[]) => Promise<void>,
    private readonly max: number,
  ) {}

  /** Settles as the flush that took the item. */
  add(item: T): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (!this.#running) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#waiting.length > 0) {
      // What this turn of the event loop brings goes along: a driver that works synchronously
      // would otherwise be done with one item before the next is seen.
      await new Promise((resolve) => setImmediate(resolve));
      const group = this.#waiting.splice(0, this.max);
      try {
        await this.flush(group.map(({ item }) => item));
        for (const { resolve } of group) resolve();
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#running = false;
  }
}
