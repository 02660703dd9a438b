import { STATUS_RANK } from '../message/status.js';
import type { Dialect } from './dialect.js';
import { BATCH_STATE, PRIORITY } from './batch-state.js';
import { CHUNK_SIZE } from './tables.js';

/** Messages of one lane at most, where many are planned at once: reading more takes a while. */
export const MANY = 500;

/** How long a batch `b` is still valid, and how long it has been due, in microseconds. */
export function batchTimes({ now }: Dialect): string {
  return `b.valid_until - ${now} AS valid_for, ${now} - b.available_at AS due_for`;
}

/** What reading a lane's work says to the database. */
export function planStatements(dialect: Dialect) {
  const ids = dialect.rows({ v_id: 'uuid' });
  const lanes = dialect.rows({ v_lane: 'key', v_limit: 'int' });
  return {
    ids,
    lanes,
    /** Of one lane. */
    plan: planOf(dialect, '?', '?'),
    planParameters: (lane: string, limit: number) => [
      ...Array.from({ length: 4 }, () => [lane, limit]).flat(),
      limit,
      limit,
    ],
    /** Of one lane, what was put aside behind everything else. */
    probe: planOf(dialect, '?', '?', { asideLast: true }),
    nextDue: nextDueOf(dialect, '?'),
    nextDueParameters: (lane: string) => Array.from({ length: 4 }, () => lane),
    /** The same of many lanes at once, where a server can. */
    atOnce:
      dialect.kind === 'postgres'
        ? {
            plan: `SELECT v_lane AS lane, planned.* FROM ${lanes.keyed}
              CROSS JOIN LATERAL (${planOf(dialect, 'v_lane', 'v_limit', { most: MANY })}) AS planned
              ORDER BY v_lane, priority, available_at, id, chunk_n`,
            nextDue: `SELECT v_lane AS lane, (${nextDueOf(dialect, 'v_lane')}) AS due_in FROM ${lanes.sql}`,
          }
        : undefined,
    requeued: `SELECT m.batch, m.position, m.recipient, m.attempt FROM ${ids.keyed}
      ${dialect.join} messaging_message m ON m.batch = v_id AND m.status = ${STATUS_RANK.queued}
        AND (m.due_at IS NULL OR m.due_at <= ${dialect.now})
      ORDER BY m.batch, m.position`,
    deferred: `SELECT m.batch, min(m.due_at) AS due_at FROM ${ids.keyed}
      ${dialect.join} messaging_message m ON m.batch = v_id AND m.status = ${STATUS_RANK.queued}
        AND m.due_at > ${dialect.now} GROUP BY m.batch`,
  };
}

/**
 * Only as many batches as the slice can hold: `ahead` counts the recipients before each. Those that were
 * put aside are read apart, in the order in which they come back, so that nobody steps over the others.
 *
 * `most` bounds the limit: PostgreSQL takes one it does not know for a tenth of what waits, and would
 * compile a plan that it thinks dear, for a hundred times as long as it runs.
 */
function planOf(
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

/** Microseconds until the lane has something to do next: by the first of each class, and the first of those put aside. */
function nextDueOf({ now, hasWork }: Dialect, lane: string): string {
  const heads = Object.values(PRIORITY).flatMap((of) => {
    const pending = `FROM messaging_batch b WHERE ${hasWork('b')} AND b.lane = ${lane} AND b.priority = ${of}`;
    return [
      `SELECT min(b.available_at) AS due_at ${pending} AND b.parked_until = 0`,
      `SELECT min(b.parked_until) AS due_at ${pending} AND b.parked_until > 0`,
    ];
  });
  return `SELECT min(due_at) - ${now} AS due_in FROM (${heads.join(' UNION ALL ')}) AS heads`;
}
