import { Logger } from '@nestjs/common';
import type { DeliveryReport } from '../../message/delivery-report.js';
import type { Clock } from '../../ports/clock.js';
import { ConcurrentChangeError, fastOrSlow } from '../database/concurrent-change.error.js';
import { isDataError } from '../database/database-errors.js';
import type { Dialect } from '../database/dialect.js';
import { GroupCommit } from '../database/group-commit.js';
import {
  fromWaitingRow,
  type MatchedReport,
  type MessagePlace,
  raiseBy,
  type ReceivedReport,
  receivedReport,
  WAITING_COLUMNS,
  type WaitingRow,
} from '../rows/received-report.js';
import { ReportPlaces } from './report-places.js';
import { SlowReport } from '../slow-path/report.js';
import type { StatusChange } from '../rows/status.js';
import type { StatusWriter } from './status-writer.js';
import type { FastPaths } from '../store.js';
import type { Sql, StoreDatabase } from '../database/store-database.js';

/** The provider of the reports. */
export interface ReportOrigin {
  readonly provider: string;
}

interface Recorded {
  readonly changes: readonly StatusChange[];
  /** For each report, whether it has a message or a batch. */
  readonly matched: readonly boolean[];
}

/**
 * Records delivery reports, many per commit: appends them to the log, matches them with messages and
 * raises statuses. Duplicates and other orders lead to the same state. A report without a match waits in
 * the log. A report by a batch's reference whose recipient is not in the batch belongs to the batch and
 * to none of its messages.
 *
 * ```
 * report ─→ log: waiting ─→ a message's (its status may rise)
 *                   │    └─→ a batch's (no status changes)
 *                   └──────→ deleted, `keepWaiting` after its arrival
 * ```
 */
export class ReportRecorder {
  readonly #logger = new Logger('MessagingReports');
  readonly #places: ReportPlaces;
  readonly #slow: SlowReport;
  readonly #sql: ReturnType<typeof statementsFor>;
  readonly #group: GroupCommit<ReceivedReport, boolean>;
  /** The last waiting report that the sweep has read. */
  #swept = 0;

  constructor(
    private readonly database: StoreDatabase,
    private readonly writer: StatusWriter,
    private readonly clock: Clock,
    /** Retention of reports without a message, in milliseconds. */
    private readonly keepWaiting: number,
  ) {
    this.#places = new ReportPlaces(database);
    this.#slow = new SlowReport(database, writer, this.#places);
    this.#sql = statementsFor(database.dialect);
    this.#group = new GroupCommit((take) => this.#flush(take), {
      maxItems: 1_000,
      // The delay ends when a turn of the event loop brings no more reports; larger groups cost the
      // same commit.
      gather: { items: 48, milliseconds: 1, silence: 0, expecting: () => false },
      isItemError: (error) => isDataError(error) || writer.isListenerError(error),
    });
  }

  /** Resolves after the commit. */
  async record(reports: readonly DeliveryReport[], { provider }: ReportOrigin): Promise<void> {
    const now = this.clock.now();
    const received = reports.map((report) =>
      receivedReport(report, provider, now, this.database.channels),
    );
    const [first] = received;
    const matched =
      first && received.length === 1
        ? [await this.#group.add(first)]
        : await Promise.all(received.map((report) => this.#group.add(report)));
    if (matched.every(Boolean)) return;
    // The submit's outcome may have committed while neither transaction could see the other.
    const missed = received.filter((_, index) => !matched[index]);
    await this.matchWaiting(
      missed.flatMap(({ reference, messageId }) => [reference ?? [], messageId ?? []].flat()),
    );
  }

  idle(): Promise<void> {
    return this.#group.idle();
  }

  /** Matches reports that arrived before these references and message ids were recorded. */
  async matchWaiting(names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    const rows = this.#sql.names.bind([...new Set(names)].map((name) => [name]));
    await this.#matchAgain(
      await this.database.all<WaitingRow>(this.#sql.named, [...rows, ...rows]),
    );
  }

  /**
   * Matches waiting reports and deletes those past their retention. Each call reads the next
   * `limit` reports, and starts again after the last one.
   */
  async sweep(limit: number): Promise<void> {
    const from = this.#swept;
    const rows = await this.database.all<WaitingRow>(this.#sql.after, [from, limit]);
    const last = Number(rows.at(-1)?.id ?? from);
    this.#swept = rows.length < limit ? 0 : last;
    if (rows.length === 0) return;
    await this.#matchAgain(rows);
    const oldest = (this.clock.now() - this.keepWaiting) * 1_000;
    if (!rows.some(({ receivedAt }) => Number(receivedAt) < oldest)) return;
    const deleted = await this.database.transaction((tx) =>
      tx.run(this.#sql.expire, [from, last, oldest]),
    );
    if (deleted > 0) this.#logger.warn(`${deleted} reports matched no message and were deleted`);
  }

  async #matchAgain(rows: readonly WaitingRow[]): Promise<void> {
    const { channels } = this.database;
    await Promise.all(rows.map((row) => this.#group.add(fromWaitingRow(row, channels))));
  }

  async #flush(take: () => readonly ReceivedReport[]): Promise<readonly boolean[]> {
    const { changes, matched } = await this.#record(take);
    this.writer.publish(changes);
    return matched;
  }

  #record(take: () => readonly ReceivedReport[]): Promise<Recorded> {
    const { report } = this.database.fastPaths;
    return fastOrSlow<Recorded>(
      report &&
        (() =>
          this.writer.run(
            (sql) => this.#fast(report, sql, take()),
            ({ changes }) => changes,
          )),
      () => this.database.transaction((tx) => this.#slow.report(tx, take())),
    );
  }

  async #fast(
    record: NonNullable<FastPaths['report']>,
    sql: Sql,
    reports: readonly ReceivedReport[],
  ): Promise<Recorded> {
    if (reports.some(({ waiting }) => waiting)) throw new ConcurrentChangeError();
    const matched = oneOfEachMessage(reports, await this.#places.find(sql, reports));
    const before = await record(sql, matched, this.writer.isObserved);
    const changes = before.flatMap(
      ({ v_index, ...message }) => raiseBy(matched[v_index]!.report, message) ?? [],
    );
    return { changes, matched: reports.map(() => true) };
  }
}

/** @throws ConcurrentChangeError where a report has no message, or two reports have the same one */
function oneOfEachMessage(
  reports: readonly ReceivedReport[],
  places: ReadonlyMap<number, MessagePlace>,
): MatchedReport[] {
  const taken = new Set<string>();
  const matched = reports.map((report, index) => {
    const { batch, position } = places.get(index) ?? {};
    if (batch === undefined || position === undefined) throw new ConcurrentChangeError();
    taken.add(`${batch}-${position}`);
    return { report, place: { batch, position } };
  });
  if (taken.size < reports.length) throw new ConcurrentChangeError();
  return matched;
}

/** Statements about reports in the log that have no message. */
function statementsFor(dialect: Dialect) {
  const names = dialect.rows({ v_name: 'key' });
  const naming = (column: string) => `SELECT ${WAITING_COLUMNS} FROM ${names.keyed}
    ${dialect.join} messaging_report r ON r.${column} = v_name WHERE r.batch IS NULL`;
  return {
    names,
    named: `${naming('reference')} UNION ${naming('message_id')} ORDER BY id`,
    after: `SELECT ${WAITING_COLUMNS} FROM messaging_report r WHERE r.batch IS NULL AND r.id > ?
      ORDER BY r.id LIMIT ?`,
    expire: `DELETE FROM messaging_report WHERE batch IS NULL AND id > ? AND id <= ? AND received_at < ?`,
  };
}
