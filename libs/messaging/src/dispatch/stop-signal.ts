/**
 * The process is stopping, for however many lanes listen: an `AbortSignal` compares each new listener
 * with all it has.
 */
export class StopSignal {
  readonly #listeners = new Set<() => void>();

  constructor(private readonly signal: AbortSignal) {
    signal.addEventListener('abort', () => {
      for (const listener of this.#listeners) listener();
    });
  }

  get aborted(): boolean {
    return this.signal.aborted;
  }

  add(listener: () => void): void {
    this.#listeners.add(listener);
  }

  remove(listener: () => void): void {
    this.#listeners.delete(listener);
  }
}
