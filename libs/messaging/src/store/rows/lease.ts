/** What a lane's holder knows of its lease. Durations in milliseconds. */
export interface Lease {
  readonly lane: string;
  /** Grows with each grant: submissions under a lower one belong to a former holder. */
  readonly fence: number;
  /** The former holder released the lane, so none of its submissions is open. */
  readonly clean: boolean;
  /** The former holder may have started requests until so long before the grant. */
  readonly idleFor: number;
  /** Limiter state of the former holder, where it released the lane. */
  readonly rateState: string | null;
  /** This process was the former holder. A fence alone does not tell, where a database lost the last grants. */
  readonly ours: boolean;
  /** How long the lane is still paused. */
  readonly pausedFor: number;
  readonly pauseReason: string | null;
}

/** A lane and the fence it is held by. */
export interface HeldLane {
  readonly lane: string;
  readonly fence: number;
}

export interface ReleasedLane extends HeldLane {
  readonly rateState: string | null;
  /** Submissions are left without an outcome: the next holder has to recover them. */
  readonly open: boolean;
}

/** The process that takes, renews and releases lanes. */
export interface LaneHolder {
  readonly owner: string;
  /** Milliseconds. */
  readonly leaseTime: number;
}

/** A lane as it was before it was taken. Times in microseconds, as drivers give them. */
export interface LaneRow {
  readonly lane_key: string;
  readonly owner: string | null;
  readonly fence: string | number;
  readonly lease_until: string | number;
  readonly rate_state: string | null;
  readonly paused_until: string | number;
  readonly pause_reason: string | null;
  readonly now: string | number;
  /** 1: no other process holds it, and it was taken. */
  readonly free: string | number;
}

/** A row that another transaction has locked is waited for, or left out of the answer. */
export type LockWait = 'wait' | 'skip';
