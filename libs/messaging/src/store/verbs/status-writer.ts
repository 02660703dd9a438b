import { messageIdOf } from '../../message/ids.js';
import {
  type CancelledBatch,
  MESSAGE_STATUS_CHANGED,
  type MessageStatusChanged,
} from '../../message/events.js';
import { STATUS_RANK } from '../../message/status.js';
import type { BatchLabels } from '../../message/labels.js';
import type { Channel } from '../../message/message.js';
import type { EventPublisher, StatusListeners } from '../../ports/listeners.js';
import type {
  GuardedCancellation,
  GuardedChange,
  GuardedEnd,
  SpendGuards,
  SpentAmount,
} from '../../ports/spend-guard.js';
import { inserter, type RowSource, type RowWriter, updater } from '../database/dialect.js';
import { countWriter } from '../rows/batch-counts.js';
import { INTO_LOG, LOG, type LogEntry, onLogged } from '../rows/received-report.js';
import type { BatchData } from '../reads/batch-data.js';
import type { BatchScope } from '../rows/cursor.js';
import type { LockedMessage, StatusChange } from '../rows/status.js';
import { CHUNK_SIZE } from '../schema/tables.js';
import type { ClosedWindow, StoreListeners } from '../store-listeners.js';
import type { StatusNotices } from './status-notices.js';
import type { Sql, StoreDatabase, Transaction } from '../database/store-database.js';

/** The messages of a cancelled batch from the position `from` on, which were never started. */
export interface NotStarted extends BatchScope {
  readonly id: string;
  readonly sender: string;
  readonly deliveryReport: number;
  readonly labelled: number;
  readonly guarded: number;
  readonly from: number;
  readonly recipients: number;
  /** Epoch microseconds. */
  readonly at: number;
}

/** A report that says how a message is billed, and raises no status. */
export const BILLED = 'billed';

/** Events that are published in one turn of the event loop. */
const EVENTS = 500;

/** What the spend guard charged by change. */
export type Spent = ReadonlyMap<StatusChange, SpentAmount>;

const NOTHING: Spent = new Map();

export class StatusWriter {
  /** Tags and metadata of the changes whose events need them; `undefined`: there are none. */
  readonly #labels = new WeakMap<StatusChange, BatchLabels | undefined>();
  /** Events that wait for their labels, and those behind them. */
  #publishing: Promise<void> | undefined;
  readonly #updateStatuses: RowWriter<LockedMessage>;
  readonly #insertLog: RowWriter<LogEntry>;
  readonly #addDetails: RowWriter<LogEntry>;
  readonly #wakeNotifications: RowWriter<string>;
  readonly #count: RowWriter<StatusChange>;
  readonly #earlierStatuses: { readonly sql: string; readonly rows: RowSource<StatusChange> };

