import type { MessageClass } from '../../message/message.js';
import type { Clock } from '../../ports/clock.js';
import type { StoreDatabase } from '../database/store-database.js';
import { PRIORITY } from '../rows/batch-state.js';
import { hasLane, type Hold } from '../rows/hold.js';
import type { Holds } from '../verbs/holds.js';
import { dateOf } from './report-list.js';

/** Uncertain submissions that one answer reads. */
const MOST_DOUBTS = 10_000;

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
  /** Submissions without an outcome whose last request failed; `null`: there are none. */
  readonly doubt: LaneDoubt | null;
  /** Milliseconds since the oldest due message was due, or since the end of its deferral. */
  readonly waiting: number;
  /** A process holds the lease and works on the lane, or the lane is paused until a set time. */
  readonly leased: boolean;
}

/** Submissions that their provider may have: they are asked after and resent. */
export interface LaneDoubt {
  readonly submissions: number;
  /** First start of the oldest of them. */
  readonly since: Date;
  /** Error code of the newest of them. */
  readonly errorCode: string;
  readonly provider: string;
}

interface DoubtRow extends Pick<LaneDoubt, 'errorCode' | 'provider'> {
  readonly lane: string;
  readonly sentAt: string | number;
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
         AND (coalesce(l.paused_until, 0) <= ${now} + ? OR l.pause_part = 1)
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
       WHERE owner IS NOT NULL AND lease_until < ${now}
         AND (paused_until <= ${now} OR pause_part = 1)`,
    );
    return rows.map(({ lane }) => lane);
  }

  /** Every lane that is paused, has due work, or has submissions that are uncertain. */
  async health(): Promise<LaneHealth[]> {
    const { now, laneHeads } = this.database.dialect;
    const holds = await this.holds.index();
    const rows = await this.database.all<{
      lane: string;
      pause_provider: string | null;
      pause_reason: string | null;
      paused_for: string | number;
      waiting: string | number | null;
      leased: string | number;
    }>(
      `${laneHeads}
       SELECT lane, max(pause_provider) AS pause_provider, max(pause_reason) AS pause_reason,
         max(paused_for) AS paused_for, max(waiting) AS waiting, max(leased) AS leased FROM (
         SELECT lane_key AS lane, pause_provider, pause_reason, paused_until - ${now} AS paused_for, NULL AS waiting, 0 AS leased
         FROM messaging_lane WHERE pause_reason IS NOT NULL
         UNION ALL
         SELECT h.lane, NULL, NULL, 0, ${now} - h.due_at,
           CASE WHEN l.owner IS NOT NULL AND l.lease_until >= ${now} THEN 1
             WHEN l.paused_until > ${now} THEN 1 ELSE 0 END
         FROM heads h LEFT JOIN messaging_lane l ON l.lane_key = h.lane
         WHERE h.due_at <= ${now}) AS lanes
       GROUP BY lane ORDER BY lane`,
    );
    // A pause that is over stays in the row until the provider serves the lane's next message.
    const isShown = ({ paused_for: left, waiting }: (typeof rows)[number]) =>
      waiting !== null || Number(left) > 0;
    const doubts = await this.#doubts();
    const shown = rows.filter((row) => isShown(row) || doubts.has(row.lane));
    for (const lane of doubts.keys())
      if (!shown.some((row) => row.lane === lane))
        shown.push({ ...NO_PAUSE, lane, waiting: null, leased: 1 });
    shown.sort((one, other) => (one.lane < other.lane ? -1 : 1));
    return shown.map((row) => ({
      lane: row.lane,
      doubt: doubts.get(row.lane) ?? null,
      ...pauseOf(row),
      pausedUntil:
        row.pause_reason === null
          ? null
          : new Date(this.clock.now() + Number(row.paused_for) / 1_000),
      waiting: Number(row.waiting ?? 0) / 1_000,
      hold: holds.of(row.lane) ?? null,
      leased: Number(row.leased) === 1,
    }));
  }

  async #doubts(): Promise<ReadonlyMap<string, LaneDoubt>> {
    const rows = await this.database.all<DoubtRow>(
      `SELECT b.lane, s.error_code AS "errorCode", s.provider, s.first_sent_at AS "sentAt"
       FROM messaging_submission s JOIN messaging_batch b ON b.id = s.batch
       WHERE s.outcome IS NULL AND s.error_code IS NOT NULL
       ORDER BY s.first_sent_at LIMIT ?`,
      [MOST_DOUBTS],
    );
    const doubts = new Map<string, LaneDoubt>();
    for (const { lane, errorCode, provider, sentAt } of rows) {
      const { submissions, since } = doubts.get(lane) ?? { submissions: 0, since: dateOf(sentAt) };
      doubts.set(lane, { submissions: submissions + 1, since, errorCode, provider });
    }
    return doubts;
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

const NO_PAUSE = { pause_provider: null, pause_reason: null, paused_for: 0 } as const;

/** The pause in the lane's row, whose reason is `code: text`. */
function pauseOf({
  pause_provider: pauseProvider,
  pause_reason: reason,
}: {
  readonly pause_provider: string | null;
  readonly pause_reason: string | null;
}): Pick<LaneHealth, 'pauseProvider' | 'pauseReason' | 'pauseDetail'> {
  const [, code, detail] = /^([^:]*): (.*)$/s.exec(reason ?? '') ?? [];
  return {
    pauseProvider,
    pauseReason: code ?? reason,
    pauseDetail: detail ?? reason,
  };
}

/**
 * Requests without an outcome in lanes that a process works on. A request that a dead process left
 * is not counted: the next holder of its lane decides about it.
 * @param lanes as of a hold
 */
export async function requestsInFlight(database: StoreDatabase, lanes: string): Promise<number> {
  const rows = await database.all<{ lane: string; requests: string | number }>(
    `SELECT l.lane_key AS lane, count(*) AS requests
     FROM messaging_submission s JOIN messaging_batch b ON b.id = s.batch
     JOIN messaging_lane l ON l.lane_key = b.lane
     WHERE s.outcome IS NULL AND l.owner IS NOT NULL AND l.lease_until >= ${database.dialect.now}
     GROUP BY l.lane_key`,
  );
  return rows.reduce(
    (sum, { lane, requests }) => sum + (hasLane(lanes, lane) ? Number(requests) : 0),
    0,
  );
}
