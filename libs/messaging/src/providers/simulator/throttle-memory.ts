const CAPACITY = 10_000;

/**
 * Remembers which messages were throttled. A throttled submission returns with a new id and the same attempt count,
 * so batch and recipient identify it. The oldest entries are dropped, and a restart drops all of them. A message
 * without an entry is throttled once more and sent after that.
 */
export class ThrottleMemory {
  readonly #seen = new Set<string>();

  /** @returns true on the first call for a message, false afterwards */
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
