import { setMaxListeners } from 'node:events';
import { Logger } from '@nestjs/common';
import type { DispatchEngine, Drain } from '../ports/dispatch-engine.js';

/** Wait before the retry of a lane whose run failed, in milliseconds. */
const RETRY_DELAY = 1_000;

/** Most lanes remembered before the start, so that a process that never starts does not collect them. */
const MAX_EARLY_LANES = 10_000;

/**
 * The embedded engine, without a broker. A wake starts a run of the lane in this process; during a run, it requests
 * one more. Wakes in the future share one timer. The wake job finds in the store the work that another process
 * accepted or that a crash left behind.
 */
export class DatabaseEngine implements DispatchEngine {
  readonly #logger = new Logger(DatabaseEngine.name);
  readonly #running = new Map<string, Promise<void>>();
  readonly #pending = new Set<string>();
  readonly #later = new Map<string, number>();
  readonly #abort = new AbortController();
  #drain: Drain | undefined;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Infinity;

  constructor() {
    // Each running lane adds one listener, so the warning about a listener leak does not apply.
    setMaxListeners(0, this.#abort.signal);
  }

  async start(drain: Drain): Promise<void> {
    this.#drain = drain;
    for (const lane of this.#pending) this.#run(lane);
    this.#pending.clear();
  }

  wake(lane: string, at?: number): void {
    if (this.#abort.signal.aborted) return;
    if (at !== undefined && at > Date.now()) this.#wakeLater(lane, at);
    else if (!this.#drain) this.#wakeEarly(lane);
    else if (this.#running.has(lane)) this.#pending.add(lane);
    else this.#run(lane);
  }

  #wakeEarly(lane: string): void {
    if (this.#pending.size < MAX_EARLY_LANES) this.#pending.add(lane);
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    clearTimeout(this.#timer);
    await Promise.all(this.#running.values());
  }

  #run(lane: string): void {
    const { signal } = this.#abort;
    const run = (this.#drain as Drain)(lane, signal)
      .catch((error: unknown) => {
        this.#logger.error(
          `Lane ${lane} failed: ${(error as Error).name}: ${(error as Error).message}`,
        );
        return Date.now() + RETRY_DELAY;
      })
      .then((next) => {
        this.#running.delete(lane);
        if (signal.aborted) return;
        if (this.#pending.delete(lane)) this.#run(lane);
        else if (next !== undefined) this.wake(lane, next);
      });
    this.#running.set(lane, run);
  }

  #wakeLater(lane: string, at: number): void {
    this.#later.set(lane, Math.min(at, this.#later.get(lane) ?? Infinity));
    this.#arm(at);
  }

  #arm(at: number): void {
    if (at >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(() => this.#onTimer(), Math.min(at - Date.now(), 2 ** 31 - 1));
  }

  #onTimer(): void {
    this.#timerAt = Infinity;
    const now = Date.now();
    let next = Infinity;
    for (const [lane, at] of this.#later)
      if (at <= now) {
        this.#later.delete(lane);
        this.wake(lane);
      } else next = Math.min(next, at);
    if (next < Infinity) this.#arm(next);
  }
}
