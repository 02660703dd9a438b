import type { StoreDatabase } from '../database/store-database.js';
import { SUBMISSION_OUTCOME } from '../rows/outcome.js';
import { idAt, newestBatches } from './newest-batches.js';

/** Newest batches of the period that are looked at. */
const MOST = 500;

/** Names of the providers that accepted the first submission of the newest batches of a period. */
export async function recentProviders(
  database: StoreDatabase,
  { since, until }: { readonly since: Date; readonly until: Date },
): Promise<string[]> {
  const batches = await newestBatches<{ id: string }>(database, 'b.id', {
    tenants: 'all',
    earliest: idAt(since.getTime(), '0'),
    latest: idAt(until.getTime(), 'f'),
    limit: MOST,
  });
  if (batches.length === 0) return [];
  const { dialect } = database;
  const ids = dialect.rows({ v_id: 'uuid' });
  const rows = await database.all<{ provider: string }>(
    `SELECT DISTINCT s.provider FROM ${ids.keyed}
     ${dialect.join} messaging_submission s ON s.batch = v_id AND s.n = 0
     WHERE s.outcome = ?`,
    [...ids.bind(batches.map(({ id }) => [id])), SUBMISSION_OUTCOME.accepted],
  );
  return rows.map(({ provider }) => provider);
}
