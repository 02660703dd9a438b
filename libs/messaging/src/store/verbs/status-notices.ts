import type { StatusChange } from '../rows/status.js';

/** Waits for status changes of one batch. */
export class StatusWatch {
  #moved = false;
  #wake: (() => void) | undefined;

  constructor(readonly end: () => void) {}

  notify(): void {
    this.#moved = true;
    this.#wake?.();
  }

  /** Resolves after a status change since the last call, or after `wait` milliseconds. */
  async moved(wait: number): Promise<void> {
    if (!this.#moved)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, wait);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    this.#wake = undefined;
    this.#moved = false;
  }
}

/**
 * Wakes callers in this process that wait for a batch, after the commit. It does not see commits of
 * other processes, so callers poll the store as well.
 */
export class StatusNotices {
  readonly #watches = new Map<string, Set<StatusWatch>>();

  get empty(): boolean {
    return this.#watches.size === 0;
  }

  wake(changes: readonly StatusChange[]): void {
    if (this.#watches.size === 0) return;
    for (const { message } of changes)
      for (const watch of this.#watches.get(message.batch) ?? []) watch.notify();
  }

  watch(batch: string): StatusWatch {
    const watches = this.#watches.get(batch) ?? new Set();
    const watch = new StatusWatch(() => {
      watches.delete(watch);
      if (watches.size === 0 && this.#watches.get(batch) === watches) this.#watches.delete(batch);
    });
    this.#watches.set(batch, watches.add(watch));
    return watch;
  }
}
