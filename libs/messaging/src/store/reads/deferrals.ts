import { STATUS_RANK } from '../../message/status.js';
import type { StoreDatabase } from '../database/store-database.js';
import { dateOf } from './report-list.js';

/**
 * @param status rank of the message
 * @param dueAt epoch microseconds
 */
export function deferredUntilOf(status: number | null, dueAt: string | number | null): Date | null {
  return status === STATUS_RANK.queued && dueAt !== null ? dateOf(dueAt) : null;
}

/** Why a deferred batch waits: the error of its next message, or the code of the policy that deferred it. */
export async function reasonOf(database: StoreDatabase, batch: string): Promise<string | null> {
  const [next] = await database.all<{ reason: string | null }>(
    `SELECT m.error_code AS reason FROM messaging_message m
     WHERE m.batch = ? AND m.status = ${STATUS_RANK.queued} AND m.due_at IS NOT NULL
     ORDER BY m.due_at, m.position LIMIT 1`,
    [batch],
  );
  return next?.reason ?? null;
}
