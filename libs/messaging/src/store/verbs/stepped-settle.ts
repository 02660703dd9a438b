import { COMPLETED, isDraining } from '../rows/batch-state.js';
import { ConcurrentChangeError } from '../database/concurrent-change.error.js';
import { type Dialect, grouped, type Relation } from '../database/dialect.js';
import { ACCEPTED, INTO_SUBMIT_LOG, messagesOf, SUBMISSION_ACCEPTED } from '../rows/outcome.js';
import { isBelow, nextSequence, raisedTo } from '../rows/status.js';
import type { SettleFastPath } from '../store.js';

/**
 * Four statements without prior reads, for drivers that cannot use one. Assumes that no other
 * outcome or report was recorded for the messages. Gain, per message of a campaign: more than half
 * of the CPU time on SQLite; on MariaDB 41 µs instead of 67.
 */
export function steppedSettle(dialect: Dialect): SettleFastPath {
  const group = grouped(dialect, ACCEPTED, (rows) => statementsFor(dialect, rows));
  return async (sql, accepted) => {
    const { built, params } = group(accepted);
    const messages = messagesOf(accepted);
    const whole = accepted.filter(({ outcome }) => outcome.intended.whole).length;
    const isAssumed =
      (await sql.run(built.close, params)) === accepted.length &&
      (await sql.run(built.log, params)) === messages &&
      (await sql.run(built.raise, params)) === messages &&
      (whole === 0 || (await sql.run(built.complete, params)) === whole);
    if (!isAssumed) throw new ConcurrentChangeError();
    return undefined;
  };
}

function statementsFor(dialect: Dialect, rows: Relation) {
  const [submission, message] = ['messaging_submission', 'messaging_message'];
  return {
    close: dialect.updateFrom({
      table: submission,
      rows,
      set: SUBMISSION_ACCEPTED,
      where: `${submission}.batch = v_batch AND ${submission}.n = v_n
        AND ${dialect.residual(`${submission}.outcome IS NULL`)}`,
    }),
    log: `${INTO_SUBMIT_LOG}
      SELECT v_tenant, m.batch, m.position, v_provider, v_reference, v_message_id, m.recipient,
        v_status, 'submit', v_at, ${nextSequence('m')}
      FROM ${rows.sql} ${dialect.join} messaging_message m ${dialect.forceIndex('PRIMARY')}
        ON m.batch = v_batch AND m.position BETWEEN v_first AND v_last AND m.submission = v_n
      WHERE ${dialect.residual(isBelow('m', 'v_status'))}`,
    raise: dialect.updateFrom({
      table: message,
      rows,
      set: `${raisedTo(message, 'v_status', 'NULL')}, reference = coalesce(v_message_id, ${message}.reference)`,
      where: `${message}.batch = v_batch AND ${message}.position BETWEEN v_first AND v_last
        AND ${message}.submission = v_n AND ${dialect.residual(isBelow(message, 'v_status'))}`,
    }),
    complete: dialect.updateFrom({
      table: 'messaging_batch',
      rows,
      set: `${COMPLETED}, completed_at = v_at, poll_at = v_poll_at`,
      where: `messaging_batch.id = v_batch AND v_poll_at IS NOT NULL
        AND ${dialect.residual(isDraining('messaging_batch'))}`,
    }),
  };
}
