/** Stop signal of the process for any number of lanes. An `AbortSignal` compares each new listener with all others. */
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

/**
 * Wakes one sleeper. The sleeper resumes after the event loop has read all pending input, so that requests that
 * follow the answers of one read start together.
 */
export class WakeSignal {
  #wake: (() => void) | undefined;

  wake(): void {
    this.#wake?.();
  }

  /** Resolves with false at the next {@link wake}, or with true after `ms`. */
  sleep(ms?: number): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (timedOut: boolean) => {
        this.#wake = undefined;
        clearTimeout(timer);
        resolve(timedOut);
      };
      const timer = ms === undefined ? undefined : setTimeout(end, ms, true);
      this.#wake = () => {
        this.#wake = undefined;
        clearTimeout(timer);
        setImmediate(resolve, false);
      };
    });
  }
}
