import type { Dialect } from './dialect.js';
import type { LedgerDatabase, Transaction } from './ledger-database.js';
import { BATCH_PHASE } from './schema.js';

/** Milliseconds after a batch has ended; `undefined`: for ever. */
export interface RetentionSettings {
  /** Texts and phone numbers. */
  readonly content: number | undefined;
  /** Everything. */
  readonly messages: number | undefined;
}

/**
 * Forgets what has ended: first texts and phone numbers, keeping the counts, then the batch. A batch is
 * left alone while reports may still be asked for, and deleted only past the idempotency window.
 */
export class Retention {
  readonly #sql: ReturnType<typeof statementsFor>;

  constructor(
    private readonly database: LedgerDatabase,
    private readonly settings: RetentionSettings,
    /** Milliseconds during which a batch is still needed: idempotency, late reports. */
    private readonly needed: number,
  ) {
    this.#sql = statementsFor(database.dialect);
  }

  get enabled(): boolean {
    return this.settings.content !== undefined || this.settings.messages !== undefined;
  }

  /** @returns how many batches were taken, at most `limit` each of erased and deleted */
  async purge(limit: number): Promise<number> {
    const { content, messages } = this.settings;
    const keepContent = Math.min(content ?? Infinity, messages ?? Infinity);
    let taken = 0;
    if (Number.isFinite(keepContent))
      taken += await this.#take(this.#sql.erasable, keepContent, limit, this.#sql.erase);
    if (messages !== undefined)
      taken += await this.#take(
        this.#sql.deletable,
        Math.max(messages, this.needed),
        limit,
        this.#sql.delete,
      );
    return taken;
  }

  #take(
    select: string,
    age: number,
    limit: number,
    statements: readonly string[],
  ): Promise<number> {
    return this.database.transaction(async (tx: Transaction) => {
      const rows = await tx.all<{ id: string }>(select, [Math.round(age * 1_000), limit]);
      if (rows.length === 0) return 0;
      const ids = this.#sql.ids.bind(rows.map(({ id }) => [id]));
      for (const statement of statements) await tx.run(statement, ids);
      return rows.length;
    });
  }
}

function statementsFor(dialect: Dialect) {
  const ids = dialect.rows({ v_id: 'uuid' });
  const ended = `b.phase IN (${BATCH_PHASE.completed}, ${BATCH_PHASE.cancelled}) AND b.poll_at IS NULL
    AND b.completed_at < ${dialect.now} - ?`;
  const lock = dialect.kind === 'sqlite' ? '' : `${dialect.forUpdate('b')} SKIP LOCKED`;
  const select = (where: string) =>
    `SELECT b.id FROM messaging_batch b WHERE ${ended} AND ${where} ORDER BY b.completed_at LIMIT ? ${lock}`;
  const set = (table: string, key: string, assignment: string) =>
    dialect.updateFrom({
      table: `messaging_${table}`,
      rows: ids,
      set: assignment,
      where: `messaging_${table}.${key} = v_id`,
      ...(table === 'report' && { index: 'messaging_report_batch' }),
    });
  const remove = (table: string, key: string) => dialect.deleteFrom(`messaging_${table}`, key, ids);
  return {
    ids,
    erasable: select('b.content IS NOT NULL'),
    deletable: select('b.content IS NULL'),
    erase: [
      set('message', 'batch', "recipient = ''"),
      set('report', 'batch', 'recipient = NULL'),
      set('submission', 'batch', 'content = NULL'),
      remove('batch_chunk', 'batch'),
      set('batch', 'id', 'content = NULL'),
    ],
    delete: [
      remove('report', 'batch'),
      remove('message', 'batch'),
      remove('submission', 'batch'),
      remove('batch_chunk', 'batch'),
      remove('batch', 'id'),
    ],
  };
}
