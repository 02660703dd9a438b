import type { MessageClass } from '../../message/message.js';
import type { Clock } from '../../ports/clock.js';
import type { StoreDatabase } from '../database/store-database.js';
import { PRIORITY } from '../rows/batch-state.js';
import type { Hold } from '../rows/hold.js';
import type { Holds } from '../verbs/holds.js';

export interface LaneHealth {
  readonly lane: string;
  /** Name of the paused provider; `null`, as all of the pause: the lane is not paused. */
  readonly pauseProvider: string | null;
  /** Reason of the pause, such as `unauthorized`. */
  readonly pauseReason: string | null;
  /** Reason and remedy in words. */
  readonly pauseDetail: string | null;
  readonly pausedUntil: Date | null;
  /** The hold on the lane, which ends by its release only; `null`: there is none. */
  readonly hold: Hold | null;
  /** Milliseconds since the oldest due message was due, or since the end of its parking. */
  readonly waiting: number;
  /** A process holds the lease and works on the lane, or the lane is paused until a set time. */
  readonly leased: boolean;
}

export interface DueLane {
  readonly lane: string;
  /** Milliseconds until the lane is due; 0 or less: now. */
  readonly dueIn: number;
}

export class LaneQueues {
  constructor(
    private readonly database: StoreDatabase,
    private readonly clock: Clock,
    private readonly holds: Pick<Holds, 'index'>,
  ) {}

  /** Lanes without a holder that have work due within `horizon` milliseconds. */
  async due(horizon: number): Promise<DueLane[]> {
    const { now, laneHeads } = this.database.dialect;
    const rows = await this.database.all<{ lane: string; dueIn: string | number }>(
      `${laneHeads}
       SELECT h.lane, min(h.due_at) - ${now} AS "dueIn"
       FROM heads h LEFT JOIN messaging_lane l ON l.lane_key = h.lane
       WHERE h.due_at <= ${now} + ?
         AND (l.lane_key IS NULL OR l.owner IS NULL OR l.lease_until < ${now})
         AND coalesce(l.paused_until, 0) <= ${now} + ?
       GROUP BY h.lane`,
      [horizon * 1_000, horizon * 1_000],
    );
    return rows.map(({ lane, dueIn }) => ({ lane, dueIn: Number(dueIn) / 1_000 }));
  }

  /** Lanes with an expired lease that was not released, so that requests may be open. */
  async abandoned(): Promise<string[]> {
    const { now } = this.database.dialect;
    const rows = await this.database.all<{ lane: string }>(
      `SELECT lane_key AS lane FROM messaging_lane
       WHERE owner IS NOT NULL AND lease_until < ${now} AND paused_until <= ${now}`,
    );
    return rows.map(({ lane }) => lane);
  }

  /** Every lane that is paused or has due work. */
  async health(): Promise<LaneHealth[]> {
    const { now, laneHeads } = this.database.dialect;
    const holds = await this.holds.index();
    const rows = await this.database.all<{
      lane: string;
      pause_reason: string | null;
      paused_for: string | number;
      waiting: string | number | null;
      leased: string | number;
    }>(
      `${laneHeads}
       SELECT lane, max(pause_reason) AS pause_reason, max(paused_for) AS paused_for, max(waiting) AS waiting, max(leased) AS leased FROM (
         SELECT lane_key AS lane, pause_reason, paused_until - ${now} AS paused_for, NULL AS waiting, 0 AS leased
         FROM messaging_lane WHERE pause_reason IS NOT NULL
         UNION ALL
         SELECT h.lane, NULL, 0, ${now} - h.due_at,
           CASE WHEN l.owner IS NOT NULL AND l.lease_until >= ${now} THEN 1
             WHEN l.paused_until > ${now} THEN 1 ELSE 0 END
         FROM heads h LEFT JOIN messaging_lane l ON l.lane_key = h.lane
         WHERE h.due_at <= ${now}) AS lanes
       GROUP BY lane ORDER BY lane`,
    );
    // A pause that is over stays in the row until the provider serves the lane's next message.
    const isShown = ({ paused_for: left, waiting }: (typeof rows)[number]) =>
      waiting !== null || Number(left) > 0;
    return rows.filter(isShown).map((row) => ({
      lane: row.lane,
      ...pauseOf(row.pause_reason),
      pausedUntil:
        row.pause_reason === null
          ? null
          : new Date(this.clock.now() + Number(row.paused_for) / 1_000),
      waiting: Number(row.waiting ?? 0) / 1_000,
      hold: holds.of(row.lane) ?? null,
      leased: Number(row.leased) === 1,
    }));
  }

  /** Wait of the oldest due batch of each class, in ms, without held lanes; 0: none is due. */
  async ages(): Promise<Record<MessageClass, number>> {
    const { now, laneHeads } = this.database.dialect;
    const holds = await this.holds.index();
    const rows = await this.database.all<{
      lane: string;
      priority: string | number;
      age: string | number;
    }>(
      `${laneHeads}
       SELECT lane, priority, ${now} - min(due_at) AS age FROM heads WHERE due_at <= ${now}
       GROUP BY lane, priority`,
    );
    const ageOf = (rank: number): number => {
      let oldest = 0;
      for (const { lane, priority, age } of rows)
        if (Number(priority) === rank && !holds.of(lane)) oldest = Math.max(oldest, Number(age));
      return oldest / 1_000;
    };
    return { high: ageOf(PRIORITY.high), normal: ageOf(PRIORITY.normal) };
  }
}

/** The pause in the lane's row: `provider code: text`. */
function pauseOf(
  reason: string | null,
): Pick<LaneHealth, 'pauseProvider' | 'pauseReason' | 'pauseDetail'> {
  const [, provider, code, detail] = /^(\S+) ([^:]*): (.*)$/s.exec(reason ?? '') ?? [];
  return {
    pauseProvider: provider ?? null,
    pauseReason: code ?? reason,
    pauseDetail: detail ?? reason,
  };
}
