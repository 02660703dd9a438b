import type { QueryRunner } from 'typeorm';
import type { Dialect } from './database/dialect.js';
import type { Intent } from './rows/intent.js';
import type { HeldLane, LaneHolder, LaneRow, ReleasedLane } from './rows/lease.js';
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
 *   fast path of the driver ──ConcurrentChangeError──▶ slow path (slow-path/<verb>.ts)
 *   {postgres,sqlite}/<verb>.ts                         one for all databases
 *        │                                                   │
 *        └──────────────▶ StoreDatabase (the driver's connection) ◀──┘
 * ```
 *
 * - A verb takes many items and answers for each of them.
 * - A driver is a dialect, a connection, a schema and at most one {@link FastPaths} function per verb; the
 *   connection carries the fast paths (`database.fastPaths`).
 * - A fast path states at its top what it assumes and its measured gain, counts the rows it touched and
 *   throws {@link ConcurrentChangeError} where they are not as many as expected. Its transaction is rolled
 *   back, and the caller hands the same items to the slow path. A statement that has committed by itself
 *   answers the items that it missed instead. Nothing else decides between the two.
 * - The slow path locks lane, batch and message, in this order, looks, and writes.
 * - `open-store.ts` is the one place that looks at the type of a data source.
 */
export interface StoreDriver {
  readonly dialect: Dialect;
  /** CREATE statements of the first migration. Each may be repeated: some servers commit each of them. */
  schema(runner: QueryRunner): Promise<readonly string[]>;
  /** What follows the columns in CREATE TABLE. */
  tableOptions(runner: QueryRunner): Promise<string>;
  /** A lock of the server that one migrating process holds; `undefined`: SQLite has its write lock. */
  readonly migrationLock: MigrationLock | undefined;
}

export interface MigrationLock {
  /** Name of the pool's option that bounds its connections. */
  readonly poolLimit: 'max' | 'connectionLimit';
  /** Statements that take the lock; the last one answers `taken: 1`, or fails or answers something else after `wait` milliseconds. */
  take(key: number, wait: number): readonly string[];
  release(key: number): string;
}

/** The verbs of one driver that have a faster way than the slow path. */
export interface FastPaths {
  /**
   * Stores batches without keys and denied recipients.
   * @param again an earlier attempt may have stored them
   */
  readonly enqueue?: (sql: Sql, batches: readonly NewBatch[], again: boolean) => Promise<void>;
  /**
   * Takes the lanes that no other process holds and no transaction has locked; the locked ones are left out.
   * @returns the lanes as they were before
   */
  readonly takeLanes?: (
    sql: Sql,
    lanes: readonly string[],
    holder: LaneHolder,
  ) => Promise<LaneRow[]>;
  /** @returns the lanes that were renewed; the others are not the holder's, or locked */
  readonly renewLanes?: (
    sql: Sql,
    lanes: readonly HeldLane[],
    holder: LaneHolder,
  ) => Promise<Set<string>>;
  /** @returns the lanes that were released; the others are not the holder's, or locked */
  readonly releaseLanes?: (
    sql: Sql,
    lanes: readonly ReleasedLane[],
    holder: LaneHolder,
  ) => Promise<Set<string>>;
  /** Reads the next batches of each lane, {@link MOST_PLANNED} messages of a lane at most. */
  readonly plan?: (sql: Pick<Sql, 'all'>, requests: readonly PlanRequest[]) => Promise<PlanRow[]>;
  /** Milliseconds until each lane has something to do; `undefined`: nothing is known. */
  readonly nextDue?: (
    sql: Pick<Sql, 'all'>,
    lanes: readonly string[],
  ) => Promise<ReadonlyMap<string, number | undefined>>;
  /**
   * Writes down what starts in lanes, none of whose messages has a row yet; each lane is fenced by itself.
   * @returns by lane, ids of the batches that may start. A lane that is lost, or whose rows another
   * transaction has locked, is left out and untouched.
   */
  readonly intend?: (
    sql: Sql,
    intents: readonly Intent[],
    holder: LaneHolder,
  ) => Promise<ReadonlyMap<string, ReadonlySet<string>>>;
  readonly settle?: SettleFastPath;
  readonly report?: ReportFastPath;
}

/** What a fast path shares with those of other verbs. */
interface FastPath {
  /**
   * One statement, which needs no transaction around it and commits by itself; otherwise it runs in a
   * transaction, which is rolled back where it throws.
   */
  readonly atomic: boolean;
}

/** Records acceptances of messages that are known from their intent, without reading them first. */
export interface SettleFastPath extends FastPath {
  /** Whether the outcomes are what it assumes. */
  takes(outcomes: readonly PlainOutcome[]): boolean;
  /** @throws ConcurrentChangeError where another outcome or report was recorded before */
  settle(
    sql: Sql,
    outcomes: readonly PlainOutcome[],
    context: SettleContext,
  ): Promise<SettledOutcomes>;
}

export interface SettleContext {
  /** Epoch microseconds. */
  readonly at: number;
  /** Milliseconds from completion until the provider is asked for missing reports. */
  readonly pollAfter: number;
  /** The rank of a message of the channel that its provider has accepted. */
  readonly acceptedRankOf: (channel: string) => number;
}

/** Records reports, each the only one of its message in the group. */
export interface ReportFastPath extends FastPath {
  /** @param wanted whether the messages are needed as they were before, for listeners and events */
  takes(wanted: boolean): boolean;
  /**
   * @returns the messages as they were before where they are wanted, otherwise none
   * @throws ConcurrentChangeError where a message is gone or has another recipient
   */
  report(
    sql: Sql,
    reports: readonly MatchedReport[],
    wanted: boolean,
  ): Promise<readonly MessageBefore[]>;
}

/** A message as it was before its report; `v_index` is the report's place in the group. */
export type MessageBefore = HeldMessage & { readonly v_index: number };

/** A lane, and the messages of it that are wanted. */
export interface PlanRequest {
  readonly lane: string;
  readonly limit: number;
}

/** Messages of one lane at most, where many lanes are planned with one statement: reading more takes a while. */
export const MOST_PLANNED = 500;
