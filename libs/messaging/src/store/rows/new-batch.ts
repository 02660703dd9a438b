import type { Channel, MessageClass } from '../../message/message.js';
import { BATCH_STATE, PRIORITY } from './batch-state.js';
import type { Columns, Dialect } from '../database/dialect.js';
import type { StatusChange } from './status.js';
import { CHUNK_SIZE } from '../schema/tables.js';

/** Times and durations in milliseconds. */
export interface NewBatch {
  readonly id: string;
  readonly tenant: string;
  readonly channel: Channel;
  readonly lane: string;
  readonly class: MessageClass;
  readonly sender: string;
  /** JSON. */
  readonly content: string;
  readonly deliveryReport: boolean;
  readonly parts: number;
  /** Address keys; recipients that policy denied come first. */
  readonly recipients: readonly string[];
  /** Policy's code for each denied recipient. */
  readonly denied: readonly string[];
  readonly createdAt: number;
  readonly sendAt: number | null;
  readonly validFor: number | null;
  readonly idempotencyKey: string | null;
  readonly fingerprint: string | null;
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

/** The columns of a batch, and its validity. */
export const NEW_BATCH = {
  v_id: 'uuid',
  v_tenant: 'key',
  v_channel: 'key',
  v_lane: 'key',
  v_priority: 'int',
  v_sender: 'key',
  v_content: 'text',
  v_delivery_report: 'int',
  v_parts: 'int',
  v_recipient_count: 'int',
  v_created_at: 'bigint',
  v_send_at: 'bigint',
  v_idempotency_key: 'key',
  v_fingerprint: 'key',
  v_denied: 'int',
  v_valid_for: 'bigint',
} as const satisfies Columns;
const NAMES = Object.keys(NEW_BATCH).slice(0, -1);

export function newBatchRow(batch: NewBatch): unknown[] {
  return [
    batch.id,
    batch.tenant,
    batch.channel,
    batch.lane,
    PRIORITY[batch.class],
    batch.sender,
    batch.content,
    batch.deliveryReport ? 1 : 0,
    batch.parts,
    batch.recipients.length,
    batch.createdAt * 1_000,
    batch.sendAt === null ? null : batch.sendAt * 1_000,
    batch.idempotencyKey,
    batch.fingerprint,
    batch.denied.length,
    batch.validFor === null ? null : batch.validFor * 1_000,
  ];
}

export const INTO_BATCHES = `INSERT INTO messaging_batch
  (${NAMES.map((name) => name.slice(2)).join(', ')}, available_at, valid_until, state)`;

export function batchValues(dialect: Dialect): string {
  const { laneClock, now } = dialect;
  const availableAt = dialect.greatest(laneClock?.at ?? now, 'coalesce(v_send_at, 0)');
  return `${NAMES.join(', ')}, ${availableAt},
    CASE WHEN v_valid_for IS NOT NULL THEN ${availableAt} + v_valid_for END, ${BATCH_STATE.accepted}`;
}

export const CHUNK = {
  v_batch: 'uuid',
  v_n: 'int',
  v_recipients: 'text',
} as const satisfies Columns;
export const INTO_CHUNKS = 'INSERT INTO messaging_batch_chunk (batch, n, recipients)';

export function chunkRows({ id, recipients }: NewBatch): unknown[][] {
  const rows: unknown[][] = [];
  for (let n = 0; n * CHUNK_SIZE < recipients.length; n++)
    rows.push([id, n, recipients.slice(n * CHUNK_SIZE, (n + 1) * CHUNK_SIZE).join('\n')]);
  return rows;
}
