import { STATUS_RANK } from '../../message/status.js';
import { type Dialect, updater } from '../database/dialect.js';
import { isUnderWay, setBack } from '../rows/batch-state.js';
import { OUTCOME, type Outcome, reasonOf, SUBMISSION_OUTCOME } from '../rows/outcome.js';
import { LOCKED_COLUMNS } from '../rows/status.js';
import { triesWriter } from '../rows/tries.js';

/** A batch is deferred where so many of its messages are as it has; the next plan defers others. */
export interface BatchDeferral {
  readonly batch: string;
  /** Milliseconds; 0: it is not deferred. */
  readonly wait: number;
  readonly messages: number;
}

/** Every message of a batch. */
export const ALL = 2 ** 31 - 1;

/** A message that becomes `queued` again; what is `undefined` stays as it is in its row. */
export interface SetBack {
  readonly batch: string;
  readonly position: number;
  readonly errorCode?: string;
  readonly attempts?: number;
  readonly countedFailures?: number;
  readonly refusedBy?: string;
  /** Milliseconds; 0: it is not deferred. */
  readonly deferFor: number;
}

/** Statements that record outcomes on the slow path. */
export function statementsFor(dialect: Dialect) {
  const ids = dialect.rows<string>({ v_id: ['uuid', (id) => id] });
  const keys = dialect.rows<Outcome>({
    v_batch: ['uuid', ({ batch }) => batch],
    v_n: ['int', ({ n }) => n],
  });
  const submissions = dialect.rows<{ readonly outcome: Outcome; readonly at: number }>({
    ...OUTCOME,
    v_outcome: ['int', ({ outcome }) => SUBMISSION_OUTCOME[outcome.result]],
    v_error: ['key', ({ outcome }) => reasonOf(outcome).errorCode],
    v_text: ['text', ({ outcome }) => reasonOf(outcome).errorText],
  });
  const key = dialect.forceIndex('PRIMARY');
  return {
    ids,
    keys,
    submissions,
    lockBatches: `SELECT b.id, b.state FROM ${ids.keyed}
      ${dialect.join} messaging_batch b ${key} ON b.id = v_id ORDER BY b.id ${dialect.forUpdate('b')}`,
    lockSubmissions: `SELECT s.batch, s.n, s.fence FROM ${keys.keyed}
      ${dialect.join} messaging_submission s ${key} ON s.batch = v_batch AND s.n = v_n
        AND ${dialect.residual('s.outcome IS NULL')}
      ORDER BY s.batch, s.n ${dialect.forUpdate('s')}`,
    closeSubmissions: dialect.updateFrom({
      table: 'messaging_submission',
      rows: submissions,
      set: `outcome = v_outcome, reference = coalesce(v_reference, messaging_submission.reference),
        error_code = v_error, error_text = v_text, details = v_details, finished_at = v_at`,
      where: `messaging_submission.batch = v_batch AND messaging_submission.n = v_n
        AND ${dialect.residual(`(messaging_submission.outcome IS NULL OR messaging_submission.outcome = ${SUBMISSION_OUTCOME.unknown})`)}`,
    }),
    lockMessages: `SELECT ${LOCKED_COLUMNS} FROM ${submissions.keyed}
      ${dialect.join} messaging_message m ${key}
        ON m.batch = v_batch AND m.position BETWEEN v_first AND v_last AND m.submission = v_n
      JOIN messaging_batch b ${key} ON b.id = m.batch
      ORDER BY m.batch, m.position ${dialect.forUpdate('m')}`,
    setBack: updater<SetBack>(
      dialect,
      {
        v_batch: ['uuid', ({ batch }) => batch],
        v_position: ['int', ({ position }) => position],
        v_attempt: ['int', ({ attempts }) => attempts],
        v_counted_failures: ['int', ({ countedFailures }) => countedFailures],
        v_error: ['key', ({ errorCode }) => errorCode],
        v_refused_by: ['key', ({ refusedBy }) => refusedBy],
        v_defer: ['bigint', ({ deferFor }) => Math.round(deferFor * 1_000)],
      },
      {
        table: 'messaging_message',
        set: `status = ${STATUS_RANK.queued}, submission = NULL, 
        error_code = coalesce(v_error, error_code),
        refused_by = CASE WHEN v_refused_by IS NULL THEN refused_by ELSE nullif(v_refused_by, '') END,
        attempt = coalesce(v_attempt, attempt), counted_failures = coalesce(v_counted_failures, counted_failures),
        due_at = CASE WHEN v_defer > 0 THEN ${dialect.now} + v_defer END`,
        where: `messaging_message.batch = v_batch AND messaging_message.position = v_position
        AND ${dialect.residual(`messaging_message.status = ${STATUS_RANK.sending}`)}`,
      },
    ),
    countTries: triesWriter(dialect),
    // The new revision excludes the batch from slices that were planned before.
    reopenBatches: updater<BatchDeferral>(
      dialect,
      {
        v_id: ['uuid', ({ batch }) => batch],
        v_defer: ['bigint', ({ wait }) => Math.round(wait * 1_000)],
        v_messages: ['int', ({ messages }) => Math.min(ALL, messages)],
      },
      {
        table: 'messaging_batch',
        set: setBack(
          `CASE WHEN v_defer > 0 AND v_messages >= messaging_batch.recipient_count THEN ${dialect.now} + v_defer END`,
        ),
        where: `messaging_batch.id = v_id AND ${dialect.residual(isUnderWay('messaging_batch'))}`,
      },
    ),
  };
}
