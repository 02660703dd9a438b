import { Logger } from '@nestjs/common';
import { messageIdOf } from '../../message/ids.js';
import type { DeliveryReport } from '../../message/events.js';
import { addressIdentity } from '../../message/phone-identity.js';
import type { Clock } from '../../ports/clock.js';
import { ConcurrentChangeError, fastOrSlow } from '../database/concurrent-change.error.js';
import { isUnavailable } from '../database/database-errors.js';
import type { Dialect } from '../database/dialect.js';
import { GroupCommit } from '../database/group-commit.js';
import {
  fromWaitingRow,
  type LogEntry,
  type MatchedReport,
  type MessagePlace,
  raiseBy,
  type ReceivedReport,
  receivedReport,
  WAITING_COLUMNS,
  waitingDetails,
  type WaitingRow,
} from '../rows/received-report.js';
import { digestId } from '../rows/digest-id.js';
import { type Places, ReportPlaces } from './report-places.js';
import { type RedialGroup, Redials } from './redials.js';
import { announce, LOCKED_COLUMNS, type LockedMessage, type StatusChange } from '../rows/status.js';
import { HAS_ERASED } from '../upkeep/erased-messages.js';
import type { StoreListeners } from '../store-listeners.js';
import { BILLED, type StatusWriter } from './status-writer.js';
import type { FastPaths } from '../store.js';
import type { Sql, StoreDatabase, Transaction } from '../database/store-database.js';

export interface ReportOrigin {
  readonly provider: string;
}

/**
 * A locked message; or a batch alone, where the report concerns none of its messages; or neither,
 * where the batch is erased: the report waits without its recipient.
 */
interface ReportMatch {
  readonly place: LogEntry['place'];
  readonly message?: LockedMessage;
  /** The submission that the report is about; `undefined`: the message's last. */
  readonly submission?: number | undefined;
}

type Matches = Map<ReceivedReport, ReportMatch>;

interface Recorded {
  readonly changes: readonly StatusChange[];
  /** For each report, whether it has a message or a batch. */
  readonly matched: readonly boolean[];
  /** Lanes of messages that are sent again. */
  readonly lanes?: readonly string[];
}

/** Most reports of a transaction. */
const MOST = 500;

