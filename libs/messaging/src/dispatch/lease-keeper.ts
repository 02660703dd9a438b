import { Logger } from '@nestjs/common';
import type { Lease } from '../store/rows/lease.js';
import type { Lanes } from '../store/verbs/lanes.js';
import type { Clock } from '../ports/clock.js';

/**
 * Renews the lease, and tells without a query whether this process still holds the lane. The lease counts from
 * *before* the query that granted or renewed it, by the faster of two clocks: a suspended machine stops the monotonic
 * clock. The holder stops at two thirds of the lease; the next holder may start after the whole lease.
 */
export class LeaseKeeper {
  readonly #logger = new Logger('Lease');
  #monotonicEnd = 0;
  #wallEnd = 0;
  #lost = false;
  #renewing = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly lanes: Lanes,
    private readonly clock: Clock,
    private readonly lease: Lease,
    /** Length of the lease in milliseconds. */
    private readonly leaseTime: number,
    grantedAt: LeaseMoment,
  ) {
    this.extend(grantedAt);
    this.#timer = setInterval(() => void this.#renew(), leaseTime / 4);
    this.#timer.unref();
  }

  /** Start time for {@link extend}, taken before the query that renews the lease. */
  static moment(clock: Clock): LeaseMoment {
    return { monotonic: clock.monotonic(), wall: clock.now() };
  }

  get valid(): boolean {
    return (
      !this.#lost && this.clock.monotonic() < this.#monotonicEnd && this.clock.now() < this.#wallEnd
    );
  }

  get lost(): boolean {
    return this.#lost;
  }

  extend({ monotonic, wall }: LeaseMoment): void {
    const span = (this.leaseTime * 2) / 3;
    // The database may answer renewals out of order. The wall clock may have been set back, so its latest value
    // counts.
    if (monotonic + span < this.#monotonicEnd) return;
    this.#monotonicEnd = monotonic + span;
    this.#wallEnd = wall + span;
  }

  lose(): void {
    this.#lost = true;
    this.stop();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Also renews an expired lease, unless the fence shows that another process took the lane. */
  async #renew(): Promise<void> {
    // Renewals that wait for the lane's row must not take up all connections.
    if (this.#renewing) return;
    this.#renewing = true;
    const moment = LeaseKeeper.moment(this.clock);
    try {
      if (await this.lanes.renew(this.lease.lane, this.lease.fence)) this.extend(moment);
      else this.lose();
    } catch (error) {
      this.#logger.warn(`Lane ${this.lease.lane}: lease not renewed: ${(error as Error).name}`);
    } finally {
      this.#renewing = false;
    }
  }
}

export interface LeaseMoment {
  readonly monotonic: number;
  readonly wall: number;
}
