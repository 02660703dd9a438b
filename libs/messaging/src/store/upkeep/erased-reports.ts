import type { Dialect } from '../database/dialect.js';
import type { Sql, StoreDatabase } from '../database/store-database.js';
import type { MessageAt } from './erased-messages.js';

/** Most reports that one query reads and one transaction changes. */
const WINDOW = 5_000;

/** Condition on a report `r`. */
interface Condition {
  readonly tenant: string;
  /** `batch` condition; it leads the index. */
  readonly batch: string;
  readonly key: readonly unknown[];
  readonly further: string;
  readonly params: readonly unknown[];
}

type InTransaction = (work: (tx: Sql) => Promise<void>) => Promise<void>;

export class ErasedReports {
  readonly #update: ReturnType<typeof statementsFor>;

  constructor(private readonly database: StoreDatabase) {
    this.#update = statementsFor(database.dialect);
  }

  /**
   * Reports of a message, and those of its batch that belong to no message or name the address.
   * @param forms of the address
   */
  of(tenant: string, [batch, position]: MessageAt, forms: readonly string[]): ReportsToErase {
    return this.#where({
      tenant,
      batch: 'r.batch = ?',
      key: [batch],
      further: `(r.position = ? OR ${isOneOf(forms)} OR r.position IS NULL)`,
      params: [position, ...forms],
    });
  }

  /** Reports that wait for their message. */
  waiting(forms: readonly string[]): ReportsToErase {
    const further = isOneOf(forms);
    return this.#where({
      tenant: '',
      batch: 'r.batch IS NULL',
      key: [],
      further,
      params: forms,
    });
  }

  #where(condition: Condition): ReportsToErase {
    return new ReportsToErase(this.database, this.#update, condition);
  }
}

class ReportsToErase {
  constructor(
    private readonly database: StoreDatabase,
    private readonly update: ReturnType<typeof statementsFor>,
    private readonly condition: Condition,
  ) {}

  /**
   * Leaves the last window, so that most batches need no transaction more than their message.
   * @returns the id up to which all are erased
   */
  async eraseMost(
    transaction: InTransaction,
    sql: Pick<Sql, 'all'> = this.database,
  ): Promise<number> {
    const { batch, key } = this.condition;
    for (let past = 0; ;) {
      const from = past;
      const [end] = await sql.all<{ id: string | number }>(
        `SELECT r.id ${this.#reports()} WHERE ${batch} AND r.id > ?
         ORDER BY r.id LIMIT 1 OFFSET ${WINDOW - 1}`,
        [...key, from],
      );
      if (!end) return past;
      past = Number(end.id);
      await transaction((tx) => this.#erase(tx, from, past));
    }
  }

  eraseRest(tx: Sql, past: number): Promise<void> {
    return this.#erase(tx, past, Number.MAX_SAFE_INTEGER);
  }

  async #erase(tx: Sql, past: number, until: number): Promise<void> {
    const { tenant, batch, key, further, params } = this.condition;
    const found = await tx.all<{ id: string | number; receivedAt: string | number }>(
      `SELECT r.id, r.received_at AS "receivedAt" ${this.#reports()} WHERE ${batch} AND r.id > ? AND r.id <= ?
         AND r.recipient IS NOT NULL AND ${further}`,
      [...key, past, until, ...params],
    );
    if (found.length === 0) return;
    const { statement, ids } = this.update;
    const keys = found.map(({ id, receivedAt }) => [tenant, Number(receivedAt), Number(id)]);
    await tx.run(statement, ids.bind(keys));
  }

  #reports(): string {
    const index = this.database.dialect.forceIndex('messaging_report_batch');
    return `FROM messaging_report r ${index}`;
  }
}

/** SQL: the report names a form of the address. */
function isOneOf(forms: readonly string[]): string {
  return `r.recipient IN (${forms.map(() => '?').join(', ')})`;
}

function statementsFor(dialect: Dialect) {
  const ids = dialect.rows({ v_tenant: 'key', v_at: 'bigint', v_id: 'bigint' });
  return {
    ids,
    statement: dialect.updateFrom({
      table: 'messaging_report',
      rows: ids,
      set: 'recipient = NULL, details = NULL',
      where: `messaging_report.tenant = v_tenant AND messaging_report.received_at = v_at
        AND messaging_report.id = v_id`,
    }),
  };
}
