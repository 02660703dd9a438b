import type { Channel, MessageClass } from '../../message/message.js';
import { PRIORITY } from './batch-state.js';
import type { Columns } from '../database/dialect.js';
import type { StatusChange } from './status.js';
import { CHUNK_SIZE } from '../schema/tables.js';

/** A validated send. Times and durations in milliseconds. */
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

/** The result for a new batch: the batch itself, or the earlier batch with its idempotency key. */
export interface EnqueuedBatch {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly recipients: number;
  /** An earlier batch has the idempotency key. */
  readonly replayed: boolean;
  /** Initial statuses of the batch's messages. */
  readonly changes: readonly StatusChange[];
}

/** The columns of a new batch, except those set from the database's clock. */
const NEW_BATCH_COLUMNS = {
  id: 'uuid',
  tenant: 'key',
  channel: 'key',
  lane: 'key',
  priority: 'int',
  sender: 'key',
  content: 'text',
  delivery_report: 'int',
  parts: 'int',
  recipient_count: 'int',
  created_at: 'bigint',
  send_at: 'bigint',
  idempotency_key: 'key',
  fingerprint: 'key',
  denied: 'int',
} as const satisfies Columns;

export const NEW_BATCH_NAMES = Object.keys(
  NEW_BATCH_COLUMNS,
) as readonly (keyof typeof NEW_BATCH_COLUMNS)[];

/** The row source of new batches: their columns and their validity. */
export const NEW_BATCH_SOURCE: Columns = {
  ...Object.fromEntries(NEW_BATCH_NAMES.map((name) => [`v_${name}`, NEW_BATCH_COLUMNS[name]])),
  v_valid_for: 'bigint',
};

/** Values of {@link NEW_BATCH_SOURCE}. */
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
    microseconds(batch.sendAt),
    batch.idempotencyKey,
    batch.fingerprint,
    batch.denied.length,
    microseconds(batch.validFor),
  ];
}

/** The only chunk of a {@link isPlainBatch plain batch}. */
export function chunkRow({ id, recipients }: NewBatch): unknown[] {
  return [id, recipients.join('\n')];
}

/**
 * Whether the fast paths of enqueueing can store the batch: no key, no denied recipient, one chunk.
 */
export function isPlainBatch({ idempotencyKey, denied, recipients }: NewBatch): boolean {
  return idempotencyKey === null && denied.length === 0 && recipients.length <= CHUNK_SIZE;
}

/** Converts to the store's unit of time. */
export function microseconds(milliseconds: number | null): number | null {
  return milliseconds === null ? null : milliseconds * 1_000;
}
