import { Logger } from '@nestjs/common';
import type { DispatchEngine } from '../ports/dispatch-engine.js';
import { LaneDrain, type LeaseContext, type OpenTask } from './lane-drain.js';
import { LaneStop } from './signals.js';

/** Most lanes named in the log line about lanes that did not stop in time. */
const MAX_LANES_LOGGED = 10;

/** The kinds of lanes that are drained: messages, or an application's own queue. */
export interface LaneSource {
  /** Returns the factory of the lane's task. Throws before the drain asks for the lease. */
  lane(lane: string): OpenTask;
}

/** Provides the drain function of the engine; drains each lane at most once at a time in this process. */
export class Dispatcher {
  readonly #logger = new Logger('Dispatch');
  readonly #running = new Map<string, LaneDrain>();
  readonly #stops = new WeakMap<AbortSignal, LaneStop>();

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

  /** The engine and the lanes whose drain has not ended, for logs. */
  get underWay(): string {
    const lanes = [...this.#running].map(([lane, { underWay }]) => `lane ${lane} (${underWay})`);
    const more =
      lanes.length > MAX_LANES_LOGGED ? [`${lanes.length - MAX_LANES_LOGGED} more lanes`] : [];
    return ['the dispatch engine', ...lanes.slice(0, MAX_LANES_LOGGED), ...more].join(', ');
  }

  /** Announces committed work. A running drain of the lane in this process plans again without the engine. */
  wake(lane: string, at?: number): void {
    const nudged = this.#running.get(lane)?.nudge() ?? false;
    if (nudged && at === undefined) return;
    // The work is committed, so the wake job finds it where the engine fails.
    void (async () => this.engine.wake(lane, at))().catch((error: unknown) =>
      this.#logger.warn(`${lane}: not woken: ${(error as Error).name}`),
    );
  }

  async drain(lane: string, signal: AbortSignal): Promise<number | undefined> {
    if (this.#running.has(lane)) return undefined;
    const open = this.source.lane(lane);
    const stop = this.#stops.get(signal) ?? new LaneStop(signal, this.context.shutdownTimeout);
    this.#stops.set(signal, stop);
    const drain = new LaneDrain(this.context, lane, stop, open);
    this.#running.set(lane, drain);
    try {
      return await drain.run();
    } finally {
      this.#running.delete(lane);
    }
  }
}
