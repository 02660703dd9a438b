import { BatchNotFoundError, MessageNotFoundError } from '../../message/errors.js';
import type { Channel, MessageContent } from '../../message/message.js';
import type { BatchStatus, MessageStatus } from '../../message/status.js';
import type {
  BatchView,
  MessageTimeline,
  MessageView,
  Page,
  ReportView,
  StatusCounts,
  SubmittedMessage,
} from '../../message/views.js';
import { type BatchState, stateOf } from '../rows/batch-state.js';
import { type BatchScope, decodeCursor, encodeCursor, type PageRequest } from '../rows/cursor.js';
import type { ReportLog } from './report-log.js';
import { CHUNK_SIZE } from '../schema/tables.js';
import type { Sql, StoreDatabase } from '../database/store-database.js';
import { readContent } from '../rows/stored-content.js';

export interface BatchRow {
  readonly state: number;
  readonly id: string;
  readonly tenant: string;
  readonly channel: Channel;
  readonly lane: string;
  readonly sender: string;
  readonly content: string | null;
  readonly delivery_report: number;
  readonly parts: number;
  readonly recipient_count: number;
  readonly created_at: string | number;
  readonly send_at: string | number | null;
  readonly valid_until: string | number | null;
  readonly due: number | boolean;
}

interface MessageRow {
  readonly position: number;
  readonly recipient: string;
  readonly status: number;
  readonly attempt: number;
  readonly error_code: string | null;
}

/** A message with its batch and submission; the message's columns are null where no row exists yet. */
interface SubmittedRow {
  readonly state: number;
  readonly batch: string;
  readonly sender: string;
  readonly content: string | null;
  readonly created_at: string | number;
  readonly recipient_count: number;
  readonly position: number | null;
  readonly recipient: string | null;
  readonly status: number | null;
  readonly attempt: number | null;
  readonly error_code: string | null;
  readonly reference: string | null;
  readonly first_sent_at: string | number | null;
  readonly substitute: string | null;
  readonly details: string | null;
}

const BATCH_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const MESSAGE_ID = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-(\d{1,7})$/;

/** Form of a provider's id in the store. */
const REFERENCE = /^[^\p{Cc}\p{Cs}]{1,255}$/u;

/** Page size for the report log. */
const REPORT_PAGE = 1_000;

const MESSAGE_COLUMNS = 'position, recipient, status, attempt, error_code';

const SUBMITTED_COLUMNS = `b.id AS batch, b.sender, b.content, b.created_at, b.state, b.recipient_count,
  m.position, m.recipient, m.status, m.attempt, m.error_code, m.reference,
  s.first_sent_at, s.content AS substitute, s.details`;

/** Reads batches and messages. */
export class Reads {
  readonly #batches: string;

  constructor(
    private readonly database: StoreDatabase,
    private readonly reports: ReportLog,
  ) {
    this.#batches = `SELECT b.id, b.tenant, b.channel, b.lane, b.sender, b.content, b.delivery_report, b.parts,
      b.recipient_count, b.created_at, b.send_at, b.valid_until, b.state,
      CASE WHEN b.available_at <= ${database.dialect.now} THEN 1 ELSE 0 END AS due FROM messaging_batch b`;
  }

  /** @throws BatchNotFoundError */
  async batch(id: string, scope: BatchScope): Promise<BatchView> {
    const views = await this.#viewsOf([await this.batchRow(this.database, id, scope)]);
    return views[0] as BatchView;
  }

  /** Lists batches, newest first. */
  async batches(scope: BatchScope, { cursor, limit }: PageRequest): Promise<Page<BatchView>> {
    const after = cursor === undefined ? '' : 'AND b.id < ?';
    const rows = await this.database.all<BatchRow>(
      `${this.#batches} WHERE b.tenant = ? AND b.channel = ? ${after} ORDER BY b.id DESC LIMIT ?`,
      [
        scope.tenant,
        scope.channel,
        ...(cursor === undefined ? [] : [decodeCursor(cursor, 'uuid')]),
        limit + 1,
      ],
    );
    const page = rows.slice(0, limit);
    return {
      data: await this.#viewsOf(page),
      nextCursor: rows.length > limit ? encodeCursor((page.at(-1) as BatchRow).id) : null,
    };
  }

  /** Every recipient, in the order of acceptance. @throws BatchNotFoundError */
  async recipients(id: string, scope: BatchScope): Promise<string[]> {
    await this.batchRow(this.database, id, scope);
    const rows = await this.database.all<{ recipients: string }>(
      'SELECT recipients FROM messaging_batch_chunk WHERE batch = ? ORDER BY n',
      [id],
    );
    return rows.flatMap(({ recipients }) => recipients.split('\n'));
  }

