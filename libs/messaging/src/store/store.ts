import type { QueryRunner } from 'typeorm';
import type { Dialect } from './dialect.js';
import type { NewBatch } from './new-batch.js';
import type { PlainOutcome, SettledOutcomes } from './outcome.js';
import type { MatchedReport, MessageBefore } from './received-report.js';
import type { Sql } from './sql.js';

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
 *   back, and the caller hands the same items to the slow path. Nothing else decides between the two.
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
  enqueue?(sql: Sql, batches: readonly NewBatch[], again: boolean): Promise<void>;
  /**
   * Records acceptances of messages known from their intent, without reading them first.
   * @param at epoch microseconds
   * @param pollAfter milliseconds from completion to the first poll for missing reports
   */
  settle?(
    sql: Sql,
    outcomes: readonly PlainOutcome[],
    at: number,
    pollAfter: number,
  ): Promise<SettledOutcomes>;
  /**
   * Records reports, each of one message and each message's only one in the group.
   * @param wanted whether the messages are asked for, as they were before; otherwise the answer is empty
   */
  report?(
    sql: Sql,
    reports: readonly MatchedReport[],
    wanted: boolean,
  ): Promise<readonly MessageBefore[]>;
}
