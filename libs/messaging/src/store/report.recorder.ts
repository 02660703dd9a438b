import { Logger } from '@nestjs/common';
import type { DeliveryReport } from '../message/delivery-report.js';
import type { Clock } from '../ports/clock.js';
import { isDataError } from './database-errors.js';
import { GroupCommit } from './group-commit.js';
import type { StoreDatabase, Transaction } from './store-database.js';
import { MatchedReports } from './matched-reports.js';
import {
  fromWaitingRow,
  logRow,
  type MatchedReport,
  type ReceivedReport,
  receivedReport,
  reportedAt,
  type WaitingRow,
} from './received-report.js';
import { ReportMatcher } from './report-matcher.js';
import { type HeldMessage, raise, type StatusChange } from './status.js';
import { SqliteMatchedReports } from './sqlite/matched-reports.js';
import type { StatusWriter } from './status-writer.js';
import type { MessagePlace } from './submission-index.js';
import { WaitingReports } from './waiting-reports.js';

/** The provider a group of reports came through. */
export interface ReportOrigin {
  readonly provider: string;
}

/**
 * Records delivery reports, many to a commit: appends them to the log, matches them with messages and
 * raises statuses. Duplicates and any order leave the same state. A report that matches nothing yet
 * waits in the log; one of a batch's own reference whose recipient the batch never named belongs to
 * the batch, and to none of its messages.
 *
 * ```
 * report ─→ log: waiting ─→ a message's (its status may rise)
 *                   │    └─→ a batch's (nothing moves)
 *                   └──────→ forgotten, `keepWaiting` after it came
 * ```
 */
export class ReportRecorder {
  readonly #logger = new Logger('MessagingReports');
  readonly #matcher: ReportMatcher;
  /** Where one statement does what else takes six. */
  readonly #matched: MatchedReports | undefined;
  /** Where two do what else takes three. */
  readonly #untold: SqliteMatchedReports | undefined;
  readonly #waiting: WaitingReports;
  readonly #group: GroupCommit<ReceivedReport, boolean>;
  /** Up to which waiting report the sweep has come. */
  #swept = 0;

  constructor(
    private readonly database: StoreDatabase,
    private readonly writer: StatusWriter,
    private readonly clock: Clock,
    /** Milliseconds that a report of nobody is kept. */
    private readonly keepWaiting: number,
  ) {
    this.#matcher = new ReportMatcher(database);
    const { dialect } = database;
    if (dialect.kind === 'postgres') this.#matched = new MatchedReports(dialect);
    if (dialect.kind === 'sqlite') this.#untold = new SqliteMatchedReports(dialect);
    this.#waiting = new WaitingReports(database);
    this.#group = new GroupCommit((take) => this.#flush(take), {
      maxItems: 1_000,
      // While each turn of the event loop brings more: what a commit costs is the same for more of them.
      gather: { items: 48, milliseconds: 1, silence: 0, expecting: () => false },
      isItemError: (error) => isDataError(error) || writer.blames(error),
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
    // The submit's outcome may have committed while these could not see it: look once more.
    if (matched.every(Boolean)) return;
    const missed = received.filter((_, index) => !matched[index]);
    await this.matchWaiting(
      missed.flatMap(({ reference, messageId }) => [reference ?? [], messageId ?? []].flat()),
    );
  }

  idle(): Promise<void> {
    return this.#group.idle();
  }

  /** Matches reports that came before these references and message ids were known. */
  async matchWaiting(names: readonly string[]): Promise<void> {
    if (names.length > 0) await this.#matchAgain(await this.#waiting.named(names));
  }

  /**
   * Matches whatever still waits and may match by now, `limit` at a time and round and round, and
   * forgets what has waited too long: the job's safety net.
   */
  async sweep(limit: number): Promise<void> {
    const from = this.#swept;
    const rows = await this.#waiting.after(from, limit);
    const last = Number(rows.at(-1)?.id ?? from);
    this.#swept = rows.length < limit ? 0 : last;
    if (rows.length === 0) return;
    await this.#matchAgain(rows);
    const oldest = (this.clock.now() - this.keepWaiting) * 1_000;
    if (!rows.some(({ received_at }) => Number(received_at) < oldest)) return;
    const forgotten = await this.#waiting.expire(from, last, oldest);
    if (forgotten > 0)
      this.#logger.warn(`${forgotten} reports named no message of ours, and were forgotten`);
  }

