import { Logger } from '@nestjs/common';
import type { Clock } from '../ports/clock.js';
import type { Lease } from '../store/rows/lease.js';
import { LaneLostError } from '../store/verbs/intents.js';
import type { Lanes } from '../store/verbs/lanes.js';

/** Durations in milliseconds. */
export interface LeaseContext {
  readonly lanes: Lanes;
  readonly clock: Clock;
  readonly leaseTime: number;
  readonly shutdownTimeout: number;
}

/** The stop of the process, as its lanes see it. */
export interface Stopping {
  /** No request starts any more. */
  readonly aborted: boolean;
  /** Outcomes that are not recorded yet are given up. */
  readonly over: boolean;
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
  /** True once another process has the lane. */
  lost = false;
  /** Error that ended the run early. The drain releases the lane, then throws it. */
  failure: Error | undefined;
  readonly #logger = new Logger('Lease');
  #monotonicEnd = 0;
  #wallEnd = 0;
  #renewing = false;
  readonly #timer: NodeJS.Timeout;

  private constructor(
    readonly lease: Lease,
    private readonly context: Pick<LeaseContext, 'lanes' | 'clock' | 'leaseTime'>,
    readonly stopping: Stopping,
  ) {
    this.lane = lease.lane;
    this.#timer = setInterval(() => void this.#renew(), context.leaseTime / 4);
    this.#timer.unref();
  }

  /** @returns `undefined` while another process has the lane */
  static async take(
    lane: string,
    context: LeasedLane['context'],
    stopping: Stopping,
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
    return !this.lost && clock.monotonic() < this.#monotonicEnd && clock.now() < this.#wallEnd;
  }

  /** Ends the run early. */
  fail(error: unknown): void {
    if (error instanceof LaneLostError) this.lost = true;
    else this.failure ??= error instanceof Error ? error : new Error(String(error));
  }

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
    if (this.#renewing || this.lost) return;
    this.#renewing = true;
    const { lane, fence } = this.lease;
    try {
      if (!(await this.renewing(() => this.context.lanes.renew(lane, fence)))) this.lost = true;
    } catch (error) {
      this.#logger.warn(`Lane ${lane}: lease not renewed: ${(error as Error).name}`);
    } finally {
      this.#renewing = false;
    }
  }
}

/**
 * Wakes one sleeper once the event loop has read all pending input, so that requests that follow
 * the answers of one read start together.
 */
export class WakeSignal {
  #wake: (() => void) | undefined;

  wake(): void {
    this.#wake?.();
  }

  /** Resolves with false at the next {@link wake}, or with true after `ms`. */
  sleep(ms?: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer =
        ms === undefined
          ? undefined
          : setTimeout(() => {
              this.#wake = undefined;
              resolve(true);
            }, ms);
      this.#wake = () => {
        this.#wake = undefined;
        clearTimeout(timer);
        setImmediate(resolve, false);
      };
    });
  }
}
