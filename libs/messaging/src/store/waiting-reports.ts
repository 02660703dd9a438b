import type { Dialect } from './dialect.js';
import type { StoreDatabase } from './store-database.js';
import type { WaitingRow } from './received-report.js';

const COLUMNS = `r.id, r.hash, r.provider, r.reference, r.message_id, r.recipient, r.status, r.raw_status,
  r.error_code, r.provider_time, r.received_at`;

/** Reports in the log that match nothing yet: they wait for their submit's answer, or for nothing. */
export class WaitingReports {
  readonly #sql: ReturnType<typeof statementsFor>;

  constructor(private readonly database: StoreDatabase) {
    this.#sql = statementsFor(database.dialect);
  }

  /** Those that name one of these, as reference or as message id. */
  named(names: readonly string[]): Promise<WaitingRow[]> {
    const rows = this.#sql.names.bind([...new Set(names)].map((name) => [name]));
    return this.database.all<WaitingRow>(this.#sql.named, [...rows, ...rows]);
  }

  /** In the order they came, after `id`. */
  after(id: number, limit: number): Promise<WaitingRow[]> {
    return this.database.all<WaitingRow>(this.#sql.after, [id, limit]);
  }

  /**
   * Forgets those up to `id` that came before `time` (epoch microseconds) and still wait.
   * @returns how many
   */
  expire(after: number, id: number, time: number): Promise<number> {
    return this.database.transaction((tx) => tx.run(this.#sql.expire, [after, id, time]));
  }
}

function statementsFor(dialect: Dialect) {
  const names = dialect.rows({ v_name: 'key' });
  const naming = (column: string) => `SELECT ${COLUMNS} FROM ${names.keyed}
    ${dialect.join} messaging_report r ON r.${column} = v_name WHERE r.batch IS NULL`;
  return {
    names,
    named: `${naming('reference')} UNION ${naming('message_id')} ORDER BY id`,
    after: `SELECT ${COLUMNS} FROM messaging_report r WHERE r.batch IS NULL AND r.id > ?
      ORDER BY r.id LIMIT ?`,
    expire: `DELETE FROM messaging_report WHERE batch IS NULL AND id > ? AND id <= ? AND received_at < ?`,
  };
}
