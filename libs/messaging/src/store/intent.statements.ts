import { STATUS_RANK } from '../message/status.js';
import { BATCH_STATE, isOpen } from './batch-state.js';
import type { Columns, Dialect } from './dialect.js';
import type { IntendedBatch, IntendedSubmission, Intent } from './intent.js';

const BATCH = {
  v_id: 'uuid',
  v_revision: 'int',
  v_state: 'int',
  v_park: 'bigint',
} as const satisfies Columns;
/** Of many lanes: each batch with its lane, and how many the lane has in all. */
const TOGETHER = { ...BATCH, v_lane: 'key', v_batches: 'int' } as const satisfies Columns;
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
  v_provider: 'key',
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

const STARTED = `state = v_state, parked_until = coalesce(v_park, parked_until)`;
const IS_AS_PLANNED = `messaging_batch.revision = v_revision
  AND ${isOpen('messaging_batch')}`;
const INTO_SUBMISSIONS = `INSERT INTO messaging_submission
    (batch, n, first_position, last_position, attempt, fence, provider, first_sent_at, content)
  SELECT v_batch, v_n, v_first, v_last, v_attempt, v_fence, v_provider, v_sent_at, v_content`;
const INTO_MESSAGES = `INSERT INTO messaging_message (batch, position, submission, status, attempt, recipient)
  SELECT v_batch, v_position, v_n, ${STATUS_RANK.sending}, v_attempt, v_recipient`;

/** What intending says to the database. */
export function intentStatements(dialect: Dialect) {
  const ids = dialect.rows({ v_id: 'uuid' });
  const batches = dialect.rows(BATCH);
  const together = dialect.rows(TOGETHER);
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
    lockOpen: `SELECT s.batch, s.n FROM ${keys.keyed}
      ${dialect.join} messaging_submission s ${dialect.forceIndex('PRIMARY')} ON s.batch = v_batch AND s.n = v_n
        AND ${dialect.residual('s.outcome IS NULL')}
      ORDER BY s.batch, s.n ${dialect.forUpdate('s')}`,
    resumed,
    resume: dialect.updateFrom({
      table: 'messaging_submission',
      rows: resumed,
      set: 'fence = v_fence, attempt = v_attempt',
      where: `messaging_submission.batch = v_batch AND messaging_submission.n = v_n
        AND ${dialect.residual('messaging_submission.outcome IS NULL')}`,
    }),
    ids,
    batches,
    submissions,
    messages,
    lockBatches: `SELECT b.id, b.revision FROM ${ids.keyed} ${dialect.join} messaging_batch b ${dialect.forceIndex('PRIMARY')} ON b.id = v_id
      WHERE ${dialect.residual(`${isOpen('b')}`)}
      ORDER BY b.id ${dialect.forUpdate('b')}`,
    lockQueued: `SELECT m.batch FROM ${messages.keyed}
      ${dialect.join} messaging_message m ${dialect.forceIndex('PRIMARY')} ON m.batch = v_batch AND m.position = v_position
        AND ${dialect.residual(`m.status = ${STATUS_RANK.queued}`)}
      ORDER BY m.batch, m.position ${dialect.forUpdate('m')}`,
    updateBatches: dialect.updateFrom({
      table: 'messaging_batch',
      rows: batches,
      set: STARTED,
      where: `messaging_batch.id = v_id AND ${dialect.residual(IS_AS_PLANNED)}`,
    }),
    insertSubmissions: `${INTO_SUBMISSIONS} FROM ${submissions.sql}`,
    insertMessages: `${INTO_MESSAGES} FROM ${messages.sql}`,
    /** All of it, where a server takes it as one statement and no message has a row yet; the renewal comes first. */
    atOnce:
      dialect.kind === 'postgres'
        ? (renewal: string) => `WITH held AS (${renewal} RETURNING fence),
          planned AS MATERIALIZED (SELECT * FROM ${batches.keyed}),
          live AS (
            UPDATE messaging_batch SET ${STARTED} FROM planned, held
            WHERE messaging_batch.id = v_id AND ${dialect.residual(IS_AS_PLANNED)} RETURNING id),
          gone AS MATERIALIZED (SELECT ARRAY(SELECT v_id FROM planned EXCEPT SELECT id FROM live) AS ids),
          submitted AS (${INTO_SUBMISSIONS} FROM ${submissions.sql} WHERE v_batch <> ALL ((SELECT ids FROM gone)::uuid[])),
          written AS (${INTO_MESSAGES} FROM ${messages.sql} WHERE v_batch <> ALL ((SELECT ids FROM gone)::uuid[]))
          SELECT (SELECT count(*)::int FROM held) AS held, (SELECT array_to_string(ids, ' ') FROM gone) AS gone`
        : undefined,
    together,
    lockFreeBatches: `SELECT b.id, b.revision, b.state FROM ${ids.keyed}
      ${dialect.join} messaging_batch b ${dialect.forceIndex('PRIMARY')} ON b.id = v_id
      ORDER BY b.id ${dialect.skipLocked('b')}`,
    /**
     * The same for many lanes, after the lanes that are held. A lane one of whose batches somebody else
     * has locked is left out whole, or its later batches would go first.
     */
    atOnceTogether:
      dialect.kind === 'postgres'
        ? (held: string) => `WITH held AS MATERIALIZED (${held}),
          locked AS MATERIALIZED (
            SELECT v.*, v_lease, messaging_batch.id, ${IS_AS_PLANNED} AS planned
            FROM ${together.sql} JOIN held ON lane_key = v_lane JOIN messaging_batch ON messaging_batch.id = v_id
            ORDER BY messaging_batch.id ${dialect.forUpdate('messaging_batch')} SKIP LOCKED),
          checked AS MATERIALIZED (
            SELECT *, count(*) OVER (PARTITION BY v_lane) = v_batches AS whole FROM locked),
          renewed AS (
            UPDATE messaging_lane SET lease_until = ${dialect.now} + v_lease
            FROM (SELECT DISTINCT v_lane, v_lease FROM checked WHERE whole) AS c WHERE lane_key = v_lane),
          live AS (
            UPDATE messaging_batch SET ${STARTED} FROM checked
            WHERE messaging_batch.id = checked.id AND whole AND planned RETURNING messaging_batch.id),
          submitted AS (${INTO_SUBMISSIONS} FROM ${submissions.sql} JOIN live ON id = v_batch),
          written AS (${INTO_MESSAGES} FROM ${messages.sql} JOIN live ON id = v_batch)
          SELECT v_lane AS lane, string_agg(CASE WHEN NOT planned THEN v_id::text END, ' ') AS gone
          FROM checked WHERE whole GROUP BY v_lane`
        : undefined,
    deferred,
    insertDeferred: `INSERT INTO messaging_message (batch, position, status, attempt, recipient, due_at)
      SELECT v_batch, v_position, ${STATUS_RANK.queued}, v_attempt, v_recipient, v_due FROM ${deferred.sql}`,
    updateDeferred: dialect.updateFrom({
      table: 'messaging_message',
      rows: deferred,
      set: 'due_at = v_due',
      where: `messaging_message.batch = v_batch AND messaging_message.position = v_position
        AND ${dialect.residual(`messaging_message.status = ${STATUS_RANK.queued}`)}`,
    }),
    updateMessages: dialect.updateFrom({
      table: 'messaging_message',
      rows: messages,
      set: `status = ${STATUS_RANK.sending}, submission = v_n, error_code = NULL, due_at = NULL`,
      where: `messaging_message.batch = v_batch AND messaging_message.position = v_position
        AND ${dialect.residual(`messaging_message.status = ${STATUS_RANK.queued}`)}`,
    }),
  };
}

