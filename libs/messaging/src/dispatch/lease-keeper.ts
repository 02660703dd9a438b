import { Logger } from '@nestjs/common';
import type { Lease } from '../store/lane-leases.js';
import type { Lanes } from '../store/lanes.js';
import type { Clock } from '../ports/clock.js';

/**
 * Knows whether the lane is still ours, without asking. It counts from *before* the query that granted
 * or renewed the lease, by the worse of two clocks (a frozen machine stops one of them), and gives up
 * at two thirds; the next holder may begin at three thirds.
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

  /** The moment to hand to {@link extend}, taken before the query that renews. */
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
    // Renewals may be answered out of order. Of the wall clock the last one tells: it may have been set back.
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

  /** An expired lease that nobody took is renewed as well: the fence tells. */
  async #renew(): Promise<void> {
    // One that waits for the lane's row must not be joined there by the next, until no connection is left.
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
