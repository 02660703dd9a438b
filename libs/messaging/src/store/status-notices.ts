import type { StatusChange } from './status-change.js';

/** Waits for one batch to move. */
export class StatusWatch {
  #moved = false;
  #wake: (() => void) | undefined;

  constructor(readonly end: () => void) {}

  tell(): void {
    this.#moved = true;
    this.#wake?.();
  }

  /** Resolves when it has moved since the last call, or after `wait` milliseconds. */
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
 * Tells those in this process who wait for a batch that it moved, after the commit. Who waits looks
 * into the store now and then, too: another process may be the one that moves it.
 */
export class StatusNotices {
  readonly #watches = new Map<string, Set<StatusWatch>>();

  /** Nobody waits. */
  get empty(): boolean {
    return this.#watches.size === 0;
  }

  tell(changes: readonly StatusChange[]): void {
    if (this.#watches.size === 0) return;
    for (const { message } of changes)
      for (const watch of this.#watches.get(message.batch) ?? []) watch.tell();
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
