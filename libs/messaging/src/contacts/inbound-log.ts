import type { Columns, Dialect } from '../store/dialect.js';
import type { StoreDatabase, Sql } from '../store/store-database.js';

const INBOUND = { v_id: 'uuid', v_token: 'uuid', v_at: 'bigint' } as const satisfies Columns;

/** Which inbound messages were taken already, by a digest of their ids; nothing else of them is kept. */
export class InboundLog {
  readonly #sql: ReturnType<typeof statementsFor>;

  constructor(private readonly database: StoreDatabase) {
    this.#sql = statementsFor(database.dialect);
  }

  /**
   * Writes down those not seen before.
   * @param token of this transaction alone
   * @returns the digests of those that are new
   */
  async add(
    tx: Sql,
    digests: readonly string[],
    token: string,
    now: number,
  ): Promise<ReadonlySet<string>> {
    const { rows, insert, ids, select } = this.#sql;
    const sorted = [...new Set(digests)].sort();
    await tx.run(insert, rows.bind(sorted.map((id) => [id, token, now * 1_000])));
    const fresh = await tx.all<{ id: string }>(select, [
      ...ids.bind(sorted.map((id) => [id])),
      token,
    ]);
    return new Set(fresh.map(({ id }) => id));
  }

  /** Forgets those from before `oldest`, epoch milliseconds, at most `limit` of them. @returns how many */
  expire(oldest: number, limit: number): Promise<number> {
    const { old, ids, remove } = this.#sql;
    return this.database.transaction(async (tx) => {
      const rows = await tx.all<{ id: string }>(old, [oldest * 1_000, limit]);
      if (rows.length > 0) await tx.run(remove, ids.bind(rows.map(({ id }) => [id])));
      return rows.length;
    });
  }
}

function statementsFor(dialect: Dialect) {
  const rows = dialect.rows(INBOUND);
  const ids = dialect.rows({ v_id: 'uuid' });
  return {
    rows,
    ids,
    insert: `INSERT INTO messaging_inbound_message (id, token, received_at)
      SELECT v_id, v_token, v_at FROM ${rows.sql} WHERE 1 = 1
      ${dialect.ignoreConflict('messaging_inbound_message', 'id')}`,
    select: `SELECT i.id FROM ${ids.sql} ${dialect.join} messaging_inbound_message i
      ON i.id = v_id AND i.token = ?`,
    old: 'SELECT id FROM messaging_inbound_message WHERE received_at < ? ORDER BY received_at LIMIT ?',
    remove: dialect.deleteFrom('messaging_inbound_message', 'id', ids),
  };
}
