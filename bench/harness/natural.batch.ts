/** The simplest natural batching: items that arrive during a flush go into the next. */
export class NaturalBatch<T> {
  #waiting: { item: T; resolve: () => void; reject: (error: unknown) => void }[] = [];
  #flushing = false;

  constructor(private readonly flush: (items: T[]) => Promise<void>) {}

  add(item: T): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (!this.#flushing) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#flushing = true;
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0);
      try {
        await this.flush(group.map(({ item }) => item));
        for (const { resolve } of group) resolve();
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#flushing = false;
  }
}
