import { STATUS_RANK } from '../../message/status.js';
import { BATCH_STATE, PRIORITY } from '../rows/batch-state.js';
import type { Dialect } from '../database/dialect.js';
import { CHUNK_SIZE } from '../schema/tables.js';

export interface NextDueRow {
  /** Microseconds. */
  readonly due_in: string | number | null;
}

/** Milliseconds. */
export function dueIn({ due_in }: NextDueRow): number | undefined {
  return due_in === null ? undefined : Number(due_in) / 1_000;
}

/** Reads the work of lanes in the order of sending: priority, available_at, id, position. */
export function planStatements(dialect: Dialect) {
  const ids = dialect.rows({ v_id: 'uuid' });
  return {
    ids,
    plan: planOf(dialect, '?', '?'),
    probe: planOf(dialect, '?', '?', { asideLast: true }),
    nextDue: nextDueOf(dialect, '?'),
    requeued: `SELECT m.batch, m.position, m.recipient, m.attempt AS attempts FROM ${ids.keyed}
      ${dialect.join} messaging_message m ON m.batch = v_id AND m.status = ${STATUS_RANK.queued}
        AND (m.due_at IS NULL OR m.due_at <= ${dialect.now})
      ORDER BY m.batch, m.position`,
    deferred: `SELECT m.batch, min(m.due_at) AS due_at FROM ${ids.keyed}
      ${dialect.join} messaging_message m ON m.batch = v_id AND m.status = ${STATUS_RANK.queued}
        AND m.due_at > ${dialect.now} GROUP BY m.batch`,
    open: `SELECT s.batch, s.n, s.provider, s.first_position AS "firstPosition", s.last_position AS "lastPosition",
        s.attempt, s.first_sent_at, b.tenant, b.channel, b.sender, coalesce(s.content, b.content) AS content,
        b.delivery_report, m.position, m.recipient, ${batchTimes(dialect)}
      FROM messaging_submission s ${dialect.join} messaging_batch b ON b.id = s.batch
      JOIN messaging_message m ON m.batch = s.batch AND m.position BETWEEN s.first_position AND s.last_position
        AND m.submission = s.n
      WHERE s.outcome IS NULL AND b.lane = ?
      ORDER BY b.priority, b.available_at, s.batch, s.n, m.position`,
  };
}

/** SQL: remaining validity of a batch `b`, and time since it was due, in microseconds. */
function batchTimes({ now }: Dialect): string {
  return `b.valid_until - ${now} AS valid_for, ${now} - b.available_at AS due_for`;
}

/**
 * SQL: the lane's next due batches, as many as a slice can hold; `ahead` counts the recipients
 * before each. A separate query reads parked batches in the order of their return, so that the
 * server does not scan over the others. `most` bounds the limit: for an unknown one PostgreSQL
 * assumes a tenth of the rows, estimates a high cost and compiles the plan, which takes a hundred
 * times as long as its run.
 */
export function planOf(
  dialect: Dialect,
  lane: string,
  limit: string,
  { most, asideLast = false }: { readonly most?: number; readonly asideLast?: boolean } = {},
): string {
  const { now } = dialect;
  const chunkOf = (position: string) => dialect.div(position, String(CHUNK_SIZE));
  const bounded = (rows: string) => (most === undefined ? rows : `(${rows} LIMIT ${most})`);
  const first = (name: string, of: number, place: string, due: string, order: string) =>
    bounded(`SELECT * FROM (
      SELECT b.id, ${place} AS priority, b.available_at, b.recipient_count, b.state, b.denied FROM messaging_batch b
      WHERE ${dialect.hasWork('b')} AND b.lane = ${lane} AND b.priority = ${of} AND ${due}
      ORDER BY ${order}b.available_at, b.id LIMIT ${limit}) AS ${name}_${of}`);
  const priorities = Object.values(PRIORITY);
  const due = priorities
    .flatMap((of) => [
      first(
        'fresh',
        of,
        'b.priority',
        `b.parked_until = 0 AND b.available_at <= (SELECT ${now})`,
        '',
      ),
      first(
        'back',
        of,
        asideLast ? `b.priority + ${priorities.length}` : 'b.priority',
        `b.parked_until > 0 AND b.parked_until <= (SELECT ${now})`,
        'b.parked_until, ',
      ),
    ])
    .join(' UNION ALL ');
  return `SELECT b.id, b.tenant, b.channel, b.sender, b.content, b.delivery_report, b.recipient_count,
      b.state, b.revision, b.priority, b.available_at, p.next, p.next_submission,
      c.n AS chunk_n, c.recipients AS chunk,
      CASE WHEN b.valid_until IS NOT NULL AND b.valid_until <= ${now} THEN 1 ELSE 0 END AS expired,
      ${batchTimes(dialect)}
    FROM (
      SELECT d.*,
        CASE WHEN d.state = ${BATCH_STATE.accepted} THEN d.denied ELSE coalesce(
          (SELECT max(m.position) + 1 FROM messaging_message m WHERE m.batch = d.id), 0) END AS next,
        CASE WHEN d.state = ${BATCH_STATE.accepted} THEN 0 ELSE coalesce(
          (SELECT max(s.n) + 1 FROM messaging_submission s WHERE s.batch = d.id), 0) END AS next_submission
      FROM (
        SELECT q.*, sum(q.recipient_count) OVER (ORDER BY q.priority, q.available_at, q.id) - q.recipient_count AS ahead
        FROM (${due}) AS q) AS d
      WHERE d.ahead < ${limit}) AS p
    JOIN messaging_batch b ON b.id = p.id
    LEFT JOIN messaging_batch_chunk c ON c.batch = p.id
      AND c.n BETWEEN ${chunkOf('p.next')} AND ${chunkOf(`(p.next + ${limit})`)}
    ORDER BY p.priority, p.available_at, p.id, c.n`;
}

/** SQL: microseconds until the lane's next work. */
export function nextDueOf({ now, hasWork }: Dialect, lane: string): string {
  const heads = Object.values(PRIORITY).flatMap((of) => {
    const pending = `FROM messaging_batch b WHERE ${hasWork('b')} AND b.lane = ${lane} AND b.priority = ${of}`;
    return [
      `SELECT min(b.available_at) AS due_at ${pending} AND b.parked_until = 0`,
      `SELECT min(b.parked_until) AS due_at ${pending} AND b.parked_until > 0`,
    ];
  });
  return `SELECT min(due_at) - ${now} AS due_in FROM (${heads.join(' UNION ALL ')}) AS heads`;
}
