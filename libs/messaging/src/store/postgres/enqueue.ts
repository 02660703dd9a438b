import { ConcurrentChangeError } from '../database/concurrent-change.error.js';
import { isDuplicate } from '../database/database-errors.js';
import { into } from '../database/dialect.js';
import { batchValues, CHUNK, chunksOf, INTO_BATCHES, NEW_BATCH } from '../rows/new-batch.js';
import type { FastPaths } from '../store.js';
import { POSTGRES_DIALECT } from './dialect.js';

const batches = POSTGRES_DIALECT.rows(NEW_BATCH);
const chunks = POSTGRES_DIALECT.rows(CHUNK);

const INSERT = `WITH stored AS (
    ${INTO_BATCHES} SELECT ${batchValues(POSTGRES_DIALECT)} FROM ${batches.sql})
  ${into('batch_chunk', CHUNK)} SELECT ${chunks.names.join(', ')} FROM ${chunks.sql}`;

/**
 * Assumes batches without keys and denied recipients, not stored already by an attempt whose
 * response was lost: to check would be a fifth of the work. Gain: 11 times the throughput of one
 * INSERT each with group commit (figure A3); one round trip instead of five.
 */
export const enqueue: FastPaths['enqueue'] = async (sql, given) => {
  if (given.some(({ idempotencyKey, denied }) => idempotencyKey !== null || denied.length > 0))
    throw new ConcurrentChangeError();
  await sql
    .all(INSERT, [...batches.bind(given), ...chunks.bind(given.flatMap(chunksOf))])
    .catch((error: unknown) => {
      throw isDuplicate(error) ? new ConcurrentChangeError() : error;
    });
};
