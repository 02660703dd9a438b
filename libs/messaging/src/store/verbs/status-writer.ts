import { MESSAGE_STATUS_CHANGED, type MessageStatusChanged } from '../../message/events.js';
import type { Channel } from '../../message/message.js';
import type { EventPublisher, StatusListeners } from '../../ports/listeners.js';
import type { Columns, Dialect, RowWriter } from '../database/dialect.js';
import type { HeldMessage, StatusChange } from '../rows/status.js';
import type { StatusNotices } from './status-notices.js';
import type { Sql, StoreDatabase, Transaction } from '../database/store-database.js';

export const LOG = {
  v_hash: 'uuid',
  v_tenant: 'key',
  v_batch: 'uuid',
  v_position: 'int',
  v_provider: 'key',
  v_reference: 'key',
  v_message_id: 'key',
  v_recipient: 'key',
  v_status: 'int',
  v_raw: 'key',
  v_error: 'key',
  v_provider_time: 'bigint',
  v_received: 'bigint',
  v_sequence: 'int',
} as const satisfies Columns;

/** In the order of {@link LOG}. */
export const LOG_COLUMNS = `hash, tenant, batch, position, provider, reference, message_id, recipient, status,
  raw_status, error_code, provider_time, received_at, sequence`;

/** The log's row of a change that no provider reported, in the order of {@link LOG}. */
export function logOf(
  { message, status, sequence, errorCode, at }: StatusChange,
  origin: {
    readonly hash?: string;
    readonly provider: string;
    readonly reference?: string | undefined;
    readonly messageId?: string | undefined;
    readonly rawStatus: string;
  },
): unknown[] {
  return [
    origin.hash ?? null,
    message.tenant,
    message.batch,
    message.position,
    origin.provider,
    origin.reference ?? null,
    origin.messageId ?? null,
    message.recipient,
    status,
    origin.rawStatus,
    errorCode,
    null,
    at,
    sequence,
  ];
}

/** SQL suffix: a waiting report in the log gets its batch and message, once. */
export function onLogged(dialect: Dialect): string {
  return dialect.onConflict(
    'hash',
    `tenant = CASE WHEN messaging_report.batch IS NULL THEN new.tenant ELSE messaging_report.tenant END,
     recipient = CASE WHEN messaging_report.batch IS NULL THEN new.recipient ELSE messaging_report.recipient END,
     position = coalesce(messaging_report.position, new.position),
     sequence = coalesce(messaging_report.sequence, new.sequence),
     batch = coalesce(messaging_report.batch, new.batch)`,
    'hash IS NOT NULL',
  );
}

export class StatusWriter {
  readonly #updateStatuses: RowWriter;
  readonly #insertLog: RowWriter;

  constructor(
    private readonly database: StoreDatabase,
    private readonly listeners: StatusListeners,
    private readonly events: EventPublisher,
    private readonly notices: StatusNotices,
  ) {
    const { dialect } = database;
    this.#updateStatuses = dialect.updater(
      {
        v_batch: 'uuid',
        v_position: 'int',
        v_status: 'int',
        v_sequence: 'int',
        v_error: 'key',
        v_reference: 'key',
      },
      {
        table: 'messaging_message',
        set: 'status = v_status, sequence = v_sequence, error_code = v_error, reference = v_reference',
        where: 'messaging_message.batch = v_batch AND messaging_message.position = v_position',
      },
    );
    this.#insertLog = dialect.inserter(`INSERT INTO messaging_report (${LOG_COLUMNS})`, LOG, {
      suffix: onLogged(dialect),
    });
  }

  /** Writes the last state of each changed message, and of `others`; calls the listeners. */
  async write(
    tx: Transaction,
    changes: readonly StatusChange[],
    others: readonly HeldMessage[] = [],
  ): Promise<void> {
    const messages = new Set([...changes.map(({ message }) => message), ...others]);
    if (messages.size === 0) return;
    const rows = [...messages].map((m) => [
      m.batch,
      m.position,
      m.status,
      m.sequence,
      m.error_code,
      m.reference,
    ]);
    await this.#updateStatuses(tx, rows);
    await this.notify(tx, changes);
  }

  get hasListeners(): boolean {
    return !this.listeners.empty;
  }

  /** Whether a listener, an event or a watch needs the changes. */
  get isObserved(): boolean {
    return (
      !this.listeners.empty || this.events.wants(MESSAGE_STATUS_CHANGED) || !this.notices.empty
    );
  }

  /** Where there are listeners, in a transaction in which they hear its changes. */
  run<R>(
    work: (sql: Sql) => Promise<R>,
    changesOf: (result: R) => readonly StatusChange[],
  ): Promise<R> {
    if (this.listeners.empty) return this.database.fastPath(work);
    return this.database.transaction(async (tx) => {
      const result = await work(tx);
      await this.notify(tx, changesOf(result));
      return result;
    });
  }

  async notify(tx: Transaction, changes: readonly StatusChange[]): Promise<void> {
    if (this.listeners.empty) return;
    const announced = changes.filter(({ sequence }) => sequence > 0);
    if (announced.length === 0) return;
    const events = announced.map((change) => this.#eventOf(change));
    await this.database.runForeign(() => this.listeners.notify(events, tx.manager));
  }

  /** @param rows in the order of {@link LOG} */
  async log(tx: Transaction, rows: readonly (readonly unknown[])[]): Promise<void> {
    if (rows.length > 0) await this.#insertLog(tx, rows);
  }

  /** After the commit. */
  publish(changes: readonly StatusChange[]): void {
    this.notices.wake(changes);
    if (this.events.wants(MESSAGE_STATUS_CHANGED))
      for (const change of changes)
        this.events.publish(MESSAGE_STATUS_CHANGED, this.#eventOf(change));
  }

  #eventOf(change: StatusChange): MessageStatusChanged {
    const { message, sequence, errorCode } = change;
    const { channels } = this.database;
    return {
      tenant: message.tenant,
      channel: message.channel as Channel,
      batchId: message.batch,
      messageId: `${message.batch}-${message.position}`,
      providerId: message.reference,
      sender: message.sender,
      recipient: message.recipient,
      previous: channels.statusOf(change.previous),
      status: channels.statusOf(change.status),
      errorCode,
      providerTime: new Date(Math.floor(change.at / 1_000)),
      sequence,
      deliveryReport: message.delivery_report === 1 ? 'yes' : 'none',
    };
  }
}
