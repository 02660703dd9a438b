import { Logger } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';

const RETRY = 500;
const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * Passes reports, or inbound messages, to a sink when due, and again until the sink has them: none
 * is lost while the process lives. Concurrent calls let the sink share commits.
 */
export class DelayedSink<T> {
  readonly #logger = new Logger(DelayedSink.name);
  readonly #stop = new AbortController();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #calls = new Set<Promise<void>>();

  constructor(private readonly sink: (items: readonly T[]) => Promise<void>) {}

  /** Passes `items` on after `delay` milliseconds. */
  later(items: readonly T[], delay: number): void {
    if (this.#stop.signal.aborted) return;
    const pass = () => {
      this.#timers.delete(timer);
      void this.now(items);
    };
    const timer = setTimeout(pass, Math.min(delay, LONGEST_TIMER));
    this.#timers.add(timer);
  }

  /** Resolves when the sink has the items, or the sink is stopped, or before a try if `givenUp`. */
  async now(items: readonly T[], givenUp?: AbortSignal): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted && !givenUp?.aborted) {
      const call = this.sink(items);
      this.#calls.add(call);
      try {
        return await call;
      } catch {
        this.#logger.warn(`${items.length} reports were not taken; again in ${RETRY} ms`);
        await pause(RETRY, undefined, { signal }).catch(() => undefined);
      } finally {
        this.#calls.delete(call);
      }
    }
  }

  /** Drops reports that are not due or not yet taken, which a poll finds, and waits for running calls. */
  async stop(): Promise<void> {
    this.#stop.abort();
    for (const timer of this.#timers) clearTimeout(timer);
    await Promise.allSettled(this.#calls);
  }
}
