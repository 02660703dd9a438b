import { hasEnded } from '../rows/batch-state.js';
import type { GuardedEnd } from '../../ports/spend-guard.js';
import { type Dialect, type RowWriter, updater } from '../database/dialect.js';
import type { StoreDatabase, Transaction } from '../database/store-database.js';
import type { StatusWriter } from '../verbs/status-writer.js';
import { ERASED_SUBMISSION } from './erased-content.js';

/** Milliseconds after the end of a batch; `undefined`: unlimited. */
export interface RetentionSettings {
  /** Contents and recipients. */
  readonly content: number | undefined;
  /** Messages, reports and batches. */
  readonly messages: number | undefined;
}

/** Most messages and reports that one transaction changes. */
const ROWS = 2_000;

/** The tables in the order of their locks, with the key of a row within its batch. */
const TABLES = [
  { table: 'message', key: 'position', index: 'PRIMARY' },
  { table: 'submission', key: 'n', index: 'PRIMARY' },
  { table: 'batch_chunk', key: 'n', index: 'PRIMARY' },
  { table: 'batch_text', key: 'n', index: 'PRIMARY' },
  { table: 'batch_personal', key: 'n', index: 'PRIMARY' },
  { table: 'batch_attachment', key: 'n', index: 'PRIMARY' },
  { table: 'batch_label', key: 'n', index: 'PRIMARY' },
  { table: 'batch_count', key: 'kind', index: 'PRIMARY' },
  { table: 'resend', key: 'position', index: 'PRIMARY' },
  // Reports follow the messages: a transaction that records a report locks its message first.
  { table: 'report', key: 'id', index: 'messaging_report_batch' },
] as const;

/** SQL assignments to the rows of a table, or that they stay; where there are none, they are deleted. */
type Change = Readonly<Record<string, string>>;

const STAY = 'stay';

const ERASE: Change = {
  message: "recipient = ''",
  report: 'recipient = NULL, details = NULL',
  submission: ERASED_SUBMISSION,
  resend: 'resent_by = NULL',
  batch_count: STAY,
  batch: 'content = NULL',
};

export interface PurgeParts {
  /** Channels whose batches stay. @default none */
  readonly exempt?: readonly string[];
  /** Most messages and reports that one transaction changes. @default 2000 */
  readonly rows?: number;
  /** Tells the spend guard of the batches. @default it does not hear of them */
  readonly writer?: Pick<StatusWriter, 'guardEnd'>;
}

/** A batch that is too large for one transaction, and the position its change has reached. */
interface Progress {
  readonly batch: string;
  readonly table: number;
  readonly after: number;
}

/**
 * First erases contents and recipients, keeping the counts, then deletes the batch: not while its
 * reports may be polled, or within the idempotency window. Reads may see it partly purged.
 */
export class Purge {
  readonly #erase: BatchPurge;
  readonly #writer: PurgeParts['writer'];
  readonly #delete: BatchPurge;
  /** Guarded batches of exempt channels whose retention has ended; `undefined`: there are none. */
  readonly #kept: { readonly due: string; readonly end: RowWriter<string> } | undefined;

  constructor(
    private readonly database: StoreDatabase,
    private readonly settings: RetentionSettings,
    /** Milliseconds for which an ended batch is needed: idempotency keys, late reports. */
    private readonly needed: number,
    { exempt = [], rows = ROWS, writer }: PurgeParts = {},
  ) {
    this.#writer = writer;
    const { dialect } = database;
    const kept = exempt.map((channel) => `'${channel}'`).join(', ');
    const ended = `${hasEnded('b')} AND b.poll_at IS NULL AND b.completed_at < ${dialect.now} - ?`;
    const due = `${ended} ${kept && `AND b.channel NOT IN (${kept})`}`;
    this.#kept = kept
      ? {
          due: `SELECT b.id, b.tenant, b.guarded FROM messaging_batch b
            WHERE ${ended} AND b.content IS NOT NULL AND b.channel IN (${kept}) AND b.guarded = 1
            ORDER BY b.completed_at LIMIT ? ${dialect.skipLocked('b')}`,
          end: updater(
            dialect,
            { v_id: ['uuid', (id) => id] },
            { table: 'messaging_batch', set: 'guarded = 0', where: 'messaging_batch.id = v_id' },
          ),
        }
      : undefined;
    this.#erase = new BatchPurge(database, rows, `${due} AND b.content IS NOT NULL`, ERASE, writer);
    this.#delete = new BatchPurge(database, rows, `${due} AND b.content IS NULL`, {}, writer);
  }

  get enabled(): boolean {
    return this.settings.content !== undefined || this.settings.messages !== undefined;
  }

  /** `limit`: batches in one transaction. @returns false where nothing is left to purge */
  async step(limit: number): Promise<boolean> {
    const { content = Infinity, messages = Infinity } = this.settings;
    const erased = await this.#erase.step(Math.min(content, messages), limit);
    const deleted = await this.#delete.step(Math.max(messages, this.needed), limit);
    // Last: it reads past all ended batches of other channels that still have their content.
    return erased || deleted || this.#endKept(Math.min(content, messages), limit);
  }

  /**
   * Batches of exempt channels stay, and their money does not stay open: the spend guard hears of their
   * end, and of no later change.
   */
  async #endKept(age: number, limit: number): Promise<boolean> {
    const kept = this.#kept;
    if (!kept || age === Infinity) return false;
    return this.database.transaction(async (tx) => {
      const found = await tx.all<DueBatch>(kept.due, [Math.round(age * 1_000), limit]);
      if (found.length === 0) return false;
      await kept.end(
        tx,
        found.map(({ id }) => id),
      );
      await this.#writer?.guardEnd(tx, endsOf(found));
      return true;
    });
  }
}

