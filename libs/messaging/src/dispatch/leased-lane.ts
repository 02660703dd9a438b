import { Logger } from '@nestjs/common';
import type { Clock } from '../ports/clock.js';
import type { Lease } from '../store/rows/lease.js';
import { LaneLostError } from '../store/verbs/intents.js';
import type { Lanes } from '../store/verbs/lanes.js';
import { type LaneStop, WakeSignal } from './lane-task.js';

/** Durations in milliseconds. */
export interface LeaseContext {
  readonly lanes: Lanes;
  readonly clock: Clock;
  readonly leaseTime: number;
  readonly shutdownTimeout: number;
}

/**
 * One lease of one lane, shared by its drain and its task; it renews itself. It counts from
 * *before* the query that granted or renewed it, by the faster of two clocks: a suspended machine
 * stops the monotonic clock. The holder stops at two thirds of it; the next may start after all of
 * it.
 */
export class LeasedLane {
  readonly lane: string;
  /** Wakes the task's pump: a stop fires it, and the task when its state changes. */
  readonly changed = new WakeSignal();
  readonly #logger = new Logger('Lease');
  #failure: Error | undefined;
  #monotonicEnd = 0;
  #wallEnd = 0;
  #lost = false;
  #renewing = false;
  readonly #timer: NodeJS.Timeout;

  private constructor(
    readonly lease: Lease,
    private readonly context: Pick<LeaseContext, 'lanes' | 'clock' | 'leaseTime'>,
    readonly stopping: Pick<LaneStop, 'aborted' | 'over'>,
  ) {
    this.lane = lease.lane;
    this.#timer = setInterval(() => void this.#renew(), context.leaseTime / 4);
    this.#timer.unref();
  }

  /** @returns `undefined` while another process holds the lane */
  static async take(
    lane: string,
    context: LeasedLane['context'],
    stopping: LeasedLane['stopping'],
  ): Promise<LeasedLane | undefined> {
    const { clock } = context;
    const [monotonic, wall] = [clock.monotonic(), clock.now()];
    const lease = await context.lanes.acquire(lane);
    if (!lease) return undefined;
    const leased = new LeasedLane(lease, context, stopping);
    leased.#extend(monotonic, wall);
    return leased;
  }

  get valid(): boolean {
    const { clock } = this.context;
    return !this.#lost && clock.monotonic() < this.#monotonicEnd && clock.now() < this.#wallEnd;
  }

  /** True once another process holds the lane. */
  get lost(): boolean {
    return this.#lost;
  }

  /** Error that ended the run early. The drain releases the lane, then throws it. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Ends the run early. */
  fail(error: unknown): void {
    if (error instanceof LaneLostError) this.#lost = true;
    else this.#failure ??= error instanceof Error ? error : new Error(String(error));
  }

  /** Runs a statement that renews the lease. */
  async renewing<T>(statement: () => Promise<T>): Promise<T> {
    const { clock } = this.context;
    const [monotonic, wall] = [clock.monotonic(), clock.now()];
    const result = await statement();
    this.#extend(monotonic, wall);
    return result;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #extend(monotonic: number, wall: number): void {
    const span = (this.context.leaseTime * 2) / 3;
    // The database may answer renewals out of order; the wall clock may have been set back.
    if (monotonic + span < this.#monotonicEnd) return;
    this.#monotonicEnd = monotonic + span;
    this.#wallEnd = wall + span;
  }

  /** Also renews an expired lease, unless the fence shows that another process took the lane. */
  async #renew(): Promise<void> {
    // Renewals that wait for the lane's row must not take up all connections.
    if (this.#renewing || this.#lost) return;
    this.#renewing = true;
    const { lane, fence } = this.lease;
    try {
      await this.renewing(async () => {
        if (!(await this.context.lanes.renew(lane, fence))) throw new LaneLostError(lane);
      });
    } catch (error) {
      if (error instanceof LaneLostError) this.#lost = true;
      else this.#logger.warn(`Lane ${lane}: lease not renewed: ${(error as Error).name}`);
    } finally {
      this.#renewing = false;
    }
  }
}
