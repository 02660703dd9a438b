import { LaneLostError } from '../store/verbs/intents.js';
import type { Lease } from '../store/rows/lease.js';
import type { Lanes } from '../store/verbs/lanes.js';
import type { Clock } from '../ports/clock.js';
import { LeaseKeeper } from './lease-keeper.js';
import { type StopSignal, WakeSignal } from './signals.js';

/** One lease of one lane, shared by its drain and its task. */
export interface LeasedLane {
  readonly lane: string;
  readonly lease: Lease;
  readonly keeper: LeaseKeeper;
  readonly stopping: StopSignal;
  /** Wakes the task's pump. The drain fires it when the process stops, the task when its state changes. */
  readonly changed: WakeSignal;
  /** Error that ended the run early. The drain releases the lane, then throws it. */
  failure: unknown;
}

/** The work of a lane under one lease. */
export interface LaneTask {
  /** In-flight counts, for logs. */
  readonly underWay: string;
  /** Announces that new work may be due. */
  nudge(): void;
  /**
   * Starts all due work. Resolves when nothing is due, the lease is lost or the process stops.
   * @throws LaneLostError where another process holds the lane
   */
  pump(): Promise<void>;
  /** Starts no more work. Resolves once the outcomes of all started requests are recorded. */
  settle(): Promise<void>;
  /** Aborts the requests in flight. A stopping process calls it after `shutdownTimeout`. */
  abort(): void;
  /** State to store with the lane when it is released; not called for a lost lane. */
  leave(): Promise<{ readonly rateState: string | null; readonly open: boolean }>;
  /** Milliseconds until the lane has work again; `Infinity` where the time is not known. */
  nextDueIn(): Promise<number>;
}

/** Opens the task of a lane once its lease is taken. */
export type OpenTask = (leased: LeasedLane) => LaneTask;

/** Dependencies of every drain. Durations in milliseconds. */
export interface LeaseContext {
  readonly lanes: Lanes;
  readonly clock: Clock;
  readonly leaseTime: number;
  readonly shutdownTimeout: number;
}

/**
 * Drains one lane, from lease to release:
 *
 * ```
 * acquire ─▶ pump ─▶ nothing due, lease lost or stop ─▶ settle ─▶ release ─▶ read the next due time
 * ```
 */
export class LaneDrain {
  #task: LaneTask | undefined;
  /** True while the drain still plans: it finds work that is committed by now. */
  #planning = false;

  constructor(
    private readonly context: LeaseContext,
    private readonly lane: string,
    private readonly stopping: StopSignal,
    private readonly open: OpenTask,
  ) {}

  /**
   * Announces that new work may be due.
   * @returns false where the drain may have made its last plan, or may not get the lane
   */
  nudge(): boolean {
    if (!this.#planning || this.stopping.aborted) return false;
    this.#task?.nudge();
    return true;
  }

  /** In-flight counts, for logs. */
  get underWay(): string {
    return this.#task?.underWay ?? 'waiting for its lease';
  }

  /** @returns due time of the next run in epoch milliseconds, where it is known */
  async run(): Promise<number | undefined> {
    const { lane, stopping, context } = this;
    const { lanes, clock, leaseTime } = context;
    const moment = LeaseKeeper.moment(clock);
    const lease = await lanes.acquire(lane);
    if (!lease) return undefined;
    const keeper = new LeaseKeeper(lanes, clock, lease, leaseTime, moment);
    const changed = new WakeSignal();
    const leased: LeasedLane = { lane, lease, keeper, stopping, changed, failure: undefined };
    const task = this.open(leased);
    this.#task = task;
    this.#planning = true;
    const wake = () => changed.wake();
    stopping.add(wake);
    try {
      await task.pump();
    } catch (error) {
      if (error instanceof LaneLostError) keeper.lose();
      else leased.failure = error;
    } finally {
      stopping.remove(wake);
    }
    await this.#settle(task);
    keeper.stop();
    if (!keeper.lost) {
      const { rateState, open } = await task.leave();
      await lanes.release(lane, lease.fence, rateState, open);
    }
    this.#planning = false;
    if (leased.failure !== undefined) throw asError(leased.failure);
    if (stopping.aborted) return undefined;
    const wait = Math.max(0, await task.nextDueIn());
    return Number.isFinite(wait) ? clock.now() + wait : undefined;
  }

  /** Waits for every request; a stopping process waits at most `shutdownTimeout`. */
  async #settle(task: LaneTask): Promise<void> {
    const { stopping, context } = this;
    let timer: NodeJS.Timeout | undefined;
    const arm = () => {
      timer = setTimeout(() => task.abort(), context.shutdownTimeout);
    };
    if (stopping.aborted) arm();
    else stopping.add(arm);
    try {
      await task.settle();
    } finally {
      stopping.remove(arm);
      clearTimeout(timer);
    }
  }
}

function asError(failure: unknown): Error {
  return failure instanceof Error ? failure : new Error(String(failure));
}
