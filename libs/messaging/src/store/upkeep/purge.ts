import { hasEnded } from '../rows/batch-state.js';
import type { Dialect } from '../database/dialect.js';
import type { StoreDatabase, Transaction } from '../database/store-database.js';

/** Milliseconds after the end of a batch; `undefined`: unlimited. */
export interface RetentionSettings {
  /** Retention of contents and recipients. */
  readonly content: number | undefined;
  /** Retention of messages, reports and batches. */
  readonly messages: number | undefined;
}

/** Most messages and reports that one transaction changes. */
const ROWS = 2_000;

/** The key of each table within a batch, and its largest value. */
const KEYS = {
  message: { key: 'position', index: 'PRIMARY', greatest: 2_147_483_647 },
  submission: { key: 'n', index: 'PRIMARY', greatest: 2_147_483_647 },
  batch_chunk: { key: 'n', index: 'PRIMARY', greatest: 2_147_483_647 },
  // Reports follow the messages: a transaction that records a report locks its message first.
  report: { key: 'id', index: 'messaging_report_batch', greatest: Number.MAX_SAFE_INTEGER },
} as const;

type Table = keyof typeof KEYS;

interface Change {
  /** SQL condition: the batch `b` has not been changed yet. */
  readonly where: string;
  /** SQL assignments to the rows of each table; `undefined` deletes the rows. */
  readonly set: Readonly<Record<Table | 'batch', string | undefined>>;
}

/** A batch that is too large for one transaction, and the position its change has reached. */
interface Progress {
  readonly batch: string;
  readonly table: number;
  readonly after: number;
}

interface Step {
  readonly progress: Progress | undefined;
  readonly found: boolean;
}

/**
 * Deletes data past its retention: first contents and recipients, keeping the counts, then the
 * batch. A batch stays while its reports may be polled, and at least for the idempotency window. A
 * large batch is purged in several transactions, and reads in between see it partly purged.
 */
export class Purge {
  readonly #erase: BatchPurge;
  readonly #delete: BatchPurge;

  constructor(
    database: StoreDatabase,
    private readonly settings: RetentionSettings,
    /** Milliseconds for which an ended batch is needed: idempotency keys, late reports. */
    private readonly needed: number,
    /** Channels whose messages are never purged. */
    exempt: readonly string[] = [],
    rows = ROWS,
  ) {
    const kept = exempt.map((channel) => `'${channel}'`).join(', ');
    const ended = `${hasEnded('b')} AND b.poll_at IS NULL AND b.completed_at < ${database.dialect.now} - ?
      ${kept === '' ? '' : `AND b.channel NOT IN (${kept})`}`;
    this.#erase = new BatchPurge(
      database,
      {
        where: `${ended} AND b.content IS NOT NULL`,
        set: {
          message: "recipient = ''",
          report: 'recipient = NULL',
          submission: 'content = NULL',
          batch_chunk: undefined,
          batch: 'content = NULL',
        },
      },
      rows,
    );
    this.#delete = new BatchPurge(
      database,
      {
        where: `${ended} AND b.content IS NULL`,
        set: {
          message: undefined,
          report: undefined,
          submission: undefined,
          batch_chunk: undefined,
          batch: undefined,
        },
      },
      rows,
    );
  }

  get enabled(): boolean {
    return this.settings.content !== undefined || this.settings.messages !== undefined;
  }

  /**
   * Erases and deletes, in one transaction each.
   * @param limit batches in one transaction
   * @returns false where nothing is left to purge
   */
  async step(limit: number): Promise<boolean> {
    const { content, messages } = this.settings;
    const keepContent = Math.min(content ?? Infinity, messages ?? Infinity);
    const erased = Number.isFinite(keepContent) && (await this.#erase.step(keepContent, limit));
    const deleted =
      messages !== undefined && (await this.#delete.step(Math.max(messages, this.needed), limit));
    return erased || deleted;
  }
}

/**
 * Changes batches in short transactions, so that locks are short and a crash loses little: several
 * small batches together, a large one window by window, with its own row last. The progress is in
 * memory; a restarted process repeats the finished windows.
 */
class BatchPurge {
  readonly #sql: ReturnType<typeof statementsFor>;
  #progress: Progress | undefined;

  constructor(
    private readonly database: StoreDatabase,
    change: Change,
    private readonly rows: number,
  ) {
    this.#sql = statementsFor(database.dialect, change);
  }

  /**
   * Runs one transaction.
   * @param age milliseconds since the batches ended
   */
  async step(age: number, limit: number): Promise<boolean> {
    const { progress, found } = await this.database.transaction((tx) =>
      this.#progress ? this.#window(tx, this.#progress) : this.#begin(tx, age, limit),
    );
    this.#progress = progress;
    return found;
  }

  async #begin(tx: Transaction, age: number, limit: number): Promise<Step> {
    const { candidates, ids, whole } = this.#sql;
    const found = await tx.all<{ id: string; recipient_count: number }>(candidates, [
      Math.round(age * 1_000),
      limit,
    ]);
    const [first] = found;
    if (!first) return { progress: undefined, found: false };
    const small = await this.#withinRows(tx, found);
    if (small.length === 0)
      return { progress: { batch: first.id, table: 0, after: -1 }, found: true };
    const params = ids.bind(small.map((id) => [id]));
    for (const statement of whole) await tx.run(statement, params);
    return { progress: undefined, found: true };
  }

  /** The first candidates, up to the number of rows that one transaction may change. */
  async #withinRows(
    tx: Transaction,
    candidates: readonly { readonly id: string; readonly recipient_count: number }[],
  ): Promise<string[]> {
    const { reports, ids } = this.#sql;
    const counts = await tx.all<{ batch: string; n: string | number }>(
      reports,
      ids.bind(candidates.map(({ id }) => [id])),
    );
    const reported = new Map(counts.map(({ batch, n }) => [batch, Number(n)]));
    let sum = 0;
    const end = candidates.findIndex(({ id, recipient_count }) => {
      sum += recipient_count + (reported.get(id) ?? 0);
      return sum > this.rows;
    });
    return candidates.slice(0, end < 0 ? candidates.length : end).map(({ id }) => id);
  }

  async #window(tx: Transaction, { batch, table, after }: Progress): Promise<Step> {
    const { locked, windows, ids, batches } = this.#sql;
    const window = windows[table] as (typeof windows)[0];
    const done: Step = { progress: undefined, found: true };
    // Another process has locked the batch, or has purged it.
    if ((await tx.all(locked, [batch])).length === 0) return done;
    const params = ids.bind([[batch]]);
    const [end] = await tx.all<{ reached: string | number }>(window.end, [
      batch,
      after,
      this.rows - 1,
    ]);
    const reached = end ? Number(end.reached) : window.greatest;
    await tx.run(window.statement, [...params, after, reached]);
    if (end) return { progress: { batch, table, after: reached }, found: true };
    if (table + 1 < windows.length)
      return { progress: { batch, table: table + 1, after: -1 }, found: true };
    await tx.run(batches, params);
    return done;
  }
}

function statementsFor(dialect: Dialect, { where, set }: Change) {
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
  const lock = dialect.skipLocked('b');
  return {
    ids,
    batches,
    candidates: `SELECT b.id, b.recipient_count FROM messaging_batch b WHERE ${where}
      ORDER BY b.completed_at LIMIT ? ${lock}`,
    locked: `SELECT b.id FROM messaging_batch b WHERE b.id = ? ${lock}`,
    reports: `SELECT r.batch, count(*) AS n FROM ${ids.keyed}
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
