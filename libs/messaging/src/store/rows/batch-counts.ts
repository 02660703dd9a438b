import { STATUS_RANK } from '../../message/status.js';
import { type Dialect, inserter, type RowWriter } from '../database/dialect.js';
import type { Sql } from '../database/sql.js';
import type { StatusChange } from './status.js';

/** Recipients above which the counts of a batch are stored at its end; others are counted at each read. */
export const LARGE_BATCH = 1_000;

/**
 * The stored counts of a large batch are the sum of two kinds of rows. A change of a status adds to
 * `change` in its transaction; the end of the batch writes `end`: its messages less the changes
 * until then, both read in one statement. So a change that commits beside the end is counted once.
 */
export const COUNT_KIND = { change: 0, end: 1 } as const;

interface CountRow {
  readonly batch: string;
  readonly kind: number;
  readonly status: number;
  readonly messages: number;
}

/**
 * Whether a change may happen after the end of its batch: a message that was `queued` or `sending`
 * has work or an unanswered submission, which keeps its batch from ending.
 */
function isCounted({ message, previous, status }: StatusChange): boolean {
  return (
    message.recipient_count > LARGE_BATCH && previous > STATUS_RANK.sending && previous !== status
  );
}

/** SQL condition of {@link isCounted}, for a `locked` message that was read before it is raised. */
export const IS_COUNTED = `recipient_count > ${LARGE_BATCH} AND status > ${STATUS_RANK.sending}`;

/** Suffix of an insert that adds to the row of the same batch, kind and status. */
export function onCounted(dialect: Dialect): string {
  return dialect.onConflict(
    'batch, kind, status',
    'messages = messaging_batch_count.messages + new.messages',
  );
}

/** Writes changes of statuses to the counts; the last statement of its transaction that locks rows. */
export function countWriter(dialect: Dialect): RowWriter<StatusChange> {
  const add = inserter<CountRow>(
    dialect,
    'INSERT INTO messaging_batch_count (batch, kind, status, messages)',
    COUNT,
    { suffix: onCounted(dialect) },
  );
  return (sql, changes) => add(sql, changesOf(changes.filter(isCounted)));
}

const COUNT = {
  v_batch: ['uuid', ({ batch }: CountRow) => batch],
  v_kind: ['int', ({ kind }: CountRow) => kind],
  v_status: ['int', ({ status }: CountRow) => status],
  v_messages: ['int', ({ messages }: CountRow) => messages],
} as const;

/** A row for each status of a batch, in one order, so that no two transactions wait for each other. */
function changesOf(changes: readonly StatusChange[]): CountRow[] {
  const rows = new Map<string, CountRow>();
  const add = (batch: string, status: number, messages: number): void => {
    const key = `${batch} ${status}`;
    const sum = (rows.get(key)?.messages ?? 0) + messages;
    rows.set(key, { batch, kind: COUNT_KIND.change, status, messages: sum });
  };
  for (const { message, previous, status } of changes) {
    add(message.batch, previous, -1);
    add(message.batch, status, 1);
  }
  return [...rows.values()].toSorted((one, other) =>
    one.batch === other.batch ? one.status - other.status : one.batch < other.batch ? -1 : 1,
  );
}

/** Stores the counts of ended batches, whose rows the transaction has locked; again after a further try. */
export function endCounts(
  dialect: Dialect,
): (tx: Sql, batches: readonly string[]) => Promise<void> {
  const ids = dialect.rows<string>({ v_id: ['uuid', (id) => id] });
  const insert = inserter<CountRow>(
    dialect,
    'INSERT INTO messaging_batch_count (batch, kind, status, messages)',
    COUNT,
  );
  const countAll = `SELECT n.batch, n.status, sum(n.messages) AS messages FROM (
      SELECT m.batch, m.status, count(*) AS messages FROM ${ids.keyed}
        ${dialect.join} messaging_message m ON m.batch = v_id GROUP BY m.batch, m.status
      UNION ALL
      SELECT c.batch, c.status, -c.messages FROM ${ids.keyed}
        ${dialect.join} messaging_batch_count c ON c.batch = v_id AND c.kind = ${COUNT_KIND.change}
    ) n GROUP BY n.batch, n.status`;
  const forget = `${dialect.deleteFrom('messaging_batch_count', 'batch', ids)}
    AND messaging_batch_count.kind = ${COUNT_KIND.end}`;
  return async (tx, batches) => {
    if (batches.length === 0) return;
    const params = ids.bind(batches);
    const rows = await tx.all<{ batch: string; status: number; messages: string | number }>(
      countAll,
      [...params, ...params],
    );
    await tx.run(forget, params);
    const kind = COUNT_KIND.end;
    const ends = rows.map(({ messages, ...row }) => ({ ...row, kind, messages: Number(messages) }));
    // The row of a batch without messages says that it has counts.
    const counted = new Set(rows.map(({ batch }) => batch));
    const empty = batches
      .filter((batch) => !counted.has(batch))
      .map((batch) => ({ batch, kind, status: STATUS_RANK.queued, messages: 0 }));
    await insert(tx, [...ends, ...empty]);
  };
}
