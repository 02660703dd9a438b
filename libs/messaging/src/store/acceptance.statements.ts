import {
  BATCH_COLUMN_NAMES,
  BATCH_COLUMNS,
  batchValues,
  isAlike,
  microseconds,
} from './batch-columns.js';
import { BATCH_STATE } from './batch-state.js';
import type { Columns, Dialect } from './dialect.js';
import type { NewBatch } from './new-batch.js';
import { CHUNK_SIZE } from './tables.js';

const VALUES = BATCH_COLUMN_NAMES.map((name) => `v_${name}`);
const BATCH: Columns = {
  ...Object.fromEntries(BATCH_COLUMN_NAMES.map((name) => [`v_${name}`, BATCH_COLUMNS[name]])),
  v_valid_for: 'bigint',
};
const CHUNK = { v_batch: 'uuid', v_n: 'int', v_recipients: 'text' } as const satisfies Columns;
/** In what concurrent batches without keys differ, and their only chunk. */
const OWN = {
  v_id: 'uuid',
  v_content: 'text',
  v_created_at: 'bigint',
  v_recipients: 'text',
} as const satisfies Columns;
const SHARED: Columns = Object.fromEntries(
  Object.entries(BATCH).filter(([name]) => !(name in OWN)),
);
const BATCH_NAMES = Object.keys(BATCH);
const SHARED_PLACES = Object.keys(SHARED).map((name) => BATCH_NAMES.indexOf(name));
const KEY = { v_tenant: 'key', v_channel: 'key', v_key: 'key' } as const satisfies Columns;

/** What acceptance says to the database. */
export function acceptanceStatements(dialect: Dialect) {
  const batch = dialect.rows(BATCH);
  const chunk = dialect.rows(CHUNK);
  const keys = dialect.rows(KEY);
  const ids = dialect.rows({ v_id: 'uuid' });
  const availableAt = dialect.greatest(dialect.now, 'coalesce(v_send_at, 0)');
  const batchesFrom = (rows: string, suffix = '') =>
    `INSERT INTO messaging_batch (${BATCH_COLUMN_NAMES.join(', ')}, available_at, valid_until, state)
      SELECT ${VALUES.join(', ')}, ${availableAt}, ${availableAt} + v_valid_for, ${BATCH_STATE.accepted}
      FROM ${rows} ${suffix}`;
  const chunksFrom = (rows: string, n: string, suffix = '') =>
    `INSERT INTO messaging_batch_chunk (batch, n, recipients)
      SELECT ${n}, v_recipients FROM ${rows} ${suffix}`;
  const unlessThere = {
    batch: `WHERE 1 = 1 ${dialect.ignoreConflict('messaging_batch', 'id')}`,
    chunk: `WHERE 1 = 1 ${dialect.ignoreConflict('messaging_batch_chunk', 'n')}`,
  };
  const insertBatches = batchesFrom(batch.sql, unlessThere.batch);
  const insertChunks = chunksFrom(chunk.sql, 'v_batch, v_n', unlessThere.chunk);
  const batchRows = (batches: readonly NewBatch[]) => batch.bind(batches.map(batchRowOf));
  const chunkRows = (batches: readonly NewBatch[]) => chunk.bind(batches.flatMap(chunkRowsOf));
  const own = dialect.rows(OWN);
  const shared = dialect.rows(SHARED);
  const insertAgain = `WITH stored AS (${insertBatches}) ${insertChunks}`;
  const insertAtOnce = `WITH stored AS (${batchesFrom(batch.sql)}) ${chunksFrom(chunk.sql, 'v_batch, v_n')}`;
  const insertAlike = `WITH own AS (SELECT * FROM ${own.sql}), shared AS (SELECT * FROM ${shared.sql}),
    stored AS (${batchesFrom('own CROSS JOIN shared')}) ${chunksFrom('own', 'v_id, 0')}`;
  const findKeys = `SELECT b.id, b.tenant, b.channel, b.idempotency_key, b.fingerprint, b.created_at, b.recipient_count
      FROM ${keys.keyed} ${dialect.join} messaging_batch b ${dialect.forceIndex('messaging_batch_idempotency')}
        ON b.tenant = v_tenant AND b.channel = v_channel AND b.idempotency_key = v_key`;
  return {
    keys,
    ids,
    insertBatches,
    insertChunks,
    /**
     * One statement and what it binds, for batches without keys: where none has to be looked at first, a
     * server is asked once and not five times. What all of them share is sent once. Only what is stored
     * `again` may be there; to look for it the first time would be a fifth of the work.
     */
    atOnce:
      dialect.kind !== 'postgres'
        ? undefined
        : (batches: readonly NewBatch[], again: boolean): [string, unknown[]] => {
            const [first] = batches;
            return !again && first && batches.every((one) => isAlike(first, one) && isOneChunk(one))
              ? [
                  insertAlike,
                  [...own.bind(batches.map(ownRowOf)), ...shared.bind([sharedRowOf(first)])],
                ]
              : [
                  again ? insertAgain : insertAtOnce,
                  [...batchRows(batches), ...chunkRows(batches)],
                ];
          },
    findKeys,
    selectKeys: `${findKeys} ${dialect.forUpdate('b')}`,
    releaseKeys: dialect.updateFrom({
      table: 'messaging_batch',
      rows: ids,
      set: 'idempotency_key = NULL',
      where: 'messaging_batch.id = v_id',
    }),
    batchRows,
    chunkRows,
  };
}

export type AcceptanceStatements = ReturnType<typeof acceptanceStatements>;

function batchRowOf(batch: NewBatch): unknown[] {
  return [...batchValues(batch), microseconds(batch.validFor)];
}

function ownRowOf({ id, content, createdAt, recipients }: NewBatch): unknown[] {
  return [id, content, microseconds(createdAt), recipients.join('\n')];
}

function sharedRowOf(batch: NewBatch): unknown[] {
  const row = batchRowOf(batch);
  return SHARED_PLACES.map((place) => row[place]);
}

/** Most are: a batch has a chunk for each thousand of its recipients. */
export function isOneChunk({ recipients }: NewBatch): boolean {
  return recipients.length <= CHUNK_SIZE;
}

function chunkRowsOf(batch: NewBatch): unknown[][] {
  const { id, recipients } = batch;
  if (isOneChunk(batch)) return [[id, 0, recipients.join('\n')]];
  const rows: unknown[][] = [];
  for (let n = 0; n * CHUNK_SIZE < recipients.length; n++)
    rows.push([id, n, recipients.slice(n * CHUNK_SIZE, (n + 1) * CHUNK_SIZE).join('\n')]);
  return rows;
}
