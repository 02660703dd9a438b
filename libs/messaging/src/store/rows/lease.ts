import type { Columns, Dialect } from '../database/dialect.js';

/** Durations in milliseconds. */
export interface Lease {
  readonly lane: string;
  /** Incremented by each grant: submissions with a lower fence belong to a former holder. */
  readonly fence: number;
  /** The former holder released the lane without unanswered submissions. */
  readonly clean: boolean;
  /** The former holder may have started requests until this long before the grant. */
  readonly idleFor: number;
  readonly rateState: string | null;
  /** This process was the former holder; where the database lost grants, no fence shows it. */
  readonly ours: boolean;
  readonly pausedFor: number;
  readonly pauseProvider: string | null;
  /** `code: text`. */
  readonly pauseReason: string | null;
  /** The pause is of its provider alone; the lane goes on with the others. */
  readonly pausePart: boolean;
}

/** Pause of a lane as its row shows it. */
export interface ShownPause {
  readonly provider: string;
  /** `code: text`. */
  readonly reason: string;
}

export interface LaneGrant {
  readonly lane: string;
  readonly fence: number;
}

export interface ReleasedLane extends LaneGrant {
  readonly rateState: string | null;
  /** Some submissions have no outcome: the next holder recovers them. */
  readonly unanswered: boolean;
}

export interface LaneHolder {
  readonly owner: string;
  /** Milliseconds. */
  readonly leaseTime: number;
}

/** Before the lane was taken. Times in microseconds, as drivers return them. */
export interface LaneRow {
  readonly lane_key: string;
  readonly owner: string | null;
  readonly fence: string | number;
  readonly lease_until: string | number;
  readonly rate_state: string | null;
  readonly paused_until: string | number;
  readonly pause_provider: string | null;
  readonly pause_reason: string | null;
  readonly pause_part: string | number;
  readonly now: string | number;
  /** 1: no other process holds the lane, and it was taken. */
  readonly free: string | number;
}

/** For rows that another transaction has locked. */
export type LockWait = 'wait' | 'skip';

/** A take has no fence, and only a release has a rate state and unanswered submissions. */
export type WantedLane = Pick<LaneGrant, 'lane'> & Partial<ReleasedLane>;
export type WantedRow = readonly [lane: WantedLane, holder: LaneHolder];

export const LANES: Columns<WantedRow> = {
  v_lane: ['key', ([{ lane }]) => lane],
  v_owner: ['key', ([, { owner }]) => owner],
  v_lease: ['bigint', ([, { leaseTime }]) => leaseTime * 1_000],
  v_fence: ['bigint', ([{ fence }]) => fence],
  v_state: ['text', ([{ rateState }, { owner }]) => rateState && `${owner} ${rateState}`],
  v_unanswered: ['int', ([{ unanswered }]) => (unanswered ? 1 : 0)],
};

export function laneRows(lanes: readonly WantedLane[], holder: LaneHolder): WantedRow[] {
  return lanes.map((lane) => [lane, holder]);
}

/** SQL: `l` is the lane, `v_owner` the holder. */
export function formerColumns({ now }: Dialect): string {
  return `l.lane_key, l.owner, l.fence, l.lease_until, l.rate_state, l.paused_until, l.pause_provider,
    l.pause_reason, l.pause_part, ${now} AS now, CASE WHEN l.owner IS NULL OR l.owner = v_owner OR l.lease_until < ${now} THEN 1 ELSE 0 END AS free`;
}

export const IS_OURS = 'l.fence = v_fence AND l.owner = v_owner';

export const RELEASE = `owner = CASE WHEN v_unanswered = 1 THEN owner END, lease_until = 0, rate_state = v_state`;

export function lanesOf(rows: readonly Pick<LaneRow, 'lane_key'>[]): Set<string> {
  return new Set(rows.map(({ lane_key }) => lane_key));
}