/**
 * Records delivery reports, many per commit; duplicates and other orders lead to the same state. A
 * report without a match waits in the log. A report by a batch's reference whose recipient is not
 * in the batch belongs to the batch and to none of its messages.
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
  readonly #redials: Redials;
  readonly #sql: ReturnType<typeof statementsFor>;
  readonly #group: GroupCommit<ReceivedReport, boolean>;
  #swept = 0;

  constructor(
    private readonly database: StoreDatabase,
    private readonly writer: StatusWriter,
    private readonly clock: Clock,
    private readonly settings: {
      /** Retention of reports without a message, in milliseconds. */
      readonly keepWaiting: number;
      /** See {@link receivedReport}. */
      readonly salt: string;
    },
    private readonly listeners: Pick<StoreListeners, 'resent'>,
  ) {
    this.#places = new ReportPlaces(database);
    this.#redials = new Redials(database);
    this.#sql = statementsFor(database.dialect);
    this.#group = new GroupCommit((take) => this.#flush(take), {
      maxItems: MOST,
      // Ends when a turn of the event loop brings no more; larger groups cost the same commit.
      gather: { items: 48, milliseconds: 1, silence: 0, expecting: () => false },
      // A listener may throw any error.
      isItemError: (error) => !isUnavailable(error),
    });
  }

  /** Resolves after the commit; many reports have several. */
  record(reports: readonly DeliveryReport[], origin: ReportOrigin): Promise<void> {
    return reports.length > MOST
      ? this.#recordInSlices(reports, origin)
      : this.#recordSlice(reports, origin);
  }

  async #recordInSlices(reports: readonly DeliveryReport[], origin: ReportOrigin): Promise<void> {
    for (let from = 0; from < reports.length; from += MOST)
      await this.#recordSlice(reports.slice(from, from + MOST), origin);
  }

  async #recordSlice(
    reports: readonly DeliveryReport[],
    { provider }: ReportOrigin,
  ): Promise<void> {
    const now = this.clock.now();
    const received = reports.map((report) =>
      receivedReport(report, provider, now, this.database.channels, this.settings.salt),
    );
    const [only] = received;
    // Most callbacks have one report.
    const matched =
      only && received.length === 1
        ? [await this.#group.add(only)]
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
    const rows = this.#sql.names.bind([...new Set(names)]);
    await this.#matchAgain(
      await this.database.all<WaitingRow>(this.#sql.named, [...rows, ...rows]),
    );
  }

  /** Each call reads the next `limit` waiting reports, and deletes those past their retention. */
  async sweep(limit: number): Promise<void> {
    const from = this.#swept;
    const rows = await this.database.all<WaitingRow>(this.#sql.after, [from, limit]);
    const last = Number(rows.at(-1)?.id ?? from);
    this.#swept = rows.length < limit ? 0 : last;
    if (rows.length === 0) return;
    await this.#matchAgain(rows);
    const oldest = (this.clock.now() - this.settings.keepWaiting) * 1_000;
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
    const { changes, matched, lanes = [] } = await this.#record(take);
    this.writer.publish(changes);
    for (const lane of lanes) this.listeners.resent(lane);
    return matched;
  }

  async #record(take: () => readonly ReceivedReport[]): Promise<Recorded> {
    const { report } = this.database.fastPaths;
    const reports = take();
    const places = await this.#places.find(this.database, reports);
    return fastOrSlow<Recorded>(
      report && (() => this.writer.run((sql, tx) => this.#fast(report, reports, places, sql, tx))),
      () => this.database.transaction((tx) => this.#slow(tx, reports, new Map(places))),
    );
  }

  async #fast(
    record: FastPaths['report'],
    reports: readonly ReceivedReport[],
    places: Places,
    sql: Sql,
    tx: Transaction | undefined,
  ): Promise<Recorded> {
    if (reports.some((report) => this.#isSpecial(report))) throw new ConcurrentChangeError();
    const matched = oneOfEachMessage(reports, places);
    const before = await record(sql, [...matched.values()]);
    const changes = before.flatMap(
      (message) => raiseBy(matched.get(keyOf(message))!.report, message) ?? [],
    );
    if (tx) {
      await this.writer.notify(tx, changes);
      await this.writer.guard(tx, changes);
    }
    return { changes, matched: reports.map(() => true) };
  }

  /** Reports with more to write than the log and the status. */
  #isSpecial({ waiting, event, details, status, errorCode }: ReceivedReport): boolean {
    const { channels } = this.database;
    return (
      waiting ||
      event !== null ||
      details !== null ||
      channels.maySuppress(status, errorCode) ||
      channels.mayCloseWindow(errorCode) ||
      channels.mayRedial(status)
    );
  }

  /** Reports of every kind, on every database; locks their messages in a fixed order. */
  async #slow(
    tx: Transaction,
    reports: readonly ReceivedReport[],
    places: Places,
  ): Promise<Recorded> {
    const redials = await this.#redials.lock(tx, places);
    const matches = await this.#match(tx, places);
    const changes: StatusChange[] = [];
    const billed: (readonly [ReceivedReport, LockedMessage])[] = [];
    const log = new Map<string, LogEntry>();
    const announced = await this.#announced(tx, reports);
    for (const report of reports) {
      const { place, message, submission } = matches.get(report) ?? {};
      const isAgain = report.event !== null && (announced.has(report.hash) || log.has(report.hash));
      const isOld = isAgain || (message && this.#isEarlier(message, submission));
      const redial = message && !isOld ? redialOf(report, message, redials) : undefined;
      const change = redial ?? (message && !isOld ? raiseBy(report, message) : undefined);
      if (change) changes.push(change);
      else if (message && !isOld && saysBilling(report)) billed.push([report, message]);
      if (report.waiting && (!place || (isWaiting(place) && report.recipient === null))) continue;
      if (log.has(report.hash) && !change) continue;
      const sequence = redial ? undefined : change?.sequence;
      // A row of a message has its recipient, or none.
      const recipient = message && report.recipient !== message.recipient ? null : report.recipient;
      const logged = place
        ? { ...report, recipient }
        : { ...report, details: waitingDetails(report) };
      log.set(report.hash, { report: logged, place: place ?? {}, sequence });
      if (redial) {
        // The report may be in the log already, with its status.
        const hash = digestId('redial', report.hash);
        const event = { ...report, recipient, hash, rank: null, rawStatus: redial.event! };
        log.set(hash, { report: event, place: place ?? {}, sequence: redial.sequence });
      }
    }
    await this.writer.log(tx, [...log.values()]);
    // With the statuses after all reports.
    const ofBilled = billed.map(([report, message]) => billedBy(report, message));
    await this.writer.write(tx, changes, [], ofBilled);
    const lanes = redials && (await this.#redials.write(tx, redials));
    const matched = reports.map((report) => !isWaiting(matches.get(report)?.place ?? {}));
    return { changes, matched, ...(lanes && { lanes }) };
  }

  /** Hashes of the events that are in the log with their message: they are announced once. */
  async #announced(
    tx: Transaction,
    reports: readonly ReceivedReport[],
  ): Promise<ReadonlySet<string>> {
    const events = reports.filter(({ event }) => event !== null);
    if (events.length === 0) return new Set();
    const rows = await tx.all<{ hash: string }>(
      this.#sql.logged,
      this.#sql.ids.bind(events.map(({ hash }) => hash)),
    );
    return new Set(rows.map(({ hash }) => hash));
  }

  /** Whether the message was sent again after the submission that the report is about. */
  #isEarlier(message: LockedMessage, submission: number | undefined): boolean {
    const mayBeSentAgain = this.database.channels.find(message.channel)?.redial !== undefined;
    return mayBeSentAgain && submission !== undefined && submission !== message.submission;
  }

  async #match(tx: Transaction, places: Places): Promise<Matches> {
    const matches = await this.#lock(tx, places);
    for (const report of matches.keys()) places.delete(report);
    // A provider may have reused a reference: the sweep then finds its new messages.
    if ([...places.values()].some(({ position }) => position !== undefined)) this.#places.forget();
    await this.#addBatches(tx, places, matches);
    return matches;
  }

  /** Reports of the same message share one object. */
  async #lock(tx: Transaction, places: Places): Promise<Matches> {
    const asked = new Map<string, MessagePlace>();
    for (const place of places.values())
      if (place.position !== undefined) asked.set(messageIdOf(place.batch, place.position), place);
    const matches: Matches = new Map();
    if (asked.size === 0) return matches;
    const rows = await tx.all<LockedMessage>(
      this.#sql.lockMessages,
      this.#sql.places.bind([...asked.values()].sort(inLockOrder)),
    );
    const locked = new Map(rows.map((message) => [keyOf(message), message]));
    for (const [report, place] of places) {
      const { batch, position } = place;
      const message = position === undefined ? undefined : locked.get(messageIdOf(batch, position));
      if (!message) continue;
      const erased = message.recipient === '';
      const isOurs = report.recipient === null || isSame(report.recipient, message.recipient);
      if (erased || isOurs || place.isOnly)
        matches.set(report, {
          place: { ...placeOf(message), erased },
          message,
          submission: place.submission,
        });
    }
    return matches;
  }

  /** A batch with an erased recipient does not store a recipient again. */
  async #addBatches(tx: Transaction, places: Places, matches: Matches): Promise<void> {
    if (places.size === 0) return;
    const rows = await tx.all<BatchRow>(
      this.#sql.batches,
      this.#sql.ids.bind([...new Set([...places.values()].map(({ batch }) => batch))]),
    );
    const found = new Map(rows.map((row) => [row.id, row]));
    for (const [report, { batch }] of places) {
      const row = found.get(batch);
      if (!row) continue;
      const { tenant, purged, erased } = row;
      // Retention may be deleting the batch at this moment: its reports would stay.
      const place = Number(purged) === 1 ? {} : { batch, tenant };
      matches.set(report, { place: { ...place, erased: Number(purged) + Number(erased) > 0 } });
    }
  }
}

