import { COMPLETED, isDraining } from '../rows/batch-state.js';
import { ACCEPTED, INTO_SUBMIT_LOG, messagesOf, SUBMISSION_ACCEPTED } from '../rows/outcome.js';
import { isBelow, raisedTo } from '../rows/status.js';
import type { SettleFastPath } from '../store.js';
import { POSTGRES_DIALECT as dialect } from './dialect.js';

const ROWS = dialect.rows(ACCEPTED);
const MESSAGE = 'messaging_message';

/** Each part works on the rows that the previous part changed. */
const STATEMENT = `WITH v AS MATERIALIZED (SELECT * FROM ${ROWS.keyed}),
    closed AS (
      UPDATE messaging_submission SET ${SUBMISSION_ACCEPTED} FROM v
      WHERE messaging_submission.batch = v_batch AND messaging_submission.n = v_n
        AND ${dialect.residual('messaging_submission.outcome IS NULL')}
      RETURNING v.*),
    raised AS (
      UPDATE ${MESSAGE} SET ${raisedTo(MESSAGE, 'v_status', 'NULL')},
        reference = coalesce(v_message_id, ${MESSAGE}.reference) FROM closed
      WHERE ${MESSAGE}.batch = v_batch AND ${MESSAGE}.position BETWEEN v_first AND v_last
        AND ${dialect.residual(`${MESSAGE}.submission = v_n AND ${isBelow(MESSAGE, 'v_status')}`)}
      RETURNING closed.*, ${MESSAGE}.position, ${MESSAGE}.recipient, ${MESSAGE}.sequence),
    logged AS (
      ${INTO_SUBMIT_LOG}
      SELECT v_tenant, v_batch, position, v_provider, v_reference, v_message_id, recipient,
        v_status, 'submit', v_at, sequence FROM raised),
    completed AS (
      UPDATE messaging_batch SET ${COMPLETED}, completed_at = v_at, poll_at = v_poll_at
      FROM closed WHERE v_poll_at IS NOT NULL AND messaging_batch.id = v_batch
        AND ${dialect.residual(isDraining('messaging_batch'))}
      RETURNING messaging_batch.id)
    SELECT (SELECT string_agg(concat(v_batch, '-', position), ' ') FROM raised) AS raised,
      (SELECT string_agg(id::text, ' ') FROM completed) AS completed
    WHERE (SELECT count(*) FROM raised) <> ?::int OR (SELECT count(*) FROM completed) <> ?::int`;

/** Lists separated by spaces; no row where everything changed. */
interface Changed {
  readonly raised: string | null;
  readonly completed: string | null;
}

/**
 * Assumes that no other outcome or report was recorded for the messages; otherwise it changes what
 * it can: recorded again, the outcomes change the rest. Gain: half the database time of a message;
 * one turn of the event loop where the slow path takes eight.
 */
export const settle: SettleFastPath = async (sql, accepted) => {
  const whole = accepted.filter(({ outcome }) => outcome.intended.whole);
  const [changed] = await sql.all<Changed>(STATEMENT, [
    ...ROWS.bind(accepted),
    messagesOf(accepted),
    whole.length,
  ]);
  return (
    changed && {
      raised: new Set(changed.raised?.split(' ')),
      completed: new Set(changed.completed?.split(' ')),
    }
  );
};