  async #matchAgain(rows: readonly WaitingRow[]): Promise<void> {
    await Promise.all(
      rows.map((row) => this.#group.add(fromWaitingRow(row, this.database.channels))),
    );
  }

  async #flush(take: () => readonly ReceivedReport[]): Promise<readonly boolean[]> {
    return (await this.#flushMatched(take)) ?? this.#flushAny(take);
  }

  /** `undefined`: there is more to it than one message, known and there, for each report. */
  async #flushMatched(take: () => readonly ReceivedReport[]): Promise<boolean[] | undefined> {
    const statement = this.#matched;
    if (!statement) return undefined;
    const reports = take();
    const matched = matchedOf(reports, await this.#matcher.places(this.database, reports));
    if (!matched) return undefined;
    const changesOf = (tx?: Transaction) => this.#change(statement, matched, tx);
    const changes = await (this.writer.listened
      ? this.database.transaction(changesOf)
      : changesOf());
    if (!changes) return undefined;
    this.writer.publish(changes);
    return reports.map(() => true);
  }

  async #change(
    statement: MatchedReports,
    matched: readonly MatchedReport[],
    tx?: Transaction,
  ): Promise<StatusChange[] | undefined> {
    const sql = tx ?? {
      all: <T>(text: string, params?: readonly unknown[]) =>
        this.database.statement<T>(text, params),
    };
    const held = await statement.record(sql, matched, this.writer.heard);
    const changes = held?.flatMap(({ v_index, ...message }) => {
      const { report } = matched[v_index] as MatchedReport;
      return raised(report, message) ?? [];
    });
    if (tx && changes) await this.writer.tell(tx, changes);
    return changes;
  }

  async #flushAny(take: () => readonly ReceivedReport[]): Promise<boolean[]> {
    const { changes, matched } = await this.database.transaction(async (tx) => {
      const received = take();
      const places = await this.#matcher.places(tx, received);
      if (await this.#recordUntold(tx, received, places))
        return { changes: [], matched: received.map(() => true) };
      const matches = await this.#matcher.match(tx, received, places);
      const changes: StatusChange[] = [];
      const log = new Map<string, unknown[]>();
      received.forEach((report, index) => {
        const match = matches.get(index);
        const change = match?.message && raised(report, match.message);
        if (change) changes.push(change);
        if (report.waiting && !match) return;
        if (log.has(report.hash) && !change) return;
        const sequence = change && change.sequence > 0 ? change.sequence : null;
        log.set(report.hash, logRow(report, match?.message ?? match ?? {}, sequence));
      });
      await this.writer.log(tx, [...log.values()]);
      await this.writer.write(tx, changes);
      return { changes, matched: received.map((_, index) => matches.has(index)) };
    });
    this.writer.publish(changes);
    return matched;
  }

  /** False: somebody has to be told, or there is more to it than a message for each report. */
  async #recordUntold(
    tx: Transaction,
    received: readonly ReceivedReport[],
    places: ReadonlyMap<number, MessagePlace>,
  ): Promise<boolean> {
    if (!this.#untold || this.writer.heard) return false;
    const matched = matchedOf(received, places);
    return matched !== undefined && this.#untold.record(tx, matched);
  }
}

function raised(report: ReceivedReport, message: HeldMessage): StatusChange | undefined {
  const { rank, errorCode } = report;
  return rank !== null ? raise(message, rank, reportedAt(report), errorCode) : undefined;
}

/** `undefined` where a report has no message, or shares it, or waits in the log already. */
function matchedOf(
  reports: readonly ReceivedReport[],
  places: ReadonlyMap<number, MessagePlace>,
): MatchedReport[] | undefined {
  const matched: MatchedReport[] = [];
  const taken = new Set<string>();
  for (const [index, report] of reports.entries()) {
    const { batch, position } = places.get(index) ?? {};
    if (batch === undefined || position === undefined || report.waiting) return undefined;
    taken.add(`${batch}-${position}`);
    matched.push({ report, place: { batch, position } });
  }
  return taken.size < reports.length ? undefined : matched;
}
