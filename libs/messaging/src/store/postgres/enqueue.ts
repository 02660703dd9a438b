import { BATCH_STATE } from '../rows/batch-state.js';
import { ConcurrentChangeError } from '../database/concurrent-change.error.js';
import {
  chunkRow,
  isPlainBatch,
  NEW_BATCH_NAMES,
  NEW_BATCH_SOURCE,
  newBatchRow,
} from '../rows/new-batch.js';
import type { FastPaths } from '../store.js';
import { POSTGRES_DIALECT } from './dialect.js';

const batchRows = POSTGRES_DIALECT.rows(NEW_BATCH_SOURCE);
const chunkRows = POSTGRES_DIALECT.rows({ v_batch: 'uuid', v_recipients: 'text' });
const AVAILABLE_AT = `greatest(${POSTGRES_DIALECT.now}, coalesce(v_send_at, 0))`;

function statement(onConflict: string): string {
  return `WITH stored AS (
      INSERT INTO messaging_batch (${NEW_BATCH_NAMES.join(', ')}, available_at, valid_until, state)
      SELECT ${NEW_BATCH_NAMES.map((name) => `v_${name}`).join(', ')}, ${AVAILABLE_AT},
        ${AVAILABLE_AT} + v_valid_for, ${BATCH_STATE.accepted}
      FROM ${batchRows.sql} ${onConflict})
    INSERT INTO messaging_batch_chunk (batch, n, recipients)
    SELECT v_batch, 0, v_recipients FROM ${chunkRows.sql} ${onConflict}`;
}

const INSERT = statement('');
const INSERT_AGAIN = statement('ON CONFLICT DO NOTHING');

/**
 * Stores batches and their chunks with one statement.
 *
 * Assumes batches without keys and denied recipients, of one chunk. Checks for stored batches only
 * on a retry: on a first attempt the check would be a fifth of the work.
 *
 * Gain: 11 times the throughput of one INSERT each with group commit (figure A3); one round trip
 * instead of five.
 */
export const enqueue: NonNullable<FastPaths['enqueue']> = async (sql, batches, again) => {
  if (!batches.every(isPlainBatch)) throw new ConcurrentChangeError();
  await sql.all(again ? INSERT_AGAIN : INSERT, [
    ...batchRows.bind(batches.map(newBatchRow)),
    ...chunkRows.bind(batches.map(chunkRow)),
  ]);
};
