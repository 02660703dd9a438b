import { STATUS_RANK } from '../../message/status.js';
import type { IntendedBatch, IntendedSubmission, Intent } from '../intent.js';
import type { Sql } from '../store-database.js';
import { ConcurrentChangeError } from '../concurrent-change.error.js';
import { BATCH_STATE, isOpen } from '../batch-state.js';

/** Each is given recipients by their batches, as one JSON object. */
const START = `UPDATE messaging_batch SET state = ${BATCH_STATE.draining}
  WHERE id IN (SELECT key FROM json_each(?)) AND revision = ?
    AND ${isOpen('messaging_batch')}`;
const SUBMIT = `INSERT INTO messaging_submission
    (batch, n, first_position, last_position, attempt, fence, provider, first_sent_at)
  SELECT key, 0, 0, 0, 1, ?, ?, ? FROM json_each(?)`;
const WRITE = `INSERT INTO messaging_message (batch, position, submission, status, attempt, recipient)
  SELECT key, 0, 0, ${STATUS_RANK.sending}, 0, value FROM json_each(?)`;

/** Each is the only message of its batch, goes out for the first time and as it was accepted. */
export function areLoneIntents(
  batches: readonly IntendedBatch[],
  submissions: readonly IntendedSubmission[],
): boolean {
  const revision = batches[0]?.revision;
  const provider = submissions[0]?.provider;
  return (
    batches.length === submissions.length &&
    batches.every(
      (batch) =>
        batch.revision === revision &&
        !batch.pending &&
        !batch.requeued &&
        batch.parkUntil === null,
    ) &&
    submissions.every(
      ({ n, firstPosition, attempt, content, provider: its, recipients }) =>
        its === provider &&
        n === 0 &&
        firstPosition === 0 &&
        attempt === 1 &&
        content === null &&
        recipients.length === 1 &&
        !recipients[0]?.requeued,
    )
  );
}

/**
 * Writes down {@link areLoneIntents} on SQLite, where reading a row's columns out of JSON is half of what a
 * statement costs: what they have in common is bound once.
 *
 * @throws ConcurrentChangeError where somebody has changed one since it was planned: all of it has to be rolled back
 */
export async function intendLone(
  sql: Sql,
  { fence, firstSentAt }: Pick<Intent, 'fence' | 'firstSentAt'>,
  batches: readonly IntendedBatch[],
  submissions: readonly IntendedSubmission[],
): Promise<void> {
  const entries = submissions.map(
    ({ batch, recipients }) => `"${batch}":${JSON.stringify(recipients[0]?.recipient)}`,
  );
  const rows = `{${entries.join()}}`;
  if ((await sql.run(START, [rows, batches[0]?.revision])) !== batches.length)
    throw new ConcurrentChangeError();
  await sql.run(SUBMIT, [fence, submissions[0]?.provider, firstSentAt * 1_000, rows]);
  await sql.run(WRITE, [rows]);
}
