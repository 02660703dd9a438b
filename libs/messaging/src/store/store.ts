import type { QueryRunner } from 'typeorm';
import type { Dialect } from './database/dialect.js';
import type { Intent } from './rows/intent.js';
import type { LaneHolder, LaneRow, ReleasedLane } from './rows/lease.js';
import type { NewBatch } from './rows/new-batch.js';
import type { PlainOutcome, SettledOutcomes } from './rows/outcome.js';
import type { PlanRow } from './rows/planned-batch.js';
import type { MatchedReport } from './rows/received-report.js';
import type { Sql } from './database/sql.js';
import type { HeldMessage } from './rows/status.js';

/**
 * The store: durable state of messages on the application's own database.
 *
 * ```
 *   MessageStore (message-store.ts)      group commit, bisection, retries, deadline, events, tracing
 *        │ many items at once
 *        ▼
 *   fast path of the driver ──ConcurrentChangeError──▶ slow path (verbs/<verb>.ts)
 *   postgres/<verb>.ts                                  one for all databases
 *        │                                                   │
 *        └──────────────▶ StoreDatabase (the driver's connection) ◀──┘
 * ```
 *
 * - A verb takes many items and returns a result for each.
 * - A driver is a dialect, a connection, a schema and at most one {@link FastPaths} function per verb; the
 *   connection carries the fast paths (`database.fastPaths`).
 * - A fast path states at its top what it assumes and its measured gain, counts the rows it touched and
 *   throws {@link ConcurrentChangeError} where their number is unexpected. Its transaction is rolled
 *   back, and the caller passes the same items to the slow path. A statement that commits by itself
 *   returns the missed items instead. Only `verbs/<verb>.ts` chooses between the two.
 * - The slow path locks lane, batch and message, in this order, reads, and writes.
 * - Only `open-store.ts` depends on the type of a data source.
 */
export interface StoreDriver {
  readonly dialect: Dialect;
  /**
   * CREATE statements of the first migration. Each is repeatable, because some servers commit each
   * of them.
   */
  schema(runner: QueryRunner): Promise<readonly string[]>;
  /** SQL after the columns in CREATE TABLE. */
  tableOptions(runner: QueryRunner): Promise<string>;
  /** A server lock for one migrating process; `undefined`: SQLite uses its write lock. */
  readonly migrationLock: MigrationLock | undefined;
}

export interface MigrationLock {
  /** Name of the pool option for the largest number of connections. */
  readonly poolLimit: 'max' | 'connectionLimit';
  /**
   * Statements that take the lock. The last one returns `taken: 1`; after `wait` milliseconds it
   * fails or returns another value.
   */
  take(key: number, wait: number): readonly string[];
  release(key: number): string;
}

/** The verbs of a driver with a faster implementation than the slow path. */
export interface FastPaths {
  /**
   * Stores new batches.
   * @throws ConcurrentChangeError for a key or a denied recipient, or where one is stored already
   */
  readonly enqueue?: (sql: Sql, batches: readonly NewBatch[]) => Promise<void>;
  /**
   * Takes the lanes that no other process holds; skips lanes that a transaction has locked.
   * @returns the lanes before they were taken
   */
  readonly takeLanes?: (
    sql: Sql,
    lanes: readonly string[],
    holder: LaneHolder,
  ) => Promise<LaneRow[]>;
  /** @returns the released lanes; the others belong to another holder, or are locked */
  readonly releaseLanes?: (
    sql: Sql,
    lanes: readonly ReleasedLane[],
    holder: LaneHolder,
  ) => Promise<Set<string>>;
  /** Reads the next batches of each lane, at most {@link MOST_PLANNED} messages per lane. */
  readonly plan?: (sql: Pick<Sql, 'all'>, requests: readonly PlanRequest[]) => Promise<PlanRow[]>;
  /** Milliseconds until each lane's next work; `undefined`: it has none. */
  readonly nextDue?: (
    sql: Pick<Sql, 'all'>,
    lanes: readonly string[],
  ) => Promise<ReadonlyMap<string, number | undefined>>;
  /**
   * Records intents of messages without rows, in one or many lanes; each lane has its own fence.
   * @returns by lane, ids of the batches that may start. A lost lane, or one with rows locked by
   *   another transaction, is left out and unchanged.
   */
  readonly intend?: (
    sql: Sql,
    intents: readonly Intent[],
    holder: LaneHolder,
  ) => Promise<ReadonlyMap<string, ReadonlySet<string>>>;
  /** Records acceptances of messages known from their intent, without prior reads. */
  readonly settle?: SettleFastPath;
  /**
   * Records reports, each of another message.
   * @param wanted whether listeners or events need the previous state of the messages
   * @returns the previous state of the messages where it is wanted, otherwise an empty list
   * @throws ConcurrentChangeError where a message no longer exists or has another recipient
   */
  readonly report?: (
    sql: Sql,
    reports: readonly MatchedReport[],
    wanted: boolean,
  ) => Promise<readonly MessageBefore[]>;
}

/**
 * @throws ConcurrentChangeError where another outcome or report was recorded before; a statement
 *   that has committed returns the outcomes as `missed` instead
 */
export type SettleFastPath = (
  sql: Sql,
  outcomes: readonly PlainOutcome[],
  context: SettleContext,
) => Promise<SettledOutcomes>;

export interface SettleContext {
  /** Epoch microseconds. */
  readonly at: number;
  /** Milliseconds from completion to the first poll for missing reports. */
  readonly pollAfter: number;
  /** The rank of an accepted message of the channel. */
  readonly acceptedRankOf: (channel: string) => number;
}

/** A message before its report; `v_index` is the report's index in the group. */
export type MessageBefore = HeldMessage & { readonly v_index: number };

/** A lane and the number of messages to plan. */
export interface PlanRequest {
  readonly lane: string;
  readonly limit: number;
}

/** Most messages per lane where one statement plans many lanes, to bound its run time. */
export const MOST_PLANNED = 500;
