import { BATCH_STATE, PRIORITY } from '../rows/batch-state.js';
import type { Dialect } from '../database/dialect.js';
import { CHUNK_SIZE } from '../schema/tables.js';

/** SQL: columns of a batch `b`; its times, age and remaining validity in microseconds. */
export function headColumns({ now }: Dialect): string {
  return `b.tenant, b.channel, b.sender, b.delivery_report AS "deliveryReport", b.guarded, b.priority AS class, b.in_doubt_at AS "inDoubtAt",
    b.valid_until - (SELECT ${now}) AS "validFor", b.available_at AS "dueAt",
    (SELECT ${now}) - b.available_at AS "dueFor"`;
}

interface PlanForm {
  readonly most?: number;
  readonly deferredLast?: boolean;
  /** Adds the columns of the order, for a query around it. */
  readonly placed?: boolean;
}

/** The columns of {@link planOf} that are read. */
export const PLANNED_COLUMNS = `lane, id, tenant, channel, sender, "deliveryReport", guarded, class, "inDoubtAt", "validFor",
  "dueAt", "dueFor", content, state, revision, "recipientCount", next, "nextSubmission", chunk`;

/**
 * SQL: the lane's next due batches, as many as a slice can hold; `ahead` counts the recipients
 * before each. A separate query reads deferred batches in the order of their return, so that the
 * server does not scan over the others. `most` bounds the limit: for an unknown one PostgreSQL
 * assumes a tenth of the rows, estimates a high cost and compiles the plan, which takes a hundred
 * times as long as its run.
 */
export function planOf(
  dialect: Dialect,
  lane: string,
  limit: string,
  { most, deferredLast = false, placed = false }: PlanForm = {},
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
        deferredLast ? `b.priority + ${priorities.length}` : 'b.priority',
        `b.parked_until > 0 AND b.parked_until <= (SELECT ${now})`,
        'b.parked_until, ',
      ),
    ])
    .join(' UNION ALL ');
  return `SELECT b.lane, b.id, ${headColumns(dialect)}, b.content, b.state, b.revision,
      b.recipient_count AS "recipientCount", p.next, p.next_submission AS "nextSubmission",
      c.recipients AS chunk${placed ? ', p.priority, p.available_at, c.n AS chunk_n' : ''}
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
