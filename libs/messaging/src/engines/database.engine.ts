import { setMaxListeners } from 'node:events';
import { Logger } from '@nestjs/common';
import type { DispatchEngine, Drain } from '../ports/dispatch-engine.js';
import { LaneTimer } from './lane-timer.js';

/** Wait before the retry of a lane whose run failed, in milliseconds. */
export const RETRY_DELAY = 1_000;

/** Most lanes remembered before the start, because a process may never start. */
const MAX_EARLY_LANES = 10_000;

/**
 * The embedded engine, without a broker. A wake starts a run of the lane in this process; during a
 * run, it requests one more. The wake job finds work of other processes and of a crash.
 */
export class DatabaseEngine implements DispatchEngine {
  readonly #logger = new Logger(DatabaseEngine.name);
  readonly #running = new Map<string, Promise<void>>();
  readonly #pending = new Set<string>();
  readonly #later = new LaneTimer((lane) => this.wake(lane));
  readonly #abort = new AbortController();
  #drain: Drain | undefined;

  constructor() {
    // Each running lane adds one listener, so the warning about a listener leak does not apply.
    setMaxListeners(0, this.#abort.signal);
  }

  async start(drain: Drain): Promise<void> {
    this.#drain = drain;
    for (const lane of this.#pending) this.#run(lane, drain);
    this.#pending.clear();
  }

  wake(lane: string, at?: number): void {
    if (this.#abort.signal.aborted) return;
    if (at !== undefined && at > Date.now()) this.#later.set(lane, at);
    else if (this.#drain && !this.#running.has(lane)) this.#run(lane, this.#drain);
    else if (this.#drain || this.#pending.size < MAX_EARLY_LANES) this.#pending.add(lane);
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    this.#later.stop();
    await Promise.all(this.#running.values());
  }

  #run(lane: string, drain: Drain): void {
    const { signal } = this.#abort;
    const run = drain(lane, signal)
      .catch((error: unknown) => {
        logFailure(this.#logger, lane, error);
        return Date.now() + RETRY_DELAY;
      })
      .then((next) => {
        this.#running.delete(lane);
        if (signal.aborted) return;
        if (this.#pending.delete(lane)) this.#run(lane, drain);
        else if (next !== undefined) this.wake(lane, next);
      });
    this.#running.set(lane, run);
  }
}

export function logFailure(logger: Logger, lane: string, error: unknown): void {
  const { name, message } = error as Error;
  logger.error(`Lane ${lane} failed: ${name}: ${message}`);
}
