import { BATCH_COLUMN_NAMES, BATCH_COLUMNS, batchValues, microseconds } from './batch-columns.js';
import type { Columns, Dialect } from './dialect.js';
import type { NewBatch } from './new-batch.js';
import { BATCH_PHASE, CHUNK_SIZE } from './schema.js';

const VALUES = BATCH_COLUMN_NAMES.map((name) => `v_${name}`);
const BATCH: Columns = {
  ...Object.fromEntries(BATCH_COLUMN_NAMES.map((name) => [`v_${name}`, BATCH_COLUMNS[name]])),
  v_valid_for: 'bigint',
};
const CHUNK = { v_batch: 'uuid', v_n: 'int', v_recipients: 'text' } as const satisfies Columns;
const KEY = { v_tenant: 'key', v_channel: 'key', v_key: 'key' } as const satisfies Columns;

/** What acceptance says to the database. */
export function acceptanceStatements(dialect: Dialect) {
  const batch = dialect.rows(BATCH);
  const chunk = dialect.rows(CHUNK);
  const keys = dialect.rows(KEY);
  const ids = dialect.rows({ v_id: 'uuid' });
  const availableAt = dialect.greatest(dialect.now, 'coalesce(v_send_at, 0)');
  const insertBatches = `INSERT INTO messaging_batch (${BATCH_COLUMN_NAMES.join(', ')}, available_at, valid_until, phase, pending)
      SELECT ${VALUES.join(', ')}, ${availableAt}, ${availableAt} + v_valid_for, ${BATCH_PHASE.accepted}, 1
      FROM ${batch.sql} WHERE 1 = 1 ${dialect.ignoreConflict('messaging_batch', 'id')}`;
  const insertChunks = `INSERT INTO messaging_batch_chunk (batch, n, recipients)
      SELECT v_batch, v_n, v_recipients FROM ${chunk.sql} WHERE 1 = 1
      ${dialect.ignoreConflict('messaging_batch_chunk', 'n')}`;
  const findKeys = `SELECT b.id, b.tenant, b.channel, b.idempotency_key, b.fingerprint, b.created_at, b.recipient_count
      FROM ${keys.few} ${dialect.join} messaging_batch b ${dialect.by('messaging_batch_idempotency')}
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
    batchRows: (batches: readonly NewBatch[]) =>
      batch.bind(batches.map((one) => [...batchValues(one), microseconds(one.validFor)])),
    chunkRows: (batches: readonly NewBatch[]) => chunk.bind(batches.flatMap(chunkRowsOf)),
  };
}

export type AcceptanceStatements = ReturnType<typeof acceptanceStatements>;

function chunkRowsOf({ id, recipients }: NewBatch): unknown[][] {
  if (recipients.length <= CHUNK_SIZE) return [[id, 0, recipients.join('\n')]];
  const rows: unknown[][] = [];
  for (let n = 0; n * CHUNK_SIZE < recipients.length; n++)
    rows.push([id, n, recipients.slice(n * CHUNK_SIZE, (n + 1) * CHUNK_SIZE).join('\n')]);
  return rows;
}
