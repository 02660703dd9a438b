import { COMPLETED, isDraining } from '../rows/batch-state.js';
import { ConcurrentChangeError } from '../database/concurrent-change.error.js';
import type { Dialect, RowWriter } from '../database/dialect.js';
import { acceptedChanges, inLockOrder, messagesOf, SUBMISSION_OUTCOME } from '../rows/outcome.js';
import { isBelow, nextSequence, raisedTo } from '../rows/status.js';
import type { SettleFastPath } from '../store.js';

/**
 * Four statements without prior reads, for drivers that cannot use one. Assumes that no other
 * outcome or report was recorded for the messages. Gain, per message of a campaign: on SQLite 4.4
 * instead of 12.4 µs of CPU time, on MariaDB 41 instead of 67 µs.
 */
export function steppedSettle(dialect: Dialect): SettleFastPath {
  const [submission, message] = ['messaging_submission', 'messaging_message'];
  const key = { v_batch: 'uuid', v_n: 'int' } as const;
  const range = {
    ...key,
    v_first: 'int',
    v_last: 'int',
    v_message_id: 'key',
    v_status: 'int',
  } as const;
  const close = dialect.updater(
    { ...key, v_reference: 'key', v_details: 'text', v_at: 'bigint' },
    {
      table: submission,
      set: `outcome = ${SUBMISSION_OUTCOME.accepted}, reference = v_reference, error_code = NULL,
        details = v_details, finished_at = v_at`,
      where: `${submission}.batch = v_batch AND ${submission}.n = v_n
        AND ${dialect.residual(`${submission}.outcome IS NULL`)}`,
    },
  );
  const log = dialect.inserter(
    `INSERT INTO messaging_report (tenant, batch, position, provider, reference, message_id, recipient,
      status, raw_status, received_at, sequence)`,
    { ...range, v_reference: 'key', v_tenant: 'key', v_provider: 'key', v_at: 'bigint' },
    {
      values: `v_tenant, m.batch, m.position, v_provider, v_reference, v_message_id, m.recipient,
        v_status, 'submit', v_at, ${nextSequence('m')}`,
      where: `${dialect.join} messaging_message m ${dialect.forceIndex('PRIMARY')}
        ON m.batch = v_batch AND m.position BETWEEN v_first AND v_last AND m.submission = v_n
        WHERE ${dialect.residual(isBelow('m', 'v_status'))}`,
    },
  );
  const raise = dialect.updater(range, {
    table: message,
    set: `${raisedTo(message, 'v_status', 'NULL')}, reference = coalesce(v_message_id, ${message}.reference)`,
    where: `${message}.batch = v_batch AND ${message}.position BETWEEN v_first AND v_last
      AND ${message}.submission = v_n AND ${dialect.residual(isBelow(message, 'v_status'))}`,
  });
  const complete = dialect.updater(
    { v_id: 'uuid', v_at: 'bigint', v_poll_at: 'bigint' },
    {
      table: 'messaging_batch',
      set: `${COMPLETED}, completed_at = v_at, poll_at = v_poll_at`,
      where: `messaging_batch.id = v_id AND ${dialect.residual(isDraining('messaging_batch'))}`,
    },
  );
  return async (sql, given, { at, pollAfter, acceptedRankOf }) => {
    const outcomes = given.toSorted(inLockOrder);
    const completed = outcomes.filter(({ intended }) => intended.whole);
    const rows = outcomes.map((one) => {
      const { batch, n, reference = null, details, intended } = one;
      const { tenant, channel } = intended.submission;
      const id = one.messageIds?.get(one.firstPosition) ?? null;
      const raised = [batch, n, one.firstPosition, one.lastPosition, id, acceptedRankOf(channel)];
      return {
        closed: [batch, n, reference, details ? JSON.stringify(details) : null, at],
        raised,
        logged: [...raised, reference, tenant, one.provider, at],
      };
    });
    const messages = messagesOf(outcomes);
    const pollAt = at + pollAfter * 1_000;
    const steps: [RowWriter, unknown[][], number][] = [
      [close, rows.map(({ closed }) => closed), outcomes.length],
      [log, rows.map(({ logged }) => logged), messages],
      [raise, rows.map(({ raised }) => raised), messages],
      [complete, completed.map(({ batch }) => [batch, at, pollAt]), completed.length],
    ];
    for (const [write, values, expected] of steps)
      if (values.length > 0 && (await write(sql, values)) !== expected)
        throw new ConcurrentChangeError();
    return {
      changes: () => acceptedChanges(outcomes, at, acceptedRankOf),
      completed,
      missed: [],
    };
  };
}