  /** The messages that have started, in the order of the batch. @throws BatchNotFoundError */
  async messages(
    id: string,
    scope: BatchScope,
    { cursor, limit }: PageRequest,
  ): Promise<Page<MessageView>> {
    await this.batchRow(this.database, id, scope);
    const rows = await this.database.all<MessageRow>(
      `SELECT ${MESSAGE_COLUMNS} FROM messaging_message WHERE batch = ? AND position > ? ORDER BY position LIMIT ?`,
      [id, cursor === undefined ? -1 : Number(decodeCursor(cursor, 'position')), limit + 1],
    );
    const page = rows.slice(0, limit);
    return {
      data: page.map((row) => ({
        id: `${id}-${row.position}`,
        batchId: id,
        position: row.position,
        recipient: row.recipient,
        status: this.#statusOf(row.status),
        errorCode: row.error_code,
        attempts: row.attempt,
      })),
      nextCursor:
        rows.length > limit ? encodeCursor(String((page.at(-1) as MessageRow).position)) : null,
    };
  }

  /**
   * One message with its submit response.
   * @param id `{batchId}-{position}`, or the provider's id where the provider gives one
   * @throws MessageNotFoundError
   */
  async message(id: string, scope: BatchScope): Promise<SubmittedMessage> {
    const [, batch, digits] = MESSAGE_ID.exec(id) ?? [];
    const position = Number(digits);
    const row =
      batch === undefined
        ? await this.#byReference(id, scope)
        : await this.#byPlace(batch, position, scope);
    if (!row || (batch !== undefined && position >= row.recipient_count))
      throw new MessageNotFoundError(id);
    const at = row.position ?? position;
    return {
      ...answerOf(row),
      id: `${row.batch}-${at}`,
      batchId: row.batch,
      position: at,
      recipient: row.recipient ?? (await this.#plannedRecipient(row.batch, at)),
      content: contentOf(row.substitute ?? row.content),
      status: row.status === null ? notStartedStatus(stateOf(row)) : this.#statusOf(row.status),
      errorCode: row.error_code,
      attempts: row.attempt ?? 0,
      providerId: row.reference,
      acceptedAt: dateOf(row.created_at),
      sentAt: row.first_sent_at === null ? null : dateOf(row.first_sent_at),
    };
  }

  /** One message with all its reports. @throws MessageNotFoundError */
  async timeline(id: string, scope: BatchScope): Promise<MessageTimeline> {
    const message = await this.message(id, scope);
    const reports: ReportView[] = [];
    let cursor: string | null = null;
    do {
      const filter = {
        batchIds: [message.batchId],
        limit: REPORT_PAGE,
        ...(cursor !== null && { cursor }),
      };
      const page = await this.reports.find(scope, filter, message.position);
      reports.push(...page.data);
      cursor = page.nextCursor;
    } while (cursor !== null);
    return { ...message, reports };
  }

  /**
   * @param lock whether the row is locked until the transaction ends
   * @throws BatchNotFoundError
   */
  async batchRow(
    sql: Pick<Sql, 'all'>,
    id: string,
    { tenant, channel }: BatchScope,
    lock = false,
  ): Promise<BatchRow> {
    if (!isBatchId(id)) throw new BatchNotFoundError(String(id).slice(0, 36));
    const [row] = await sql.all<BatchRow>(
      `${this.#batches} WHERE b.id = ? AND b.tenant = ? AND b.channel = ? ${lock ? this.database.dialect.forUpdate('b') : ''}`,
      [id, tenant, channel],
    );
    if (!row) throw new BatchNotFoundError(id);
    return row;
  }

  #statusOf(rank: number): MessageStatus {
    return this.database.channels.statusOf<MessageStatus>(rank);
  }

