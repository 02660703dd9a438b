import { LaneLostError } from '../store/verbs/intents.js';
import type { Lease } from '../store/rows/lease.js';
import type { Lanes } from '../store/verbs/lanes.js';
import type { Clock } from '../ports/clock.js';
import { LeaseKeeper } from './lease-keeper.js';
import { type LaneStop, WakeSignal } from './signals.js';

/** Dependencies of every drain. Durations in milliseconds. */
export interface LeaseContext {
  readonly lanes: Lanes;
  readonly clock: Clock;
  readonly leaseTime: number;
  readonly shutdownTimeout: number;
}

/** One lease of one lane, shared by its drain and its task. */
export class LeasedLane {
  readonly lane: string;
  /** Wakes the task's pump. A stop fires it, and the task when its state changes. */
  readonly changed = new WakeSignal();
  #failure: Error | undefined;

  constructor(
    readonly lease: Lease,
    readonly keeper: LeaseKeeper,
    readonly stopping: Pick<LaneStop, 'aborted' | 'over'>,
  ) {
    this.lane = lease.lane;
  }

  /** Error that ended the run early. The drain releases the lane, then throws it. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Ends the run early. */
  fail(error: unknown): void {
    if (error instanceof LaneLostError) this.keeper.lose();
    else this.#failure ??= error instanceof Error ? error : new Error(String(error));
  }
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
    private readonly stopping: LaneStop,
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
    const { stopping } = this;
    const { lanes, clock, leaseTime } = this.context;
    const moment = LeaseKeeper.moment(clock);
    const lease = await lanes.acquire(this.lane);
    if (!lease) return undefined;
    const keeper = new LeaseKeeper(lanes, clock, lease, leaseTime, moment);
    const leased = new LeasedLane(lease, keeper, stopping);
    const task = this.open(leased);
    this.#task = task;
    this.#planning = true;
    const stoppable = { changed: leased.changed, abort: () => task.abort() };
    stopping.add(stoppable);
    await task.pump().catch((error: unknown) => leased.fail(error));
    await task.settle();
    stopping.remove(stoppable);
    keeper.stop();
    if (!keeper.lost) {
      const { rateState, open } = await task.leave();
      await lanes.release(lease.lane, lease.fence, rateState, open);
    }
    this.#planning = false;
    if (leased.failure) throw leased.failure;
    if (stopping.aborted) return undefined;
    const wait = Math.max(0, await task.nextDueIn());
    return Number.isFinite(wait) ? clock.now() + wait : undefined;
  }
}
