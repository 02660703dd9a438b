import { STATUS_RANK } from '../message/status.js';
import type { Columns, Dialect } from './dialect.js';
import { BATCH_PHASE } from './schema.js';

const BATCH = {
  v_id: 'uuid',
  v_revision: 'int',
  v_pending: 'int',
  v_requeued: 'int',
  v_park: 'bigint',
} as const satisfies Columns;
const DEFERRED = {
  v_batch: 'uuid',
  v_position: 'int',
  v_attempt: 'int',
  v_recipient: 'key',
  v_due: 'bigint',
} as const satisfies Columns;
const SUBMISSION = {
  v_batch: 'uuid',
  v_n: 'int',
  v_first: 'int',
  v_last: 'int',
  v_attempt: 'int',
  v_fence: 'bigint',
  v_transport: 'key',
  v_sent_at: 'bigint',
  v_content: 'text',
} as const satisfies Columns;
const MESSAGE = {
  v_batch: 'uuid',
  v_position: 'int',
  v_n: 'int',
  v_attempt: 'int',
  v_recipient: 'key',
} as const satisfies Columns;

const STARTED = `phase = ${BATCH_PHASE.sending}, pending = v_pending, requeued = v_requeued,
  parked_until = coalesce(v_park, parked_until), deferred = CASE WHEN v_park IS NULL THEN 0 ELSE 1 END`;
const IS_AS_PLANNED = `messaging_batch.revision = v_revision
  AND messaging_batch.phase IN (${BATCH_PHASE.accepted}, ${BATCH_PHASE.sending})`;
const INTO_SUBMISSIONS = `INSERT INTO messaging_submission
    (batch, n, first_position, last_position, attempt, fence, transport, first_sent_at, content)
  SELECT v_batch, v_n, v_first, v_last, v_attempt, v_fence, v_transport, v_sent_at, v_content`;
const INTO_MESSAGES = `INSERT INTO messaging_message (batch, position, submission, status, attempt, recipient)
  SELECT v_batch, v_position, v_n, ${STATUS_RANK.sending}, v_attempt, v_recipient`;

/** What intending says to the database. */
export function intentStatements(dialect: Dialect) {
  const ids = dialect.rows({ v_id: 'uuid' });
  const batches = dialect.rows(BATCH);
  const submissions = dialect.rows(SUBMISSION);
  const messages = dialect.rows(MESSAGE);
  const deferred = dialect.rows(DEFERRED);
  const keys = dialect.rows({ v_batch: 'uuid', v_n: 'int' });
  const resumed = dialect.rows({
    v_batch: 'uuid',
    v_n: 'int',
    v_fence: 'bigint',
    v_attempt: 'int',
  });
  return {
    keys,
    lockOpen: `SELECT s.batch, s.n FROM ${keys.sql}
      ${dialect.join} messaging_submission s ${dialect.by('PRIMARY')} ON s.batch = v_batch AND s.n = v_n
        AND ${dialect.also('s.outcome IS NULL')}
      ORDER BY s.batch, s.n ${dialect.forUpdate('s')}`,
    resumed,
    resume: dialect.updateFrom({
      table: 'messaging_submission',
      rows: resumed,
      set: 'fence = v_fence, attempt = v_attempt',
      where: `messaging_submission.batch = v_batch AND messaging_submission.n = v_n
        AND ${dialect.also('messaging_submission.outcome IS NULL')}`,
    }),
    ids,
    batches,
    submissions,
    messages,
    lockBatches: `SELECT b.id, b.revision FROM ${ids.sql} ${dialect.join} messaging_batch b ${dialect.by('PRIMARY')} ON b.id = v_id
      WHERE ${dialect.also(`b.phase IN (${BATCH_PHASE.accepted}, ${BATCH_PHASE.sending})`)}
      ORDER BY b.id ${dialect.forUpdate('b')}`,
    updateBatches: dialect.updateFrom({
      table: 'messaging_batch',
      rows: batches,
      set: STARTED,
      where: `messaging_batch.id = v_id AND ${dialect.also(IS_AS_PLANNED)}`,
    }),
    insertSubmissions: `${INTO_SUBMISSIONS} FROM ${submissions.sql}`,
    insertMessages: `${INTO_MESSAGES} FROM ${messages.sql}`,
    /** All of it, where a server takes it as one statement and no message has a row yet; the renewal comes first. */
    atOnce:
      dialect.kind === 'postgres'
        ? (renewal: string) => `WITH held AS (${renewal} RETURNING fence),
          planned AS MATERIALIZED (SELECT * FROM ${batches.sql}),
          live AS (
            UPDATE messaging_batch SET ${STARTED} FROM planned, held
            WHERE messaging_batch.id = v_id AND ${dialect.also(IS_AS_PLANNED)} RETURNING id),
          submitted AS (${INTO_SUBMISSIONS} FROM ${submissions.sql} JOIN live ON id = v_batch),
          written AS (${INTO_MESSAGES} FROM ${messages.sql} JOIN live ON id = v_batch)
          SELECT (SELECT count(*)::int FROM held) AS held, (SELECT string_agg(v_id::text, ' ') FROM planned
            WHERE NOT EXISTS (SELECT 1 FROM live WHERE id = v_id)) AS gone`
        : undefined,
    deferred,
    insertDeferred: `INSERT INTO messaging_message (batch, position, status, attempt, recipient, due_at)
      SELECT v_batch, v_position, ${STATUS_RANK.queued}, v_attempt, v_recipient, v_due FROM ${deferred.sql}`,
    updateDeferred: dialect.updateFrom({
      table: 'messaging_message',
      rows: deferred,
      set: 'due_at = v_due',
      where: `messaging_message.batch = v_batch AND messaging_message.position = v_position
        AND ${dialect.also(`messaging_message.status = ${STATUS_RANK.queued}`)}`,
    }),
    updateMessages: dialect.updateFrom({
      table: 'messaging_message',
      rows: messages,
      set: `status = ${STATUS_RANK.sending}, submission = v_n, error_code = NULL, due_at = NULL`,
      where: `messaging_message.batch = v_batch AND messaging_message.position = v_position
        AND ${dialect.also(`messaging_message.status = ${STATUS_RANK.queued}`)}`,
    }),
  };
}
