import { STATUS_RANK } from '../message/status.js';
import { isUnderWay, setBack } from './batch-state.js';
import type { Columns, Dialect } from './dialect.js';
import { SUBMISSION_OUTCOME } from './outcome.js';
import { HELD_COLUMNS } from './status.js';

const SUBMISSION = {
  v_batch: 'uuid',
  v_n: 'int',
  v_first: 'int',
  v_last: 'int',
  v_outcome: 'int',
  v_reference: 'key',
  v_error: 'key',
  v_details: 'text',
  v_at: 'bigint',
} as const satisfies Columns;
const BACK = {
  v_batch: 'uuid',
  v_position: 'int',
  v_attempt: 'int',
  v_error: 'key',
} as const satisfies Columns;
const REFERENCE = {
  v_batch: 'uuid',
  v_position: 'int',
  v_reference: 'key',
} as const satisfies Columns;

export type OutcomeStatements = ReturnType<typeof outcomeStatements>;

/** What recording outcomes says to the database. */
export function outcomeStatements(dialect: Dialect) {
  const ids = dialect.rows({ v_id: 'uuid' });
  const keys = dialect.rows({ v_batch: 'uuid', v_n: 'int' });
  const parks = dialect.rows({ v_id: 'uuid', v_park: 'bigint' });
  const submissions = dialect.rows(SUBMISSION);
  const back = dialect.rows(BACK);
  const references = dialect.rows(REFERENCE);
  return {
    ids,
    keys,
    parks,
    submissions,
    back,
    references,
    lockBatches: `SELECT b.id, b.state FROM ${ids.keyed} ${dialect.join} messaging_batch b ${dialect.forceIndex('PRIMARY')} ON b.id = v_id ORDER BY b.id ${dialect.forUpdate('b')}`,
    lockSubmissions: `SELECT s.batch, s.n, s.fence FROM ${keys.keyed}
      ${dialect.join} messaging_submission s ${dialect.forceIndex('PRIMARY')} ON s.batch = v_batch AND s.n = v_n
        AND ${dialect.residual('s.outcome IS NULL')}
      ORDER BY s.batch, s.n ${dialect.forUpdate('s')}`,
    closeSubmissions: dialect.updateFrom({
      table: 'messaging_submission',
      rows: submissions,
      set: `outcome = v_outcome, reference = coalesce(v_reference, messaging_submission.reference),
        error_code = v_error, details = v_details, finished_at = v_at`,
      where: `messaging_submission.batch = v_batch AND messaging_submission.n = v_n
        AND ${dialect.residual(`(messaging_submission.outcome IS NULL OR messaging_submission.outcome = ${SUBMISSION_OUTCOME.unknown})`)}`,
    }),
    holdMessages: `SELECT ${HELD_COLUMNS}, m.submission FROM ${submissions.keyed}
      ${dialect.join} messaging_message m ${dialect.forceIndex('PRIMARY')} ON m.batch = v_batch AND m.position BETWEEN v_first AND v_last AND m.submission = v_n
      JOIN messaging_batch b ${dialect.forceIndex('PRIMARY')} ON b.id = m.batch
      ORDER BY m.batch, m.position ${dialect.forUpdate('m')}`,
    setReferences: dialect.updateFrom({
      table: 'messaging_message',
      rows: references,
      set: 'reference = v_reference',
      where: 'messaging_message.batch = v_batch AND messaging_message.position = v_position',
    }),
    setBack: dialect.updateFrom({
      table: 'messaging_message',
      rows: back,
      set: `status = ${STATUS_RANK.queued}, submission = NULL, error_code = v_error,
        attempt = coalesce(v_attempt, attempt)`,
      where: `messaging_message.batch = v_batch AND messaging_message.position = v_position
        AND ${dialect.residual(`messaging_message.status = ${STATUS_RANK.sending}`)}`,
    }),
    // A slice planned before this must not overlook them: the revision leaves the batch out of it.
    reopenBatches: dialect.updateFrom({
      table: 'messaging_batch',
      rows: parks,
      set: setBack(`CASE WHEN v_park > 0 THEN ${dialect.now} + v_park END`),
      where: `messaging_batch.id = v_id
        AND ${dialect.residual(isUnderWay('messaging_batch'))}`,
    }),
  };
}