  async #viewsOf(rows: readonly BatchRow[]): Promise<BatchView[]> {
    const counts = await this.#countsOf(rows);
    return rows.map((row) => ({
      id: row.id,
      tenant: row.tenant,
      channel: row.channel,
      sender: row.sender,
      content: contentOf(row.content),
      deliveryReport: row.delivery_report === 1 ? 'yes' : 'none',
      status: batchStatusOf(row),
      createdAt: dateOf(row.created_at),
      sendAt: row.send_at === null ? null : dateOf(row.send_at),
      validUntil: row.valid_until === null ? null : dateOf(row.valid_until),
      recipients: row.recipient_count,
      parts: row.parts,
      counts: counts.get(row.id) ?? {},
    }));
  }

  /** Messages by status; a recipient without a message row is queued, or cancelled with its batch. */
  async #countsOf(rows: readonly BatchRow[]): Promise<Map<string, StatusCounts>> {
    const counts = new Map<string, StatusCounts>(rows.map(({ id }) => [id, {}]));
    if (rows.length === 0) return counts;
    const { dialect } = this.database;
    const ids = dialect.rows({ v_id: 'uuid' });
    const grouped = await this.database.all<{
      batch: string;
      status: number;
      messages: string | number;
    }>(
      `SELECT m.batch, m.status, count(*) AS messages FROM ${ids.keyed} ${dialect.join} messaging_message m ON m.batch = v_id
       GROUP BY m.batch, m.status`,
      ids.bind(rows.map(({ id }) => [id])),
    );
    for (const { batch, status, messages } of grouped)
      (counts.get(batch) as StatusCounts)[this.#statusOf(status)] = Number(messages);
    for (const row of rows) {
      const own = counts.get(row.id) as StatusCounts;
      const started = Object.values(own).reduce((sum, n) => sum + n, 0);
      const rest = notStartedStatus(stateOf(row));
      if (started < row.recipient_count)
        own[rest] = (own[rest] ?? 0) + row.recipient_count - started;
    }
    return counts;
  }

  async #byPlace(
    batch: string,
    position: number,
    { tenant, channel }: BatchScope,
  ): Promise<SubmittedRow | undefined> {
    const [row] = await this.database.all<SubmittedRow>(
      `SELECT ${SUBMITTED_COLUMNS} FROM messaging_batch b
       LEFT JOIN messaging_message m ON m.batch = b.id AND m.position = ?
       LEFT JOIN messaging_submission s ON s.batch = m.batch AND s.n = m.submission
       WHERE b.id = ? AND b.tenant = ? AND b.channel = ?`,
      [position, batch, tenant, channel],
    );
    return row;
  }

  async #byReference(
    reference: string,
    { tenant, channel }: BatchScope,
  ): Promise<SubmittedRow | undefined> {
    if (!REFERENCE.test(reference)) return undefined;
    const [row] = await this.database.all<SubmittedRow>(
      `SELECT ${SUBMITTED_COLUMNS} FROM messaging_message m
       JOIN messaging_batch b ON b.id = m.batch AND b.tenant = ? AND b.channel = ?
       LEFT JOIN messaging_submission s ON s.batch = m.batch AND s.n = m.submission
       WHERE m.reference = ?`,
      [tenant, channel, reference],
    );
    return row;
  }

  /** The recipient of a message that has no row yet. */
  async #plannedRecipient(batch: string, position: number): Promise<string> {
    const [chunk] = await this.database.all<{ recipients: string }>(
      'SELECT recipients FROM messaging_batch_chunk WHERE batch = ? AND n = ?',
      [batch, Math.floor(position / CHUNK_SIZE)],
    );
    return chunk?.recipients.split('\n')[position % CHUNK_SIZE] ?? '';
  }
}

/** Whether the value has the form of a batch id, as `send()` returns it. */
export function isBatchId(id: unknown): id is string {
  return typeof id === 'string' && BATCH_ID.test(id);
}

/**
 * Price and sender from the provider's response; the requested sender where the response has none.
 */
function answerOf({ details, sender }: SubmittedRow) {
  const answer = (details === null ? {} : JSON.parse(details)) as Record<string, unknown>;
  const text = (value: unknown) =>
    typeof value === 'string' || typeof value === 'number' ? String(value) : null;
  return {
    sender: text(answer['sender']) ?? sender,
    category: text(answer['category']),
    cost: text(answer['cost']),
    currency: text(answer['currency']),
  };
}

function contentOf(json: string | null): MessageContent | null {
  return json === null ? null : readContent(json).content;
}

function notStartedStatus(state: BatchState): 'cancelled' | 'queued' {
  return state === 'cancelled' ? 'cancelled' : 'queued';
}

function batchStatusOf(row: BatchRow): BatchStatus {
  const state = stateOf(row);
  switch (state) {
    case 'accepted':
      return Number(row.due) === 1 ? 'queued' : 'scheduled';
    case 'sending':
    case 'retrying':
    case 'deferred':
    case 'draining':
      return 'sending';
    case 'completed':
    case 'cancelled':
      return state;
  }
}

function dateOf(microseconds: string | number): Date {
  return new Date(Math.floor(Number(microseconds) / 1_000));
}
