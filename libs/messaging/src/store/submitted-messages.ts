import { MessageNotFoundError } from '../message/errors.js';
import type { MessageContent } from '../message/message.js';
import type { ChannelRegistry } from '../message/channel-registry.js';
import type { MessageStatus } from '../message/status.js';
import type { SubmittedMessage } from '../message/views.js';
import type { BatchScope } from './batches.js';
import type { StoreDatabase } from './store-database.js';
import { BATCH_PHASE, CHUNK_SIZE } from './schema.js';
import { readContent } from './stored-content.js';

const MESSAGE_ID = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-(\d{1,7})$/;

/** What a provider's id may be, as the store keeps it. */
const REFERENCE = /^[^\p{Cc}\p{Cs}]{1,255}$/u;

interface SubmittedRow {
  readonly batch: string;
  readonly sender: string;
  readonly content: string | null;
  readonly created_at: string | number;
  readonly phase: number;
  readonly recipient_count: number;
  readonly position: number | null;
  readonly recipient: string | null;
  readonly status: number | null;
  readonly attempt: number | null;
  readonly error_code: string | null;
  readonly reference: string | null;
  readonly first_sent_at: string | number | null;
  readonly instead: string | null;
  readonly details: string | null;
}

const COLUMNS = `b.id AS batch, b.sender, b.content, b.created_at, b.phase, b.recipient_count,
  m.position, m.recipient, m.status, m.attempt, m.error_code, m.reference,
  s.first_sent_at, s.content AS instead, s.details`;

/** Single messages, with what the answer to their submit told. */
export class SubmittedMessages {
  constructor(private readonly database: StoreDatabase) {}

  /**
   * @param id ours (`{batchId}-{position}`), or the provider's where it gives one
   * @throws MessageNotFoundError
   */
  async find(id: string, scope: BatchScope): Promise<SubmittedMessage> {
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
      recipient: row.recipient ?? (await this.#planned(row.batch, at)),
      content: contentOf(row.instead ?? row.content),
      status: statusOf(row, this.database.channels),
      errorCode: row.error_code,
      attempts: row.attempt ?? 0,
      providerId: row.reference,
      acceptedAt: dateOf(row.created_at),
      sentAt: row.first_sent_at === null ? null : dateOf(row.first_sent_at),
    };
  }

  async #byPlace(
    batch: string,
    position: number,
    scope: BatchScope,
  ): Promise<SubmittedRow | undefined> {
    const [row] = await this.database.all<SubmittedRow>(
      `SELECT ${COLUMNS} FROM messaging_batch b
       LEFT JOIN messaging_message m ON m.batch = b.id AND m.position = ?
       LEFT JOIN messaging_submission s ON s.batch = m.batch AND s.n = m.submission
       WHERE b.id = ? AND b.tenant = ? AND b.channel = ?`,
      [position, batch, scope.tenant, scope.channel],
    );
    return row;
  }

  async #byReference(reference: string, scope: BatchScope): Promise<SubmittedRow | undefined> {
    if (!REFERENCE.test(reference)) return undefined;
    const [row] = await this.database.all<SubmittedRow>(
      `SELECT ${COLUMNS} FROM messaging_message m
       JOIN messaging_batch b ON b.id = m.batch AND b.tenant = ? AND b.channel = ?
       LEFT JOIN messaging_submission s ON s.batch = m.batch AND s.n = m.submission
       WHERE m.reference = ?`,
      [scope.tenant, scope.channel, reference],
    );
    return row;
  }

  /** The recipient of a message that has not begun. */
  async #planned(batch: string, position: number): Promise<string> {
    const [chunk] = await this.database.all<{ recipients: string }>(
      'SELECT recipients FROM messaging_batch_chunk WHERE batch = ? AND n = ?',
      [batch, Math.floor(position / CHUNK_SIZE)],
    );
    return chunk?.recipients.split('\n')[position % CHUNK_SIZE] ?? '';
  }
}

/** What the answer told of price and sender; the sender asked for, where it did not. */
function answerOf({ details, sender }: SubmittedRow) {
  const told = (details === null ? {} : JSON.parse(details)) as Record<string, unknown>;
  const text = (value: unknown) =>
    typeof value === 'string' || typeof value === 'number' ? String(value) : null;
  return {
    sender: text(told['sender']) ?? sender,
    category: text(told['category']),
    cost: text(told['cost']),
    currency: text(told['currency']),
  };
}

function contentOf(json: string | null): MessageContent | null {
  return json === null ? null : readContent(json).content;
}

/** What no row records is queued, or cancelled with its batch. */
function statusOf({ status, phase }: SubmittedRow, channels: ChannelRegistry): MessageStatus {
  if (status !== null) return channels.statusOf(status);
  return phase === BATCH_PHASE.cancelled ? 'cancelled' : 'queued';
}

function dateOf(micros: string | number): Date {
  return new Date(Math.floor(Number(micros) / 1_000));
}
