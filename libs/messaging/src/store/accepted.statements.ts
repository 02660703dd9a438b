import { STATUS_RANK } from '../message/status.js';
import { BATCH_STATE } from './batch-state.js';
import type { Columns, Dialect } from './dialect.js';
import { SUBMISSION_OUTCOME } from './outcome.js';

const ACCEPTED = {
  v_index: 'int',
  v_batch: 'uuid',
  v_n: 'int',
  v_first: 'int',
  v_last: 'int',
  v_reference: 'key',
  v_message_id: 'key',
  v_details: 'text',
  v_tenant: 'key',
  v_provider: 'key',
  v_whole: 'int',
  v_at: 'bigint',
} as const satisfies Columns;

/** What an acceptance makes of a submission, and of each of its messages that is not further already. */
const CLOSED = `outcome = ${SUBMISSION_OUTCOME.accepted}, reference = v_reference, error_code = NULL,
  details = v_details, finished_at = v_at`;
const RAISED = `status = ${STATUS_RANK.sent}, sequence = messaging_message.sequence + 1, error_code = NULL,
  reference = coalesce(v_message_id, messaging_message.reference)`;
const IS_OPEN = 'messaging_submission.outcome IS NULL';
const IS_BEHIND = `status < ${STATUS_RANK.sent}`;
const LOG = `INSERT INTO messaging_report (tenant, batch, position, provider, reference, message_id,
  recipient, status, raw_status, received_at, sequence)`;

/** One after the other, in one transaction; each tells how many it changed. */
export function acceptedSteps(dialect: Dialect) {
  const rows = dialect.rows(ACCEPTED);
  const messages = `${rows.sql} ${dialect.join} messaging_message m ${dialect.forceIndex('PRIMARY')}
    ON m.batch = v_batch AND m.position BETWEEN v_first AND v_last AND m.submission = v_n`;
  return {
    rows,
    close: dialect.updateFrom({
      table: 'messaging_submission',
      rows,
      set: CLOSED,
      where: `messaging_submission.batch = v_batch AND messaging_submission.n = v_n AND ${dialect.residual(IS_OPEN)}`,
    }),
    log: `${LOG}
      SELECT v_tenant, m.batch, m.position, v_provider, v_reference, v_message_id, m.recipient,
        ${STATUS_RANK.sent}, 'submit', v_at, m.sequence + 1
      FROM ${messages} WHERE ${dialect.residual(`m.${IS_BEHIND}`)}`,
    ahead: `SELECT m.batch, m.position FROM ${messages}
      WHERE ${dialect.residual(`m.status >= ${STATUS_RANK.sent}`)}`,
    raise: dialect.updateFrom({
      table: 'messaging_message',
      rows,
      set: RAISED,
      where: `messaging_message.batch = v_batch AND messaging_message.position BETWEEN v_first AND v_last
        AND messaging_message.submission = v_n AND ${dialect.residual(`messaging_message.${IS_BEHIND}`)}`,
    }),
  };
}

/** What {@link acceptedAtOnce} answers with: how many messages it raised, then whatever did not go as expected. */
export type AcceptedAnswer = {
  readonly kind: 'raised' | 'missed' | 'incomplete' | 'named' | 'message';
  /** Of the outcome; with `raised` how many. */
  readonly index: number;
  readonly position: number | null;
};

/** The same as one statement, where a server can: what one part changed, the next one works on. */
export function acceptedAtOnce(dialect: Dialect) {
  const rows = dialect.rows(ACCEPTED);
  return {
    rows,
    sql: `WITH v AS MATERIALIZED (SELECT * FROM ${rows.keyed}),
      closed AS (
        UPDATE messaging_submission SET ${CLOSED} FROM v
        WHERE messaging_submission.batch = v_batch AND messaging_submission.n = v_n AND ${dialect.residual(IS_OPEN)}
        RETURNING v.*),
      raised AS (
        UPDATE messaging_message SET ${RAISED} FROM closed
        WHERE messaging_message.batch = v_batch AND messaging_message.position BETWEEN v_first AND v_last
          AND ${dialect.residual(`messaging_message.submission = v_n AND messaging_message.${IS_BEHIND}`)}
        RETURNING closed.*, messaging_message.position, messaging_message.recipient, messaging_message.sequence),
      named AS (
        UPDATE messaging_message SET reference = v_message_id FROM closed
        WHERE v_message_id IS NOT NULL AND messaging_message.batch = v_batch AND messaging_message.position = v_first
          AND ${dialect.residual(`messaging_message.submission = v_n AND messaging_message.status >= ${STATUS_RANK.sent}`)}
        RETURNING v_index),
      logged AS (${LOG}
        SELECT v_tenant, v_batch, position, v_provider, v_reference, v_message_id, recipient,
          ${STATUS_RANK.sent}, 'submit', v_at, sequence FROM raised),
      completed AS (
        UPDATE messaging_batch SET state = ${BATCH_STATE.completed}, completed_at = v_at, poll_at = v_at + ?::int8
        FROM closed WHERE v_whole = 1 AND messaging_batch.id = v_batch
          AND ${dialect.residual(`messaging_batch.state = ${BATCH_STATE.draining}`)}
        RETURNING v_index)
      SELECT 'raised' AS kind, count(*)::int AS index, NULL::int AS position FROM raised
      UNION ALL SELECT 'missed', v_index, NULL FROM v
        WHERE v_index NOT IN (SELECT v_index FROM closed)
      UNION ALL SELECT 'incomplete', v_index, NULL FROM closed
        WHERE v_whole = 1 AND v_index NOT IN (SELECT v_index FROM completed)
      UNION ALL SELECT 'named', v_index, NULL FROM named
      UNION ALL SELECT 'message', v_index, position FROM raised WHERE (SELECT count(*) FROM raised) <> ?::int`,
  };
}
