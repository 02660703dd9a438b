import type { Intent } from './rows/intent.js';
import type { LaneHolder, LaneRow, ReleasedLane, WantedLane } from './rows/lease.js';
import type { NewBatch, OwnRows } from './rows/new-batch.js';
import type { Accepted } from './rows/outcome.js';
import type { PlanRow } from './rows/planned-batch.js';
import type { MatchedReport } from './rows/received-report.js';
import type { Sql } from './database/sql.js';
import type { LockedMessage } from './rows/status.js';

/**
 * The store: durable state of messages on the application's own database.
 *
 * ```
 *   MessageStore (message-store.ts)     wires the verbs, the database and the events
 *        │
 *        ▼
 *   verbs/<verb>.ts     group commit, bisection, choice of the path, events after the commit
 *        │ many items at once
 *        ▼
 *   fast path of the driver ──ConcurrentChangeError──▶ slow path in verbs/<verb>.ts
 *   postgres/, sqlite/, verbs/stepped-*.ts              one for all databases
 *        │                                                   │
 *        └──────────────▶ StoreDatabase (the driver's connection) ◀──┘
 *                         transactions, their retries, shutdown deadline
 * ```
 *
 * - A fast path states at its top what it assumes and its measured gain. Where its input, a
 *   duplicate key or the number of rows it touched contradicts that, it throws
 *   {@link ConcurrentChangeError}: nothing it wrote stays, and the slow path gets its items. A
 *   settle that commits by itself keeps what it wrote and returns it; the slow path records the
 *   rest. Fast paths for lanes skip locked lanes, which then run alone.
 * - The slow path locks lane, batch and message, in this order, reads, and writes.
 */
export interface FastPaths {
  /**
   * @throws ConcurrentChangeError for a key, a denied recipient, a batch stored already, or a guard
   * that changed too few rows
   */
  readonly enqueue: (sql: Sql, batches: readonly NewBatch[], ...own: OwnRows[]) => Promise<void>;
  /** As `enqueue`, of batches whose money one of the guards takes; several guards need a transaction. */
  readonly reserve: (sql: Sql, batches: readonly NewBatch[], ...own: OwnRows[]) => Promise<void>;
  /** Skips lanes that a transaction has locked. @returns the lanes before they were taken */
  readonly takeLanes: (
    sql: Sql,
    lanes: readonly WantedLane[],
    holder: LaneHolder,
  ) => Promise<LaneRow[]>;
  /** @returns the released lanes; the others belong to another holder, or are locked */
  readonly releaseLanes: (
    sql: Sql,
    lanes: readonly ReleasedLane[],
    holder: LaneHolder,
  ) => Promise<Set<string>>;
  /** Reads the next batches of each lane, at most {@link MOST_PLANNED} messages per lane. */
  readonly plan: (sql: Pick<Sql, 'all'>, requests: readonly PlanRequest[]) => Promise<PlanRow[]>;
  /**
   * For messages without rows. @returns the batches that may start, by lane; a lost lane, or one
   * with rows that another transaction has locked, is left out and unchanged
   */
  readonly intend: (
    sql: Sql,
    intents: readonly Intent[],
    holder: LaneHolder,
  ) => Promise<ReadonlyMap<string, ReadonlySet<string>>>;
  /** For messages known from their intent, without prior reads. */
  readonly settle: SettleFastPath;
  /**
   * Reports of different messages; wakes the notifications of those whose status rises.
   * @returns the messages before
   * @throws ConcurrentChangeError where a message no longer exists or has another recipient
   */
  readonly report: (
    sql: Sql,
    reports: readonly MatchedReport[],
  ) => Promise<readonly LockedMessage[]>;
}

/**
 * @returns the rows that changed; `undefined`: all of them
 * @throws ConcurrentChangeError for an earlier outcome or report, with nothing changed
 */
export type SettleFastPath = (
  sql: Sql,
  accepted: readonly Accepted[],
) => Promise<SettledRows | undefined>;

export interface SettledRows {
  /** `{batch}-{position}`. */
  readonly raised: ReadonlySet<string>;
  /** Ids of batches. */
  readonly completed: ReadonlySet<string>;
}

export interface PlanRequest {
  readonly lane: string;
  readonly limit: number;
}

/** Most messages per lane where one statement plans many lanes, to bound its run time. */
export const MOST_PLANNED = 500;
