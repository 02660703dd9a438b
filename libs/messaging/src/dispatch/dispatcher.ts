import { Logger } from '@nestjs/common';
import type { DispatchEngine } from '../ports/dispatch-engine.js';
import { LaneStop, type LaneTask } from './lane-task.js';
import { LeasedLane, type LeaseContext } from './leased-lane.js';

const MAX_LANES_LOGGED = 10;

export interface LaneSource {
  /** Throws before the drain asks for the lease. */
  lane(lane: string): (leased: LeasedLane) => LaneTask;
}

interface RunningDrain {
  readonly stopping: LaneStop;
  task?: LaneTask;
  /** The drain still plans, so it finds work that is committed by now. */
  planning: boolean;
}

/**
 * Drains lanes for the engine, each at most once at a time in this process:
 *
 * ```
 * acquire ─▶ pump ─▶ nothing due, lease lost or stop ─▶ settle ─▶ release ─▶ read the next due time
 * ```
 */
export class Dispatcher {
  readonly #logger = new Logger('Dispatch');
  readonly #running = new Map<string, RunningDrain>();
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

  get underWay(): string {
    const lanes = [...this.#running]
      .slice(0, MAX_LANES_LOGGED)
      .map(([lane, { task }]) => `lane ${lane} (${task?.underWay ?? 'waiting for its lease'})`);
    return `the dispatch engine and ${this.#running.size} lanes: ${lanes.join(', ')}`;
  }

  /** Announces committed work. A running drain plans again without the engine, if it still can. */
  wake(lane: string, at?: number): void {
    const running = this.#running.get(lane);
    if (running?.planning && !running.stopping.aborted) {
      running.task?.nudge();
      if (at === undefined) return;
    }
    // The work is committed, so the wake job finds it where the engine fails.
    void (async () => this.engine.wake(lane, at))().catch((error: unknown) =>
      this.#logger.warn(`${lane}: not woken: ${(error as Error).name}`),
    );
  }

  async drain(lane: string, signal: AbortSignal): Promise<number | undefined> {
    if (this.#running.has(lane)) return undefined;
    const open = this.source.lane(lane);
    const stopping = this.#stops.get(signal) ?? new LaneStop(signal, this.context.shutdownTimeout);
    this.#stops.set(signal, stopping);
    const running: RunningDrain = { stopping, planning: false };
    this.#running.set(lane, running);
    try {
      return await this.#run(lane, open, running);
    } finally {
      this.#running.delete(lane);
    }
  }

  /** @returns due time of the next run in epoch milliseconds, where it is known */
  async #run(
    lane: string,
    open: ReturnType<LaneSource['lane']>,
    running: RunningDrain,
  ): Promise<number | undefined> {
    const { stopping } = running;
    const { lanes, clock } = this.context;
    const leased = await LeasedLane.take(lane, this.context, stopping);
    if (!leased) return undefined;
    const task = open(leased);
    Object.assign(running, { task, planning: true });
    const stoppable = { changed: leased.changed, abort: () => task.abort() };
    stopping.add(stoppable);
    await task.pump().catch((error: unknown) => leased.fail(error));
    await task.settle();
    stopping.remove(stoppable);
    leased.stop();
    if (!leased.lost) {
      const { rateState, open: isOpen } = await task.leave();
      await lanes.release(lane, leased.lease.fence, rateState, isOpen);
    }
    running.planning = false;
    if (leased.failure) throw leased.failure;
    if (stopping.aborted) return undefined;
    const wait = Math.max(0, await task.nextDueIn());
    return Number.isFinite(wait) ? clock.now() + wait : undefined;
  }
}
