import { PRIORITY } from './batch-state.js';
import type { Columns } from './dialect.js';
import type { NewBatch } from './new-batch.js';

/** The columns a new batch is stored with, but for those the database's clock decides. */
export const BATCH_COLUMNS = {
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

type BatchColumn = keyof typeof BATCH_COLUMNS;

export const BATCH_COLUMN_NAMES = Object.keys(BATCH_COLUMNS) as readonly BatchColumn[];

/** In the order of the columns. */
export function batchValues(batch: NewBatch): unknown[] {
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
  ];
}

/** Do they share every column but id, content, time of creation, key and fingerprint; has each a key, or neither? */
export function isAlike(a: NewBatch, b: NewBatch): boolean {
  return (
    a.lane === b.lane &&
    a.sender === b.sender &&
    a.tenant === b.tenant &&
    a.channel === b.channel &&
    a.class === b.class &&
    a.deliveryReport === b.deliveryReport &&
    a.parts === b.parts &&
    a.recipients.length === b.recipients.length &&
    a.denied.length === b.denied.length &&
    a.sendAt === b.sendAt &&
    a.validFor === b.validFor &&
    (a.idempotencyKey === null) === (b.idempotencyKey === null)
  );
}

/** The store's unit of time. */
export function microseconds(milliseconds: number | null): number | null {
  return milliseconds === null ? null : milliseconds * 1_000;
}