/** A platform may report the number in another form than it was sent to. */
function isSame(reported: string, recipient: string): boolean {
  return reported === recipient || addressIdentity(reported) === addressIdentity(recipient);
}

/** The event that the report becomes where the message is sent again, which then waits for it. */
function redialOf(
  report: ReceivedReport,
  message: LockedMessage,
  redials: RedialGroup | undefined,
): StatusChange | undefined {
  const event = redials?.eventOf(report, message);
  if (event === undefined) return undefined;
  const { errorCode, status, providerTime, receivedAt, details } = report;
  const at = providerTime ? providerTime.getTime() * 1_000 : receivedAt;
  message.error_code = errorCode ?? status;
  const change = announce(message, event, at, message.error_code);
  message.status = -message.status;
  message.submission = null;
  return { ...change, details, isRedial: true };
}

/** Whether the report says how the platform bills the message. */
function saysBilling({ details }: ReceivedReport): boolean {
  return details !== null && 'billable' in details;
}

/** A report that leaves the status, for the spend guard; it has no number among the changes. */
function billedBy(report: ReceivedReport, message: LockedMessage): StatusChange {
  const { submission, status: previous, sequence, error_code: errorCode } = message;
  const { receivedAt: at, details } = report;
  const change = { message, submission, previous, status: previous, sequence, errorCode, at };
  return { ...change, event: BILLED, details };
}

