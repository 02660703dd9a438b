import { COMPLETED, isDraining } from '../rows/batch-state.js';
import { ConcurrentChangeError } from '../database/concurrent-change.error.js';
import { acceptedChanges, type PlainOutcome, SUBMISSION_OUTCOME } from '../rows/outcome.js';
import { isBelow, nextSequence, raisedTo } from '../rows/status.js';
import { steppedSettle } from '../slow-path/stepped-settle.js';
import type { SettleFastPath } from '../store.js';
import { SQLITE_DIALECT } from './dialect.js';

const ROWS = `(SELECT entry ->> 0 AS v_batch, entry ->> 1 AS v_reference, entry ->> 2 AS v_tenant
  FROM (SELECT value AS entry FROM json_each(?) LIMIT -1))`;
const IN_IDS = 'IN (SELECT value FROM json_each(?))';

const CLOSE = `UPDATE messaging_submission
  SET outcome = ${SUBMISSION_OUTCOME.accepted}, reference = v_reference, error_code = NULL, details = NULL, finished_at = ?
  FROM ${ROWS} WHERE batch = v_batch AND n = 0 AND outcome IS NULL`;
const LOG = `INSERT INTO messaging_report (tenant, batch, position, provider, reference, recipient, status, raw_status,
    received_at, sequence)
  SELECT v_tenant, m.batch, 0, ?, v_reference, m.recipient, ?, 'submit', ?, ${nextSequence('m')}
  FROM ${ROWS} CROSS JOIN messaging_message m ON m.batch = v_batch AND m.position = 0 AND m.submission = 0
  WHERE ${isBelow('m', '?')}`;
const RAISE = `UPDATE messaging_message SET ${raisedTo('messaging_message', '?', 'NULL')}
  WHERE batch ${IN_IDS} AND position = 0 AND submission = 0
    AND ${isBelow('messaging_message', '?')}`;
const COMPLETE = `UPDATE messaging_batch SET ${COMPLETED}, completed_at = ?, poll_at = ?
  WHERE id ${IN_IDS} AND ${isDraining('messaging_batch')}`;

const STEPPED = steppedSettle(SQLITE_DIALECT);

/**
 * The steps of {@link steppedSettle} with shared values bound once. Assumes that each message is
 * alone in its batch, that the responses had only a reference, and that all share provider and
 * channel.
 *
 * Gain: half the statements' time, because the driver spends half of it on reading columns from
 * JSON.
 */
export const SQLITE_SETTLE: SettleFastPath = {
  atomic: false,
  takes: () => true,
  async settle(sql, outcomes, context) {
    const [first] = outcomes as [PlainOutcome];
    if (!outcomes.every((outcome) => isLone(outcome, first)))
      return STEPPED.settle(sql, outcomes, context);
    const { at, pollAfter, acceptedRankOf } = context;
    const rank = acceptedRankOf(first.intended.submission.channel);
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
      [LOG, [first.provider, rank, at, rows, rank]],
      [RAISE, [rank, ids, rank]],
      [COMPLETE, [at, at + pollAfter * 1_000, ids]],
    ];
    for (const [step, params] of steps)
      if ((await sql.run(step, params)) !== outcomes.length) throw new ConcurrentChangeError();
    return {
      changes: () => acceptedChanges(outcomes, at, acceptedRankOf),
      completed: outcomes,
      missed: [],
    };
  },
};

function isLone(
  { n, firstPosition, lastPosition, messageIds, details, provider, intended }: PlainOutcome,
  first: PlainOutcome,
): boolean {
  return (
    intended.whole &&
    n === 0 &&
    firstPosition === 0 &&
    lastPosition === 0 &&
    !messageIds?.size &&
    !details &&
    provider === first.provider &&
    intended.submission.channel === first.intended.submission.channel
  );
}
