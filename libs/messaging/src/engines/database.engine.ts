import { Logger } from '@nestjs/common';
import type { DispatchEngine, Drain } from '../ports/dispatch-engine.js';
import { LaneTimer } from './lane-timer.js';

/** Wait before the retry of a lane whose drain failed, in milliseconds. */
const RETRY_DELAY = 1_000;

/** Most lanes remembered before the start, because a process may never start. */
const MAX_EARLY_LANES = 10_000;

/**
 * The embedded engine, without a broker. A wake starts a drain of the lane in this process; during
 * a drain, it requests one more. The wake job finds work of other processes and of a crash.
 */
export class DatabaseEngine implements DispatchEngine {
  readonly name = 'database';
  readonly #logger = new Logger(DatabaseEngine.name);
  readonly #running = new Map<string, Promise<void>>();
  readonly #pending = new Set<string>();
  readonly #later = new LaneTimer((lane, at) => this.wake(lane, at));
  readonly #wakeAt: (lane: string, at: number) => void;
  #drain: Drain | undefined;
  #stopped = false;

  /** @param wakeAt wakes a lane at the due time that its drain returned. @default by this engine */
  constructor(wakeAt?: (lane: string, at: number) => void) {
    this.#wakeAt = wakeAt ?? ((lane, at) => this.wake(lane, at));
  }

  async start(drain: Drain): Promise<void> {
    this.#drain = drain;
    for (const lane of this.#pending) this.#run(lane, drain);
    this.#pending.clear();
  }

  wake(lane: string, at?: number): void {
    if (this.#stopped) return;
    if (at !== undefined && at > Date.now()) this.#later.set(lane, at);
    else if (this.#drain && !this.#running.has(lane)) this.#run(lane, this.#drain);
    else if (this.#drain || this.#pending.size < MAX_EARLY_LANES) this.#pending.add(lane);
  }

  /** Drains the lane, after a running drain of it. Resolves when no drain of it runs any more. */
  async run(lane: string): Promise<void> {
    this.wake(lane);
    while (this.#running.has(lane)) await this.#running.get(lane);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#later.stop();
    await Promise.all(this.#running.values());
  }

  #run(lane: string, drain: Drain): void {
    const run = drain(lane)
      .catch(({ name, message }: Error) => {
        this.#logger.error(`Lane ${lane} failed: ${name}: ${message}`);
        // If the failed drain could not release the lane, no other process can take it yet.
        this.wake(lane, Date.now() + RETRY_DELAY);
        return undefined;
      })
      .then((next) => {
        this.#running.delete(lane);
        if (this.#stopped) return;
        if (this.#pending.delete(lane)) this.#run(lane, drain);
        else if (next !== undefined) this.#wakeAt(lane, next);
      });
    this.#running.set(lane, run);
  }
}
