import type { Dialect } from './dialect.js';
import type { StoreDatabase, Transaction } from './store-database.js';

/** What tells the rows of a batch apart, and the greatest there may be. */
const KEYS = {
  message: { key: 'position', index: 'PRIMARY', greatest: 2_147_483_647 },
  submission: { key: 'n', index: 'PRIMARY', greatest: 2_147_483_647 },
  batch_chunk: { key: 'n', index: 'PRIMARY', greatest: 2_147_483_647 },
  // After the messages: who records a report holds its message first.
  report: { key: 'id', index: 'messaging_report_batch', greatest: Number.MAX_SAFE_INTEGER },
} as const;

type Table = keyof typeof KEYS;

export interface Purge {
  /** Condition on the batch `b`; one that has been purged meets it no more. */
  readonly of: string;
  /** Assignments to the rows of each table; `undefined`: they are deleted. */
  readonly set: Readonly<Record<Table | 'batch', string | undefined>>;
}

interface Candidate {
  readonly id: string;
  readonly recipient_count: number;
}

/** A large batch, and how far it is done. */
interface UnderWay {
  readonly batch: string;
  readonly table: number;
  readonly after: number;
}

interface Step {
  readonly underWay: UnderWay | undefined;
  readonly found: boolean;
}

/**
 * Purges batches in transactions of few rows, so that nobody waits long for a lock and a crash undoes
 * little: small ones whole, several at once; a large one window by window, and itself with the last.
 * How far that is lies in memory: who starts anew goes through what is done, too.
 */
export class BatchPurge {
  readonly #sql: ReturnType<typeof statementsFor>;
  #underWay: UnderWay | undefined;

  constructor(
    private readonly database: StoreDatabase,
    purge: Purge,
    /** Messages and reports in one transaction; a batch has no more rows of other tables. */
    private readonly rows: number,
  ) {
    this.#sql = statementsFor(database.dialect, purge);
  }

  /**
   * One transaction.
   * @param age milliseconds since the batches ended
   * @param limit batches
   * @returns false: there was nothing to do
   */
  async step(age: number, limit: number): Promise<boolean> {
    const underWay = this.#underWay;
    const step = await this.database.transaction((tx) =>
      underWay ? this.#window(tx, underWay) : this.#begin(tx, age, limit),
    );
    this.#underWay = step.underWay;
    return step.found;
  }

  async #begin(tx: Transaction, age: number, limit: number): Promise<Step> {
    const { candidates, ids, whole } = this.#sql;
    const found = await tx.all<Candidate>(candidates, [Math.round(age * 1_000), limit]);
    const [first] = found;
    if (!first) return { underWay: undefined, found: false };
    const affordable = await this.#affordable(tx, found);
    if (affordable.length === 0)
      return { underWay: { batch: first.id, table: 0, after: -1 }, found: true };
    const params = ids.bind(affordable.map((id) => [id]));
    for (const statement of whole) await tx.run(statement, params);
    return { underWay: undefined, found: true };
  }

  /** Those that ended first, as far as one transaction goes. */
  async #affordable(tx: Transaction, candidates: readonly Candidate[]): Promise<string[]> {
    const { reported, ids } = this.#sql;
    const counts = await tx.all<{ batch: string; n: string | number }>(
      reported,
      ids.bind(candidates.map(({ id }) => [id])),
    );
    const reports = new Map(counts.map(({ batch, n }) => [batch, Number(n)]));
    let sum = 0;
    const end = candidates.findIndex(({ id, recipient_count }) => {
      sum += recipient_count + (reports.get(id) ?? 0);
      return sum > this.rows;
    });
    return candidates.slice(0, end < 0 ? candidates.length : end).map(({ id }) => id);
  }

  async #window(tx: Transaction, { batch, table, after }: UnderWay): Promise<Step> {
    const { held, windows, ids, batches } = this.#sql;
    const window = windows[table] as (typeof windows)[0];
    const done: Step = { underWay: undefined, found: true };
    // Another process is at it, or has done it.
    if ((await tx.all(held, [batch])).length === 0) return done;
    const params = ids.bind([[batch]]);
    const [end] = await tx.all<{ reached: string | number }>(window.end, [
      batch,
      after,
      this.rows - 1,
    ]);
    const reached = end ? Number(end.reached) : window.greatest;
    await tx.run(window.statement, [...params, after, reached]);
    if (end) return { underWay: { batch, table, after: reached }, found: true };
    if (table + 1 < windows.length)
      return { underWay: { batch, table: table + 1, after: -1 }, found: true };
    await tx.run(batches, params);
    return done;
  }
}

function statementsFor(dialect: Dialect, { of, set }: Purge) {
  const ids = dialect.rows({ v_id: 'uuid' });
  const change = (
    table: Table | 'batch',
    column: string,
    index: string,
    range: string = '',
  ): string => {
    const assignments = set[table];
    const name = `messaging_${table}`;
    return assignments === undefined
      ? dialect.deleteFrom(name, column, ids) + range
      : dialect.updateFrom({
          table: name,
          rows: ids,
          set: assignments,
          where: `${name}.${column} = v_id${range}`,
          index,
        });
  };
  const tables = Object.entries(KEYS) as [Table, (typeof KEYS)[Table]][];
  const batches = change('batch', 'id', 'PRIMARY');
  const lock = dialect.kind === 'sqlite' ? '' : `${dialect.forUpdate('b')} SKIP LOCKED`;
  return {
    ids,
    batches,
    candidates: `SELECT b.id, b.recipient_count FROM messaging_batch b WHERE ${of}
      ORDER BY b.completed_at LIMIT ? ${lock}`,
    held: `SELECT b.id FROM messaging_batch b WHERE b.id = ? ${lock}`,
    reported: `SELECT r.batch, count(*) AS n FROM ${ids.few}
      ${dialect.join} messaging_report r ON r.batch = v_id GROUP BY r.batch`,
    whole: [...tables.map(([table, { index }]) => change(table, 'batch', index)), batches],
    windows: tables.map(([table, { key, index, greatest }]) => ({
      greatest,
      end: `SELECT t.${key} AS reached FROM messaging_${table} t WHERE t.batch = ? AND t.${key} > ?
        ORDER BY t.${key} LIMIT 1 OFFSET ?`,
      statement: change(
        table,
        'batch',
        index,
        ` AND messaging_${table}.${key} > ? AND messaging_${table}.${key} <= ?`,
      ),
    })),
  };
}