  constructor(
    private readonly database: StoreDatabase,
    private readonly listeners: StatusListeners,
    private readonly above: StoreListeners,
    private readonly events: EventPublisher,
    private readonly notices: StatusNotices,
    private readonly data: Pick<BatchData, 'labels'>,
    private readonly spend: SpendGuards,
  ) {
    const { dialect } = database;
    this.#updateStatuses = updater(
      dialect,
      {
        v_batch: ['uuid', ({ batch }) => batch],
        v_position: ['int', ({ position }) => position],
        v_status: ['int', ({ status }) => status],
        v_sequence: ['int', ({ sequence }) => sequence],
        v_error: ['key', ({ error_code }) => error_code],
        v_reference: ['key', ({ reference }) => reference],
      },
      {
        table: 'messaging_message',
        set: 'status = v_status, sequence = v_sequence, error_code = v_error, reference = v_reference',
        where: 'messaging_message.batch = v_batch AND messaging_message.position = v_position',
      },
    );
    this.#insertLog = inserter(dialect, INTO_LOG, LOG, { suffix: onLogged(dialect) });
    this.#addDetails = updater(
      dialect,
      {
        v_hash: ['uuid', ({ report }) => report.hash],
        v_details: ['text', ({ report }) => report.details && JSON.stringify(report.details)],
      },
      {
        table: 'messaging_report',
        set: 'details = v_details',
        where: 'messaging_report.hash = v_hash',
        index: 'messaging_report_hash',
      },
    );
    this.#wakeNotifications = updater(
      dialect,
      { v_id: ['uuid', (id) => id] },
      {
        table: 'messaging_notification',
        set: 'due_at = 0',
        where: 'messaging_notification.id = v_id',
      },
    );
    this.#count = countWriter(dialect);
    const rows = dialect.rows<StatusChange>({
      v_batch: ['uuid', ({ message }) => message.batch],
      v_position: ['int', ({ message }) => message.position],
      v_sequence: ['int', ({ sequence, event }) => (event === undefined ? sequence : sequence + 1)],
    });
    this.#earlierStatuses = {
      rows,
      sql: `SELECT r.batch, r.position, count(*) AS statuses FROM ${rows.keyed}
        ${dialect.join} messaging_report r ${dialect.forceIndex('messaging_report_batch')}
          ON r.batch = v_batch AND r.position = v_position
        WHERE r.sequence > 0 AND r.sequence < v_sequence AND r.status IS NOT NULL
        GROUP BY r.batch, r.position`,
    };
  }

  /** Few entries have details, so that the others do without their column. */
  async log(tx: Transaction, entries: readonly LogEntry[]): Promise<void> {
    await this.#insertLog(tx, entries);
    await this.#addDetails(
      tx,
      entries.filter(({ report: { details } }) => details),
    );
  }

  /**
   * Writes the last state of each changed message, and of `others`; calls the listeners and the guard.
   * @param billed reports that change no status, for the spend guard alone
   */
  async write(
    tx: Transaction,
    changes: readonly StatusChange[],
    others: readonly LockedMessage[] = [],
    billed: readonly StatusChange[] = [],
  ): Promise<void> {
    await this.writeUnguarded(tx, changes, others);
    await this.guard(tx, [...changes, ...billed]);
  }

  /** As {@link write}, without the spend guard: call {@link guard} at the end of the transaction. */
  async writeUnguarded(
    tx: Transaction,
    changes: readonly StatusChange[],
    others: readonly LockedMessage[] = [],
  ): Promise<void> {
    const messages = new Set([...changes.map(({ message }) => message), ...others]);
    await this.#updateStatuses(tx, [...messages]);
    await this.wake(
      tx,
      changes.flatMap((change) => this.#stepEndedBy(change) ?? []),
    );
    await this.notify(tx, changes);
    await this.#count(tx, changes);
  }

  /** Has notifications looked at after the commit; call {@link publish} then. */
  async wake(tx: Transaction, notifications: readonly string[]): Promise<void> {
    // In one order, so that no two transactions wait for each other.
    await this.#wakeNotifications(tx, [...new Set(notifications)].toSorted());
  }

  /** A statement by itself; with listeners or a guard, a transaction in which `work` notifies them. */
  run<R>(work: (sql: Sql, tx?: Transaction) => Promise<R>): Promise<R> {
    if (this.listeners.empty && !this.spend.guard) return this.database.fastPath(work);
    return this.database.transaction((tx) => work(tx, tx));
  }

  /** Calls the listeners. */
  async notify(tx: Transaction, changes: readonly StatusChange[]): Promise<void> {
    const announced = changes.filter(({ sequence }) => sequence > 0);
    const suppressed = announced.flatMap((change) => this.#suppressedBy(change) ?? []);
    if (suppressed.length > 0) await this.above.suppressed(tx, suppressed);
    const closed = announced.flatMap((change) => this.#windowClosedBy(change) ?? []);
    if (closed.length > 0) await this.above.windowsClosed(tx, closed);
    if (!this.listeners.empty && announced.length > 0) {
      await this.#readLabels(announced, tx);
      const events = announced.map((change) => this.#eventOf(change));
      await this.database.runForeign(() => this.listeners.notify(events, tx.manager));
    }
  }

  /**
   * Tells the spend guard of changes of guarded messages. It locks the rows of tenants, for which
   * others wait until the commit: call it after all other locks are taken, and as the last statement.
   */
  async guard(tx: Transaction, changes: readonly StatusChange[]): Promise<Spent> {
    const { guard } = this.spend;
    if (!guard) return NOTHING;
    const guarded = changes.filter(
      ({ message, sequence, event }) =>
        message.guarded === 1 && (sequence > 0 || event !== undefined),
    );
    if (guarded.length === 0) return NOTHING;
    const statuses = await this.statusesOf(tx, guarded);
    const spent = guarded.map((change): GuardedChange => {
      const known = statuses.get(change);
      return known === undefined
        ? this.#eventOf(change)
        : { ...this.#eventOf(change), statuses: known };
    });
    const amounts = await this.database.runForeign(() => guard.onChanged(spent, tx.manager));
    if (!amounts) return NOTHING;
    return new Map(guarded.map((change, n) => [change, amounts[n] as SpentAmount]));
  }

  /** Of changes from and to `expired`, which a message may become with and without a provider. */
  protected async statusesOf(
    tx: Transaction,
    changes: readonly StatusChange[],
  ): Promise<ReadonlyMap<StatusChange, number>> {
    const expired = changes.filter(
      ({ previous, status, event }) =>
        (event === undefined || event === BILLED) &&
        [previous, status].includes(STATUS_RANK.expired),
    );
    if (expired.length === 0) return new Map();
    const { sql, rows } = this.#earlierStatuses;
    const found = await tx.all<{ batch: string; position: number; statuses: number | string }>(
      sql,
      rows.bind(expired),
    );
    const earlier = new Map(
      found.map((row) => [messageIdOf(row.batch, row.position), Number(row.statuses)]),
    );
    return new Map(
      expired.map((change) => {
        const { batch, position } = change.message;
        const own = change.event === undefined ? 1 : 0;
        return [change, own + (earlier.get(messageIdOf(batch, position)) ?? 0)];
      }),
    );
  }

  /** Before the spend guard is asked more than once: it locks the rows of these tenants in one order. */
  async guardTogether(tx: Transaction, tenants: Iterable<string>): Promise<void> {
    const { guard } = this.spend;
    const all = [...new Set(tenants)];
    if (!guard?.lock || all.length === 0) return;
    await this.database.runForeign(() => guard.lock?.(all, tx.manager) ?? Promise.resolve());
  }

  /** Tells the listeners of messages that were never started, by batch. */
  async notifyCancelled(tx: Transaction, batches: readonly NotStarted[]): Promise<void> {
    await this.#guardCancelled(
      tx,
      batches.filter(({ guarded }) => guarded === 1),
    );
    if (batches.length === 0 || !this.listeners.hearCancelled) return;
    const labelled = batches.flatMap(({ id, labelled }) => (labelled ? [id] : []));
    const labels = await this.data.labels(labelled, tx);
    const single = batches.flatMap(({ id, recipients }) => (recipients === 1 ? [id] : []));
    const recipients = await this.#recipientsOf(tx, single);
    const cancelled = batches.map((batch): CancelledBatch => ({
      tenant: batch.tenant,
      channel: batch.channel as Channel,
      batchId: batch.id,
      sender: batch.sender,
      recipient: recipients.get(batch.id) ?? null,
      messages: batch.recipients - batch.from,
      cancelledAt: new Date(batch.at / 1_000),
      ...labels.get(batch.id),
    }));
    await this.database.runForeign(() => this.listeners.notifyCancelled(cancelled, tx.manager));
  }

  /** Before the recipients of guarded batches are erased. */
  async guardEnd(tx: Transaction, batches: readonly GuardedEnd[]): Promise<void> {
    const { guard } = this.spend;
    if (!guard || batches.length === 0) return;
    await this.database.runForeign(() => guard.onEnded(batches, tx.manager));
  }

  async #guardCancelled(tx: Transaction, batches: readonly NotStarted[]): Promise<void> {
    const { guard } = this.spend;
    if (!guard || batches.length === 0) return;
    const cancelled: GuardedCancellation[] = [];
    for (const { id: batchId, tenant, channel, from } of batches) {
      const first = Math.floor(from / CHUNK_SIZE);
      const chunks = await tx.all<{ recipients: string }>(
        `SELECT c.recipients FROM messaging_batch_chunk c WHERE c.batch = ? AND c.n >= ? ORDER BY c.n`,
        [batchId, first],
      );
      const recipients = chunks.flatMap((chunk) => chunk.recipients.split('\n'));
      cancelled.push({
        tenant,
        batchId,
        channel: channel as Channel,
        recipients: recipients.slice(from - first * CHUNK_SIZE),
      });
    }
    await this.database.runForeign(() => guard.onCancelled(cancelled, tx.manager));
  }

  async #recipientsOf(tx: Sql, single: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (single.length === 0) return new Map();
    const rows = await tx.all<{ batch: string; recipients: string }>(
      `SELECT c.batch, c.recipients FROM messaging_batch_chunk c
       WHERE c.n = 0 AND c.batch IN (${single.map(() => '?').join(', ')})`,
      single,
    );
    return new Map(rows.map(({ batch, recipients }) => [batch, recipients]));
  }

  /** After the commit; many events over several turns of the event loop. */
  publish(changes: readonly StatusChange[]): void {
    this.notices.wake(changes);
    if (changes.some((change) => this.#stepEndedBy(change) !== undefined)) this.above.stepEnded();
    if (!this.events.wants(MESSAGE_STATUS_CHANGED)) return;
    if (!this.#publishing && this.#unlabelled(changes).length === 0)
      return this.#publishFrom(0, changes);
    const published = (this.#publishing ?? Promise.resolve())
      // An event without labels is better than none.
      .then(() => this.#readLabels(changes).catch(() => undefined))
      .then(() => this.#publishFrom(0, changes))
      .finally(() => {
        if (this.#publishing === published) this.#publishing = undefined;
      });
    this.#publishing = published;
  }

  /** Whether the events of statuses have a listener. */
  get isHeard(): boolean {
    return this.events.wants(MESSAGE_STATUS_CHANGED);
  }

  /** Resolves when all events have their labels. */
  async idle(): Promise<void> {
    await this.#publishing;
  }

  /** Changes of batches with tags or metadata that are not read yet. */
  #unlabelled(changes: readonly StatusChange[]): readonly StatusChange[] {
    return changes.filter((change) => change.message.labelled && !this.#labels.has(change));
  }

  async #readLabels(changes: readonly StatusChange[], sql?: Pick<Sql, 'all'>): Promise<void> {
    const unlabelled = this.#unlabelled(changes);
    if (unlabelled.length === 0) return;
    const labels = await this.data.labels(
      unlabelled.map(({ message }) => message.batch),
      sql,
    );
    for (const change of unlabelled) this.#labels.set(change, labels.get(change.message.batch));
  }

  #publishFrom(from: number, changes: readonly StatusChange[]): void {
    const end = from + EVENTS;
    for (const change of changes.slice(from, end))
      this.events.publish(MESSAGE_STATUS_CHANGED, this.#eventOf(change));
    if (end < changes.length) setImmediate(() => this.#publishFrom(end, changes));
  }

  /** The notification of which the change ends a step. */
  #stepEndedBy({ message, status, event }: StatusChange): string | undefined {
    if (message.notification === null || event !== undefined) return undefined;
    const { channels } = this.database;
    return channels.isTerminal(channels.statusOf(status)) ? message.notification : undefined;
  }

  #suppressedBy({ message, status, errorCode, event, details }: StatusChange) {
    const { channels } = this.database;
    const name = event ?? channels.statusOf(status);
    if (message.recipient === '' || !channels.maySuppress(name)) return undefined;
    const { tenant, channel, recipient: address, batch, position } = message;
    const rule = channels.suppressionOf(channel, name, errorCode, details ?? undefined);
    if (!rule) return undefined;
    const { category, reason } = rule;
    return { tenant, address, channel, category, reason, message: messageIdOf(batch, position) };
  }

  #windowClosedBy({ message, errorCode, at }: StatusChange): ClosedWindow | undefined {
    const { channels } = this.database;
    const { tenant, channel, sender, recipient: address } = message;
    if (address === '' || !channels.mayCloseWindow(errorCode)) return undefined;
    const codes = channels.find(channel)?.consent?.windowClosedBy;
    return codes?.includes(String(errorCode)) ? { tenant, address, sender, at } : undefined;
  }

  #eventOf(change: StatusChange): MessageStatusChanged {
    const { message, sequence, errorCode, event, details } = change;
    const { channels } = this.database;
    // Spread properties would take most of its time.
    const built: MessageStatusChanged = {
      tenant: message.tenant,
      channel: message.channel as Channel,
      batchId: message.batch,
      messageId: messageIdOf(message.batch, message.position),
      providerId: message.reference,
      sender: message.sender,
      recipient: message.recipient,
      previous: channels.statusOf(change.previous),
      status: channels.statusOf(change.status),
      errorCode,
      providerTime: new Date(Math.floor(change.at / 1_000)),
      sequence,
      deliveryReport: message.delivery_report === 1,
    };
    if (event !== undefined) Object.assign(built, { event });
    if (details) Object.assign(built, { details });
    return message.labelled ? Object.assign(built, this.#labels.get(change)) : built;
  }
}
