import { STATUS_RANK } from '../../message/status.js';
import { ConcurrentChangeError } from '../concurrent-change.error.js';
import type { Sql } from '../store-database.js';
import type { PlainOutcome } from '../outcome.js';
import { BATCH_STATE } from '../batch-state.js';
import { SUBMISSION_OUTCOME } from '../outcome.js';

const ROWS = `(SELECT entry ->> 0 AS v_batch, entry ->> 1 AS v_reference, entry ->> 2 AS v_tenant
  FROM (SELECT value AS entry FROM json_each(?) LIMIT -1))`;
const AMONG = 'IN (SELECT value FROM json_each(?))';

const CLOSE = `UPDATE messaging_submission
  SET outcome = ${SUBMISSION_OUTCOME.accepted}, reference = v_reference, error_code = NULL, details = NULL, finished_at = ?
  FROM ${ROWS} WHERE batch = v_batch AND n = 0 AND outcome IS NULL`;
const LOG = `INSERT INTO messaging_report (tenant, batch, position, provider, reference, recipient, status, raw_status,
    received_at, sequence)
  SELECT v_tenant, m.batch, 0, ?, v_reference, m.recipient, ${STATUS_RANK.sent}, 'submit', ?, m.sequence + 1
  FROM ${ROWS} CROSS JOIN messaging_message m ON m.batch = v_batch AND m.position = 0 AND m.submission = 0
  WHERE m.status < ${STATUS_RANK.sent}`;
const RAISE = `UPDATE messaging_message SET status = ${STATUS_RANK.sent}, sequence = sequence + 1, error_code = NULL
  WHERE batch ${AMONG} AND position = 0 AND submission = 0 AND status < ${STATUS_RANK.sent}`;
const COMPLETE = `UPDATE messaging_batch SET state = ${BATCH_STATE.completed}, completed_at = ?, poll_at = ?
  WHERE id ${AMONG} AND state = ${BATCH_STATE.draining}`;

/** Each is the first submission of the only message of its batch, and the answers told no more than a reference. */
export function areLone(outcomes: readonly PlainOutcome[]): boolean {
  const [first] = outcomes;
  return outcomes.every(
    ({ n, firstPosition, lastPosition, messageIds, details, provider, intended }) =>
      intended.whole &&
      n === 0 &&
      firstPosition === 0 &&
      lastPosition === 0 &&
      !messageIds?.size &&
      !details &&
      provider === first?.provider,
  );
}

/**
 * Records acceptances of {@link areLone} messages on SQLite, where reading a row's columns out of JSON is
 * half of what a statement costs: what they have in common is bound once.
 *
 * @param at epoch microseconds
 * @param pollAt when missing reports are asked after, epoch microseconds
 * @throws ConcurrentChangeError where somebody has said before what became of one: all of it has to be rolled back
 */
export async function recordLone(
  sql: Sql,
  outcomes: readonly PlainOutcome[],
  at: number,
  pollAt: number,
): Promise<void> {
  const rows = JSON.stringify(
    outcomes.map(({ batch, reference, intended: { submission } }) => [
      batch,
      reference ?? null,
      submission.tenant,
    ]),
  );
  const ids = JSON.stringify(outcomes.map(({ batch }) => batch));
  const steps: [string, unknown[]][] = [
    [CLOSE, [at, rows]],
    [LOG, [outcomes[0]?.provider, at, rows]],
    [RAISE, [ids]],
    [COMPLETE, [at, pollAt, ids]],
  ];
  for (const [step, params] of steps)
    if ((await sql.run(step, params)) !== outcomes.length) throw new ConcurrentChangeError();
}
