/** A lane's lease, as its holder sees it. Durations in milliseconds. */
export interface Lease {
  readonly lane: string;
  /** Incremented by each grant: submissions with a lower fence belong to a former holder. */
  readonly fence: number;
  /** The former holder released the lane without open submissions. */
  readonly clean: boolean;
  /** The former holder may have started requests until this long before the grant. */
  readonly idleFor: number;
  /** Limiter state of the former holder, if it released the lane. */
  readonly rateState: string | null;
  /**
   * This process was the former holder. The fence cannot show that where the database lost the last
   * grants.
   */
  readonly ours: boolean;
  /** Remaining time of the lane's pause. */
  readonly pausedFor: number;
  readonly pauseReason: string | null;
}

/** A lane and the fence of its holder. */
export interface HeldLane {
  readonly lane: string;
  readonly fence: number;
}

export interface ReleasedLane extends HeldLane {
  readonly rateState: string | null;
  /** Some submissions have no outcome: the next holder recovers them. */
  readonly open: boolean;
}

/** The process that takes, renews and releases lanes. */
export interface LaneHolder {
  readonly owner: string;
  /** Milliseconds. */
  readonly leaseTime: number;
}

/** A lane before it was taken. Times in microseconds, as drivers return them. */
export interface LaneRow {
  readonly lane_key: string;
  readonly owner: string | null;
  readonly fence: string | number;
  readonly lease_until: string | number;
  readonly rate_state: string | null;
  readonly paused_until: string | number;
  readonly pause_reason: string | null;
  readonly now: string | number;
  /** 1: no other process holds the lane, and it was taken. */
  readonly free: string | number;
}

/** Whether to wait for rows that another transaction has locked, or to skip them. */
export type LockWait = 'wait' | 'skip';
