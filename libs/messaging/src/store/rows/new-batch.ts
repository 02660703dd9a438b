import type { Channel, MessageClass } from '../../message/message.js';
import { PRIORITY } from './batch-state.js';
import type { Columns } from '../database/dialect.js';
import type { StatusChange } from './status.js';
import { CHUNK_SIZE } from '../schema/tables.js';

/** A validated send, ready to be stored. Times and durations in milliseconds. */
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
  /** Address keys; the ones that policy denied come first. */
  readonly recipients: readonly string[];
  /** Policy's code for each of the first recipients. */
  readonly denied: readonly string[];
  readonly createdAt: number;
  readonly sendAt: number | null;
  readonly validFor: number | null;
  readonly idempotencyKey: string | null;
  readonly fingerprint: string | null;
}

/** The answer to a new batch: itself, or the batch that had its idempotency key first. */
export interface EnqueuedBatch {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly recipients: number;
  /** An earlier batch had the idempotency key. */
  readonly replayed: boolean;
  /** Statuses that messages of the batch began with. */
  readonly changes: readonly StatusChange[];
}

/** The columns a new batch is stored with, except those that the database's clock decides. */
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

/** The row source of new batches: their columns, and how long they are valid. */
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

/** What the fast paths of enqueueing assume: no key to look up, no denied recipient, one chunk of recipients. */
export function isPlainBatch({ idempotencyKey, denied, recipients }: NewBatch): boolean {
  return idempotencyKey === null && denied.length === 0 && recipients.length <= CHUNK_SIZE;
}

/** The store's unit of time. */
export function microseconds(milliseconds: number | null): number | null {
  return milliseconds === null ? null : milliseconds * 1_000;
}
