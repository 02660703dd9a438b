import { Logger } from '@nestjs/common';
import type { Lease } from '../store/rows/lease.js';
import type { Lanes } from '../store/verbs/lanes.js';
import type { Clock } from '../ports/clock.js';

/**
 * Tells without a query whether this process still holds the lane, and renews the lease. The lease counts
 * from *before* the query that granted or renewed it, by the faster of two clocks (a frozen machine stops
 * the monotonic one), and ends here at two thirds; the next holder may begin at three thirds.
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
    /** Milliseconds. */
    private readonly leaseTime: number,
    grantedAt: LeaseMoment,
  ) {
    this.extend(grantedAt);
    this.#timer = setInterval(() => void this.#renew(), leaseTime / 4);
    this.#timer.unref();
  }

  /** The moment for {@link extend}, taken before the query that renews. */
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
    // Renewals may be answered out of order. The wall clock may have been set back, so its last value counts.
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

  /** Renews an expired lease, too, as long as no other process took the lane: the fence tells. */
  async #renew(): Promise<void> {
    // Renewals that wait for the lane's row must not pile up until no connection is left.
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
