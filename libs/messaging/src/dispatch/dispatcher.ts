import { Logger } from '@nestjs/common';
import type { DispatchEngine } from '../ports/dispatch-engine.js';
import { LeasedLane, type LeaseContext } from './leased-lane.js';

/** Time after `shutdownTimeout` in which outcomes are still recorded, in milliseconds. */
const RECORD_TIMEOUT = 1_000;

const MAX_LANES_LOGGED = 10;

/** The work of a lane under one lease. */
export interface LaneTask {
  /** For logs. */
  readonly underWay: string;
  /** Announces that new work may be due, or that the process stops. */
  nudge(): void;
  /**
   * Starts all due work. Resolves when nothing is due, the lease is lost or the process stops.
   * @throws LaneLostError where another process has the lane
   */
  pump(): Promise<void>;
  /**
   * Starts no more work. Resolves once the outcomes of all started requests are recorded.
   * @default they are when `pump()` has resolved
   */
  settle?(): Promise<void>;
  /** Aborts the requests in flight. A stopping process calls it after `shutdownTimeout`. */
  abort(): void;
  /**
   * State to store with the lane when it is released; not called for a lost lane.
   * @default none
   */
  leave?(): Promise<{ readonly rateState: string | null; readonly unanswered: boolean }>;
  /** Milliseconds until the lane has work again; `Infinity` where the time is not known. */
  nextDueIn(): Promise<number>;
}

/**
 * Prepares a lane; the result starts its task. `undefined`: the lane is held, or this process may not
 * send. Throws before the drain asks for the lease.
 */
export type PrepareLane = (lane: string) => ((leased: LeasedLane) => LaneTask) | undefined;

interface RunningDrain {
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
  readonly #stopping = { aborted: false, over: false };

  constructor(
    private readonly engine: DispatchEngine,
    private readonly context: LeaseContext,
    private readonly prepare: PrepareLane,
  ) {}

  start(): Promise<void> {
    return this.engine.start((lane) => this.drain(lane));
  }

  /**
   * ```
   * aborted: no request starts ─shutdownTimeout─▶ requests are aborted ─1 s─▶ over: outcomes are given up
   * ```
   */
  stop(): Promise<void> {
    const { shutdownTimeout } = this.context;
    this.#stopping.aborted = true;
    this.#eachTask((task) => task.nudge());
    setTimeout(() => this.#eachTask((task) => task.abort()), shutdownTimeout).unref();
    setTimeout(() => (this.#stopping.over = true), shutdownTimeout + RECORD_TIMEOUT).unref();
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
    if (running?.planning && !this.#stopping.aborted) {
      running.task?.nudge();
      if (at === undefined) return;
    }
    // The work is committed, so the wake job finds it where the engine fails.
    void (async () => this.engine.wake(lane, at))().catch((error: unknown) =>
      this.#logger.warn(`${lane}: not woken: ${(error as Error).name}`),
    );
  }

  /** @returns due time of the next run in epoch milliseconds, where it is known */
  async drain(lane: string): Promise<number | undefined> {
    if (this.#running.has(lane)) return undefined;
    const start = this.prepare(lane);
    if (!start) return undefined;
    const running: RunningDrain = { planning: false };
    this.#running.set(lane, running);
    try {
      const leased = await LeasedLane.take(lane, this.context, this.#stopping);
      return leased && (await this.#run(leased, start(leased), running));
    } finally {
      this.#running.delete(lane);
    }
  }

  async #run(
    leased: LeasedLane,
    task: LaneTask,
    running: RunningDrain,
  ): Promise<number | undefined> {
    const { lanes, clock } = this.context;
    const { lane, fence } = leased.lease;
    Object.assign(running, { task, planning: true });
    await task.pump().catch((error: unknown) => leased.fail(error));
    await task.settle?.();
    leased.stop();
    if (!leased.lost) {
      const { rateState = null, unanswered = false } = (await task.leave?.()) ?? {};
      await lanes.release(lane, fence, rateState, unanswered);
    }
    running.planning = false;
    if (leased.failure) throw leased.failure;
    if (this.#stopping.aborted) return undefined;
    const wait = Math.max(0, await task.nextDueIn());
    return Number.isFinite(wait) ? clock.now() + wait : undefined;
  }

  #eachTask(call: (task: LaneTask) => void): void {
    for (const { task } of this.#running.values()) if (task) call(task);
  }
}
