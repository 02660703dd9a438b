import type { Sql, StoreDatabase, Transaction } from '../database/store-database.js';
import type { StatusChange } from '../rows/status.js';
import type { OutcomeCounts } from './outcome-counts.js';
import { type Spent, StatusWriter } from './status-writer.js';

/** Has each group of changes counted in its transaction, with what the spend guard charges for it. */
export class CountingStatusWriter extends StatusWriter {
  readonly #database: StoreDatabase;
  readonly #counts: OutcomeCounts;

  constructor(counts: OutcomeCounts, ...others: ConstructorParameters<typeof StatusWriter>) {
    super(...others);
    this.#counts = counts;
    [this.#database] = others;
  }

  override run<R>(work: (sql: Sql, tx?: Transaction) => Promise<R>): Promise<R> {
    return this.#database.transaction((tx) => work(tx, tx));
  }

  override async guard(tx: Transaction, changes: readonly StatusChange[]): Promise<Spent> {
    // All reads come before the guard, which locks the rows of tenants until the commit.
    const count = await this.#counts.of(tx, changes, await this.statusesOf(tx, changes));
    const spent = await super.guard(tx, changes);
    await count(spent);
    return spent;
  }
}
