import { setTimeout } from 'node:timers/promises';
import type { StatusChange } from '../rows/status.js';

export class StatusWatch {
  #move = new AbortController();

  constructor(readonly end: () => void) {}

  notify(): void {
    this.#move.abort();
  }

  /** Resolves after a status change since the last call, or after `wait` milliseconds. */
  async moved(wait: number): Promise<void> {
    const { signal } = this.#move;
    await setTimeout(wait, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) this.#move = new AbortController();
  }
}

/** Wakes callers in this process, after the commit; for other processes, callers poll the store. */
export class StatusNotices {
  readonly #watches = new Map<string, Set<StatusWatch>>();

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
