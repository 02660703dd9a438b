import { Logger } from '@nestjs/common';
import type { DispatchEngine } from '../ports/dispatch-engine.js';
import { LaneDrain, type LeaseContext, type OpenTask } from './lane-drain.js';
import { StopSignal } from './signals.js';

/** Lanes named in the log line about lanes that did not end in time. */
const NAMED = 10;

/** The kinds of lanes that are drained: messages, or an application's own queue. */
export interface LaneSource {
  /** What to do with the lane once its lease is taken. Throws before the lease is asked for. */
  lane(lane: string): OpenTask;
}

/** Gives the engine its drain: at most one run of each lane in this process. */
export class Dispatcher {
  readonly #logger = new Logger('Dispatch');
  readonly #running = new Map<string, LaneDrain>();
  readonly #stopping = new WeakMap<AbortSignal, StopSignal>();

  constructor(
    private readonly engine: DispatchEngine,
    private readonly context: LeaseContext,
    private readonly source: LaneSource,
  ) {}

  start(): Promise<void> {
    return this.engine.start((lane, signal) => this.drain(lane, signal));
  }

  stop(): Promise<void> {
    return this.engine.stop();
  }

  /** What has not ended yet, for logs. */
  get underWay(): string {
    const lanes = [...this.#running].map(([lane, { underWay }]) => `lane ${lane} (${underWay})`);
    const more = lanes.length > NAMED ? [`${lanes.length - NAMED} lanes more`] : [];
    return ['the dispatch engine', ...lanes.slice(0, NAMED), ...more].join(', ');
  }

  /** Work was committed. A drain of the lane in this process looks again, without the engine. */
  wake(lane: string, at?: number): void {
    const nudged = this.#running.get(lane)?.nudge() ?? false;
    if (nudged && at === undefined) return;
    // The work is committed: where the engine fails, the wake job finds it.
    void (async () => this.engine.wake(lane, at))().catch((error: unknown) =>
      this.#logger.warn(`${lane}: not woken: ${(error as Error).name}`),
    );
  }

  async drain(lane: string, signal: AbortSignal): Promise<number | undefined> {
    if (this.#running.has(lane)) return undefined;
    const open = this.source.lane(lane);
    const drain = new LaneDrain(this.context, lane, this.#stopOf(signal), open);
    this.#running.set(lane, drain);
    try {
      return await drain.run();
    } finally {
      this.#running.delete(lane);
    }
  }

  #stopOf(signal: AbortSignal): StopSignal {
    const known = this.#stopping.get(signal);
    if (known) return known;
    const stop = new StopSignal(signal);
    this.#stopping.set(signal, stop);
    return stop;
  }
}
