import type { Columns, Dialect } from './dialect.js';
import type { NewBatch } from './new-batch.js';
import { BATCH_PHASE, CHUNK_SIZE, CLASS_ORDER } from './schema.js';

const BATCH = {
  v_id: 'uuid',
  v_tenant: 'key',
  v_channel: 'key',
  v_lane: 'key',
  v_class: 'int',
  v_sender: 'key',
  v_content: 'text',
  v_report: 'int',
  v_parts: 'int',
  v_count: 'int',
  v_created: 'bigint',
  v_send_at: 'bigint',
  v_valid_for: 'bigint',
  v_key: 'key',
  v_fingerprint: 'key',
  v_denied: 'int',
} as const satisfies Columns;
const CHUNK = { v_batch: 'uuid', v_n: 'int', v_recipients: 'text' } as const satisfies Columns;
const KEY = { v_tenant: 'key', v_channel: 'key', v_key: 'key' } as const satisfies Columns;

/** What acceptance says to the database. */
export function acceptanceStatements(dialect: Dialect) {
  const batch = dialect.rows(BATCH);
  const chunk = dialect.rows(CHUNK);
  const keys = dialect.rows(KEY);
  const ids = dialect.rows({ v_id: 'uuid' });
  const availableAt = dialect.greatest(dialect.now, 'coalesce(v_send_at, 0)');
  const insertBatches = `INSERT INTO messaging_batch (id, tenant, channel, lane, class, sender, content, delivery_report,
        parts, recipient_count, created_at, send_at, available_at, valid_until, phase, pending,
        idempotency_key, fingerprint, denied)
      SELECT v_id, v_tenant, v_channel, v_lane, v_class, v_sender, v_content, v_report,
        v_parts, v_count, v_created, v_send_at, ${availableAt}, ${availableAt} + v_valid_for,
        ${BATCH_PHASE.accepted}, 1, v_key, v_fingerprint, v_denied
      FROM ${batch.sql} WHERE 1 = 1 ${dialect.ignoreConflict('messaging_batch', 'id')}`;
  const insertChunks = `INSERT INTO messaging_batch_chunk (batch, n, recipients)
      SELECT v_batch, v_n, v_recipients FROM ${chunk.sql} WHERE 1 = 1
      ${dialect.ignoreConflict('messaging_batch_chunk', 'n')}`;
  const findKeys = `SELECT b.id, b.tenant, b.channel, b.idempotency_key, b.fingerprint, b.created_at, b.recipient_count
      FROM ${keys.sql} ${dialect.join} messaging_batch b ${dialect.by('messaging_batch_idempotency')}
        ON b.tenant = v_tenant AND b.channel = v_channel AND b.idempotency_key = v_key`;
  return {
    keys,
    ids,
    insertBatches,
    insertChunks,
    // Where no key has to be looked at first, a server is asked once and not five times.
    insertAtOnce:
      dialect.kind === 'postgres' ? `WITH stored AS (${insertBatches}) ${insertChunks}` : undefined,
    findKeys,
    selectKeys: `${findKeys} ${dialect.forUpdate('b')}`,
    releaseKeys: dialect.updateFrom({
      table: 'messaging_batch',
      rows: ids,
      set: 'idempotency_key = NULL',
      where: 'messaging_batch.id = v_id',
    }),
    batchRows: (batches: readonly NewBatch[]) => batch.bind(batches.map(batchRow)),
    chunkRows: (batches: readonly NewBatch[]) => chunk.bind(batches.flatMap(chunkRowsOf)),
  };
}

export type AcceptanceStatements = ReturnType<typeof acceptanceStatements>;

function batchRow(batch: NewBatch): unknown[] {
  return [
    batch.id,
    batch.tenant,
    batch.channel,
    batch.lane,
    CLASS_ORDER[batch.class],
    batch.sender,
    batch.content,
    batch.deliveryReport ? 1 : 0,
    batch.parts,
    batch.recipients.length,
    batch.createdAt * 1_000,
    batch.sendAt === null ? null : batch.sendAt * 1_000,
    batch.validFor === null ? null : batch.validFor * 1_000,
    batch.idempotencyKey,
    batch.fingerprint,
    batch.denied.length,
  ];
}

function chunkRowsOf({ id, recipients }: NewBatch): unknown[][] {
  const rows: unknown[][] = [];
  for (let n = 0; n * CHUNK_SIZE < recipients.length; n++)
    rows.push([id, n, recipients.slice(n * CHUNK_SIZE, (n + 1) * CHUNK_SIZE).join('\n')]);
  return rows;
}
