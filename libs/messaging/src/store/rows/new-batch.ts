import type { Channel, MessageClass } from '../../message/message.js';
import { BATCH_STATE, PRIORITY } from './batch-state.js';
import { type Columns, type Dialect, into, type Statement } from '../database/dialect.js';
import type { Personal } from '../../message/content/email-content.js';
import type { StoredAttachment } from '../../message/channel-definition.js';
import { STATUS_RANK } from '../../message/status.js';
import { type LockedMessage, raise, type StatusChange } from './status.js';
import { type StoredContent, writeContent } from './stored-content.js';
import { CHUNK_SIZE } from '../schema/tables.js';

/** Times and durations in milliseconds. */
export interface NewBatch extends StoredContent {
  readonly id: string;
  readonly tenant: string;
  readonly channel: Channel;
  readonly lane: string;
  readonly class: MessageClass;
  readonly sender: string;
  readonly deliveryReport: boolean;
  readonly parts: number;
  /** Address keys; recipients that policy denied come first. */
  readonly recipients: readonly string[];
  /** Policy's code for each denied recipient. */
  readonly denied: readonly string[];
  /** Names and variables in the order of `recipients`, with `hasPersonal`. */
  readonly personal?: readonly (Personal | undefined)[] | undefined;
  /** Attachments of the content, which has their metadata. */
  readonly attachments?: readonly StoredAttachment[] | undefined;
  readonly createdAt: number;
  readonly sendAt: number | null;
  readonly validFor: number | null;
  readonly idempotencyKey: string | null;
  readonly fingerprint: string | null;
  /** The notification of which the batch is a step. @default none */
  readonly notification?: string | undefined;
  /** The app's spend guard decides on it. @default false */
  readonly guarded?: boolean;
  /** The library's own guard decides on it. @default false */
  readonly watched?: boolean;
  /** For the spend guard, of what the caller gave. @default none */
  readonly spender?: string | undefined;
}

/** The batch itself, or the earlier batch with its idempotency key. */
export interface EnqueuedBatch {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly recipients: number;
  readonly replayed: boolean;
  readonly changes: readonly StatusChange[];
}

/** Further rows that are stored with batches. */
export interface OwnRows {
  readonly guard?: {
    readonly statement: Statement;
    /** Rows that the statement must change; where it changes fewer, nothing is stored. */
    readonly rows: number;
  };
  /** With a guard it ends with a WHERE clause, to which a fast path adds a condition. */
  readonly insert: Statement;
}

const STORED = {
  v_id: ['uuid', ({ id }) => id],
  v_tenant: ['key', ({ tenant }) => tenant],
  v_channel: ['key', ({ channel }) => channel],
  v_lane: ['key', ({ lane }) => lane],
  v_priority: ['int', (batch) => PRIORITY[batch.class]],
  v_sender: ['key', ({ sender }) => sender],
  v_content: ['text', (batch) => writeContent(batch).json],
  v_delivery_report: ['int', ({ deliveryReport }) => (deliveryReport ? 1 : 0)],
  v_parts: ['int', ({ parts }) => parts],
  v_recipient_count: ['int', ({ recipients }) => recipients.length],
  v_created_at: ['bigint', ({ createdAt }) => createdAt * 1_000],
  v_send_at: ['bigint', ({ sendAt }) => sendAt && sendAt * 1_000],
  v_idempotency_key: ['key', ({ idempotencyKey }) => idempotencyKey],
  v_fingerprint: ['key', ({ fingerprint }) => fingerprint],
  v_labelled: ['int', ({ labels }) => (labels ? 1 : 0)],
  v_guarded: ['int', ({ guarded }) => (guarded ? 1 : 0)],
  v_denied: ['int', ({ denied }) => denied.length],
  v_notification: ['uuid', ({ notification }) => notification],
} satisfies Columns<NewBatch>;

export const NEW_BATCH: Columns<NewBatch> = {
  ...STORED,
  v_valid_for: ['bigint', ({ validFor }) => validFor && validFor * 1_000],
};

export const INTO_BATCHES = into('batch', STORED, 'available_at', 'valid_until', 'state');

export function batchValues(dialect: Dialect): string {
  // The clock is read once; the ids order the batches of one moment.
  const availableAt = dialect.greatest(`(SELECT ${dialect.now})`, 'coalesce(v_send_at, 0)');
  return `${Object.keys(STORED).join(', ')}, ${availableAt},
    CASE WHEN v_valid_for IS NOT NULL THEN ${availableAt} + v_valid_for END, ${BATCH_STATE.accepted}`;
}

interface Chunk {
  readonly batch: string;
  readonly n: number;
  readonly recipients: readonly string[];
}

export const CHUNK = {
  v_batch: ['uuid', ({ batch }) => batch],
  v_n: ['int', ({ n }) => n],
  v_recipients: ['text', ({ recipients }) => recipients.join('\n')],
} satisfies Columns<Chunk>;

export function chunksOf({ id, recipients }: NewBatch): Chunk[] {
  const chunks: Chunk[] = [];
  for (let n = 0; n * CHUNK_SIZE < recipients.length; n++)
    chunks.push({
      batch: id,
      n,
      recipients: recipients.slice(n * CHUNK_SIZE, (n + 1) * CHUNK_SIZE),
    });
  return chunks;
}

/** The change of a recipient that policy denied. */
export function rejection(batch: NewBatch, position: number): StatusChange {
  const message: LockedMessage = {
    batch: batch.id,
    position,
    recipient: batch.recipients[position] as string,
    tenant: batch.tenant,
    channel: batch.channel,
    sender: batch.sender,
    delivery_report: batch.deliveryReport ? 1 : 0,
    labelled: batch.labels ? 1 : 0,
    // The guard has not been asked about denied recipients.
    guarded: 0,
    notification: batch.notification ?? null,
    recipient_count: 0,
    submission: null,
    status: STATUS_RANK.queued,
    sequence: 0,
    error_code: null,
    reference: null,
  };
  const code = batch.denied[position] as string;
  return raise(message, STATUS_RANK.rejected, batch.createdAt * 1_000, code) as StatusChange;
}