/**
 * Keeps locks short and the loss by a crash small: several small batches together, a large one
 * window by window, with its own row last. A restarted process repeats the finished windows.
 */
class BatchPurge {
  readonly #sql: ReturnType<typeof statementsFor>;
  #progress: Progress | undefined;

  constructor(
    private readonly database: StoreDatabase,
    private readonly rows: number,
    due: string,
    change: Change,
    private readonly writer?: PurgeParts['writer'],
  ) {
    this.#sql = statementsFor(database.dialect, due, change);
  }

  /** Runs one transaction; `age`: ms since the batches ended. @returns false if none was found */
  async step(age: number, limit: number): Promise<boolean> {
    if (age === Infinity) return false;
    const found = await this.database.transaction((tx) =>
      this.#progress ? this.#window(tx, this.#progress) : this.#begin(tx, age, limit),
    );
    this.#progress = typeof found === 'object' ? found : undefined;
    return found !== false;
  }

  async #begin(tx: Transaction, age: number, limit: number): Promise<Progress | boolean> {
    const { due, ids, tables, batches } = this.#sql;
    const found = await tx.all<DueBatch & { rows: string | number; createdAt: string | number }>(
      due,
      [Math.round(age * 1_000), limit],
    );
    const [first] = found;
    if (!first) return false;
    // The messages of these hours can no longer be counted again.
    const until = Math.max(...found.map(({ createdAt }) => Number(createdAt)));
    await tx.run(this.#sql.purged, [until, until]);
    let sum = 0;
    const small = found.filter(({ rows }) => (sum += Number(rows)) <= this.rows);
    if (small.length === 0) return { batch: first.id, table: 0, after: -1 };
    await this.#end(tx, small);
    const params = ids.bind(small.map(({ id }) => [id]));
    for (const { change } of tables) await tx.run(change, [...params, -1, Number.MAX_SAFE_INTEGER]);
    await tx.run(batches, params);
    return true;
  }

  async #window(tx: Transaction, { batch, table, after }: Progress): Promise<Progress | boolean> {
    const { locked, tables, ids, batches } = this.#sql;
    const { end, change } = tables[table] as (typeof tables)[0];
    // Another process has locked the batch, or has purged it.
    const [found] = await tx.all<DueBatch>(locked, [batch]);
    if (!found) return true;
    if (table === 0 && after < 0) await this.#end(tx, [found]);
    const params = ids.bind([[batch]]);
    const [last] = await tx.all<{ reached: string | number }>(end, [batch, after, this.rows - 1]);
    const reached = Number(last?.reached ?? Number.MAX_SAFE_INTEGER);
    await tx.run(change, [...params, after, reached]);
    if (last) return { batch, table, after: reached };
    if (table + 1 < tables.length) return { batch, table: table + 1, after: -1 };
    await tx.run(batches, params);
    return true;
  }

  async #end(tx: Transaction, batches: readonly DueBatch[]): Promise<void> {
    await this.writer?.guardEnd(tx, endsOf(batches));
  }
}

function endsOf(batches: readonly DueBatch[]): GuardedEnd[] {
  return batches.flatMap(({ id: batchId, tenant, guarded }) =>
    guarded === 1 ? [{ tenant, batchId, cause: 'retention' }] : [],
  );
}

interface DueBatch {
  readonly id: string;
  readonly tenant: string;
  readonly guarded: number;
}

function statementsFor(dialect: Dialect, due: string, assignments: Change) {
  const ids = dialect.rows({ v_id: 'uuid' });
  const changeOf = (name: string, column: string, index: string, range = ''): string => {
    const table = `messaging_${name}`;
    const set = assignments[name];
    if (set === undefined) return dialect.deleteFrom(table, column, ids) + range;
    const where = `${table}.${column} = v_id${range}`;
    return dialect.updateFrom({ table, rows: ids, set, where, index });
  };
  const lock = dialect.skipLocked('b');
  return {
    ids,
    purged: 'UPDATE messaging_outcome_state SET purged_until = ? WHERE purged_until < ?',
    due: `SELECT b.id, b.tenant, b.guarded, b.created_at AS "createdAt", b.recipient_count
        + (SELECT count(*) FROM messaging_report r WHERE r.batch = b.id) AS "rows"
      FROM messaging_batch b WHERE ${due} ORDER BY b.completed_at LIMIT ? ${lock}`,
    locked: `SELECT b.id, b.tenant, b.guarded FROM messaging_batch b WHERE b.id = ? ${lock}`,
    tables: TABLES.filter(({ table }) => assignments[table] !== STAY).map(
      ({ table, key, index }) => {
        const column = `messaging_${table}.${key}`;
        const range = ` AND ${column} > ${dialect.bigint} AND ${column} <= ${dialect.bigint}`;
        return {
          /** The last row of a window. */
          end: `SELECT t.${key} AS reached FROM messaging_${table} t WHERE t.batch = ? AND t.${key} > ?
          ORDER BY t.${key} LIMIT 1 OFFSET ?`,
          change: changeOf(table, 'batch', index, range),
        };
      },
    ),
    batches: changeOf('batch', 'id', 'PRIMARY'),
  };
}
