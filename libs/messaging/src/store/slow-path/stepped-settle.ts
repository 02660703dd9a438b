import { COMPLETED, isDraining } from '../rows/batch-state.js';
import { ConcurrentChangeError } from '../database/concurrent-change.error.js';
import type { Columns, Dialect } from '../database/dialect.js';
import {
  acceptedChanges,
  inLockOrder,
  messagesOf,
  type PlainOutcome,
  SUBMISSION_OUTCOME,
} from '../rows/outcome.js';
import { isBelow, nextSequence, raisedTo } from '../rows/status.js';
import type { SettleFastPath } from '../store.js';

const ACCEPTED = {
  v_batch: 'uuid',
  v_n: 'int',
  v_first: 'int',
  v_last: 'int',
  v_reference: 'key',
  v_message_id: 'key',
  v_details: 'text',
  v_tenant: 'key',
  v_provider: 'key',
  v_status: 'int',
  v_at: 'bigint',
} as const satisfies Columns;
const COMPLETION = { v_id: 'uuid', v_at: 'bigint', v_poll_at: 'bigint' } as const satisfies Columns;

/**
 * Records acceptances in four statements without prior reads, for drivers that cannot use one:
 * closes the open submissions, logs and raises their messages, completes the batches with one
 * submission. It assumes that no other outcome or report was recorded for the messages.
 *
 * Gain, per message of a campaign: on SQLite 4.4 instead of 12.4 µs of CPU time, on MariaDB 41
 * instead of 67 µs.
 */
export function steppedSettle(dialect: Dialect): SettleFastPath {
  const rows = dialect.rows(ACCEPTED);
  const completion = dialect.rows(COMPLETION);
  const [submission, message] = ['messaging_submission', 'messaging_message'];
  const close = dialect.updateFrom({
    table: submission,
    rows,
    set: `outcome = ${SUBMISSION_OUTCOME.accepted}, reference = v_reference, error_code = NULL,
      details = v_details, finished_at = v_at`,
    where: `${submission}.batch = v_batch AND ${submission}.n = v_n
      AND ${dialect.residual(`${submission}.outcome IS NULL`)}`,
  });
  const log = `INSERT INTO messaging_report (tenant, batch, position, provider, reference, message_id, recipient,
      status, raw_status, received_at, sequence)
    SELECT v_tenant, m.batch, m.position, v_provider, v_reference, v_message_id, m.recipient,
      v_status, 'submit', v_at, ${nextSequence('m')}
    FROM ${rows.sql} ${dialect.join} messaging_message m ${dialect.forceIndex('PRIMARY')}
      ON m.batch = v_batch AND m.position BETWEEN v_first AND v_last AND m.submission = v_n
    WHERE ${dialect.residual(isBelow('m', 'v_status'))}`;
  const raise = dialect.updateFrom({
    table: message,
    rows,
    set: `${raisedTo(message, 'v_status', 'NULL')}, reference = coalesce(v_message_id, ${message}.reference)`,
    where: `${message}.batch = v_batch AND ${message}.position BETWEEN v_first AND v_last
      AND ${message}.submission = v_n AND ${dialect.residual(isBelow(message, 'v_status'))}`,
  });
  const complete = dialect.updateFrom({
    table: 'messaging_batch',
    rows: completion,
    set: `${COMPLETED}, completed_at = v_at, poll_at = v_poll_at`,
    where: `messaging_batch.id = v_id AND ${dialect.residual(isDraining('messaging_batch'))}`,
  });
  return async (sql, given, { at, pollAfter, acceptedRankOf }) => {
    const outcomes = given.toSorted(inLockOrder);
    const params = rows.bind(outcomes.map((outcome) => rowOf(outcome, at, acceptedRankOf)));
    const messages = messagesOf(outcomes);
    const completed = outcomes.filter(({ intended }) => intended.whole);
    const pollAt = at + pollAfter * 1_000;
    const steps: [string, unknown[], number][] = [
      [close, params, outcomes.length],
      [log, params, messages],
      [raise, params, messages],
    ];
    if (completed.length > 0)
      steps.push([
        complete,
        completion.bind(completed.map(({ batch }) => [batch, at, pollAt])),
        completed.length,
      ]);
    for (const [step, bound, expected] of steps)
      if ((await sql.run(step, bound)) !== expected) throw new ConcurrentChangeError();
    return {
      changes: () => acceptedChanges(outcomes, at, acceptedRankOf),
      completed,
      missed: [],
    };
  };
}

function rowOf(
  outcome: PlainOutcome,
  at: number,
  acceptedRankOf: (channel: string) => number,
): unknown[] {
  const { submission } = outcome.intended;
  return [
    outcome.batch,
    outcome.n,
    outcome.firstPosition,
    outcome.lastPosition,
    outcome.reference ?? null,
    outcome.messageIds?.get(outcome.firstPosition) ?? null,
    outcome.details ? JSON.stringify(outcome.details) : null,
    submission.tenant,
    outcome.provider,
    acceptedRankOf(submission.channel),
    at,
  ];
}