export type IntentStatements = ReturnType<typeof intentStatements>;

export function byId(a: IntendedBatch, b: IntendedBatch): number {
  return a.id < b.id ? -1 : 1;
}

/** The batch's state once its slice starts. */
function stateAfter({
  pending,
  requeued,
  parkUntil,
}: Pick<IntendedBatch, 'pending' | 'requeued' | 'parkUntil'>): number {
  if (!pending) return BATCH_STATE.draining;
  if (parkUntil !== null) return BATCH_STATE.deferred;
  return requeued ? BATCH_STATE.retrying : BATCH_STATE.sending;
}

/** Values of the row source `batches`. */
export function batchRow({ id, revision, pending, requeued, parkUntil }: IntendedBatch): unknown[] {
  return [id, revision, stateAfter({ pending, requeued, parkUntil }), parkUntil];
}

/** Values of the row source `submissions`. */
export function submissionRows(
  { fence, firstSentAt }: Intent,
  submissions: readonly IntendedSubmission[],
): unknown[][] {
  return submissions.map((s) => [
    s.batch,
    s.n,
    s.firstPosition,
    s.lastPosition,
    s.attempt,
    fence,
    s.provider,
    firstSentAt * 1_000,
    s.content,
  ]);
}

/** Values of the row source `messages`, of those that have a row already and of those that have none. */
export function messageRows(submissions: readonly IntendedSubmission[]) {
  const fresh: unknown[][] = [];
  const again: unknown[][] = [];
  for (const { batch, n, attempt, recipients } of submissions)
    for (const { position, recipient, requeued } of recipients)
      if (requeued) again.push([batch, position, n, attempt, recipient]);
      else fresh.push([batch, position, n, attempt - 1, recipient]);
  return { fresh, again };
}