interface BatchRow {
  readonly id: string;
  readonly tenant: string;
  /** 1: the content was erased. */
  readonly purged: string | number;
  /** 1: a recipient was erased. */
  readonly erased: string | number;
}

function placeOf({ batch, position, tenant }: LockedMessage): LogEntry['place'] {
  return { batch, position, tenant };
}

function isWaiting({ batch }: LogEntry['place']): boolean {
  return batch === undefined;
}

function keyOf({ batch, position }: Pick<LockedMessage, 'batch' | 'position'>): string {
  return messageIdOf(batch, position);
}

function inLockOrder(a: MessagePlace, b: MessagePlace): number {
  if (a.batch !== b.batch) return a.batch < b.batch ? -1 : 1;
  return (a.position ?? 0) - (b.position ?? 0);
}

/** @throws ConcurrentChangeError where a report has no message, or two reports have the same one */
function oneOfEachMessage(
  reports: readonly ReceivedReport[],
  places: Places,
): Map<string, MatchedReport> {
  const matched = new Map<string, MatchedReport>();
  for (const report of reports) {
    const { batch, position } = places.get(report) ?? {};
    if (batch === undefined || position === undefined) throw new ConcurrentChangeError();
    matched.set(messageIdOf(batch, position), { report, place: { batch, position } });
  }
  if (matched.size < reports.length) throw new ConcurrentChangeError();
  return matched;
}

function statementsFor(dialect: Dialect) {
  const names = dialect.rows<string>({ v_name: ['key', (name) => name] });
  const naming = (column: string) => `SELECT ${WAITING_COLUMNS} FROM ${names.keyed}
    ${dialect.join} messaging_report r ON r.${column} = v_name WHERE r.batch IS NULL`;
  const ids = dialect.rows<string>({ v_id: ['uuid', (id) => id] });
  const places = dialect.rows<MessagePlace>({
    v_batch: ['uuid', ({ batch }) => batch],
    v_position: ['int', ({ position }) => position],
  });
  const key = dialect.forceIndex('PRIMARY');
  return {
    names,
    ids,
    places,
    logged: `SELECT r.hash FROM ${ids.keyed} ${dialect.join} messaging_report r ON r.hash = v_id
      WHERE r.sequence IS NOT NULL`,
    batches: `SELECT b.id, b.tenant, CASE WHEN b.content IS NULL THEN 1 ELSE 0 END AS purged,
        ${HAS_ERASED} AS erased
      FROM ${ids.keyed} ${dialect.join} messaging_batch b ON b.id = v_id`,
    lockMessages: `SELECT ${LOCKED_COLUMNS} FROM ${places.keyed}
      ${dialect.join} messaging_message m ${key} ON m.batch = v_batch AND m.position = v_position
      JOIN messaging_batch b ${key} ON b.id = m.batch
      ORDER BY m.batch, m.position ${dialect.forUpdate('m')}`,
    named: `${naming('reference')} UNION ${naming('message_id')} ORDER BY id`,
    after: `SELECT ${WAITING_COLUMNS} FROM messaging_report r WHERE r.batch IS NULL AND r.id > ?
      ORDER BY r.id LIMIT ?`,
    expire: `DELETE FROM messaging_report WHERE batch IS NULL AND id > ? AND id <= ? AND received_at < ?`,
  };
}
