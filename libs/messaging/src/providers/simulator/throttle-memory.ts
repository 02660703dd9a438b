const CAPACITY = 10_000;

/**
 * Which messages were throttled once already. A throttled submission comes back under a new id and
 * without having used an attempt, so it is known by batch and recipient. The oldest are forgotten,
 * as is everything by a restart: then the message is throttled once more, and sent after that.
 */
export class ThrottleMemory {
  readonly #seen = new Set<string>();

  /** True the first time, false from then on. */
  isNew(message: string): boolean {
    if (this.#seen.has(message)) return false;
    this.#seen.add(message);
    if (this.#seen.size > CAPACITY) {
      const [oldest] = this.#seen;
      if (oldest !== undefined) this.#seen.delete(oldest);
    }
    return true;
  }
}
