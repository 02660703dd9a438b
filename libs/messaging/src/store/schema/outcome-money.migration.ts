import type { MigrationInterface, QueryRunner } from 'typeorm';
import { driverOf } from '../open-store.js';
import { columnsSql, type TableColumns } from './columns.js';
import { OUTCOME_COLUMNS, OUTCOME_KEY, OUTCOME_PRIMARY_KEYS, OUTCOME_SUMS } from './outcomes.js';

const TABLE = 'messaging_outcome_hour';

/** Columns of money; a process of the version before leaves them out. */
const MONEY = ['currency', 'cost_currency', 'price', 'cost'];

const isFormer = (name: string): boolean => !MONEY.includes(name);

function former(columns: TableColumns): TableColumns {
  return Object.fromEntries(Object.entries(columns).filter(([name]) => isFormer(name)));
}

/** The tables as they were before they had money. */
export const FIRST_OUTCOME_COLUMNS = {
  outcome_hour: former(OUTCOME_COLUMNS.outcome_hour),
  outcome_change: former(OUTCOME_COLUMNS.outcome_change),
  outcome_state: OUTCOME_COLUMNS.outcome_state,
};

export const FIRST_OUTCOME_KEYS = {
  outcome_hour: OUTCOME_PRIMARY_KEYS.outcome_hour.split(', ').filter(isFormer).join(', '),
  outcome_change: OUTCOME_PRIMARY_KEYS.outcome_change,
  outcome_state: OUTCOME_PRIMARY_KEYS.outcome_state,
};

/** Adds price and cost to the counts of outcomes; rows from before have none. */
export class OutcomeMoney1790000002350 implements MigrationInterface {
  readonly name = 'OutcomeMoney1790000002350';

  async up(runner: QueryRunner): Promise<void> {
    const { types, kind } = driverOf(runner.dataSource).dialect;
    for (const table of ['outcome_change', 'outcome_hour'] as const) {
      const all: TableColumns = OUTCOME_COLUMNS[table];
      for (const name of MONEY) {
        if (await runner.hasColumn(`messaging_${table}`, name)) continue;
        const [column] = columnsSql({ [name]: String(all[name]) }, types);
        await runner.query(`ALTER TABLE messaging_${table} ADD COLUMN ${column}`);
      }
    }
    await this.#rekey(runner, OUTCOME_COLUMNS.outcome_hour, OUTCOME_PRIMARY_KEYS.outcome_hour);
    if (kind !== 'sqlite') return;
    // The rebuilt table has no index yet.
    await runner.query(`CREATE INDEX ${TABLE}_tenant ON ${TABLE} (tenant, start)`);
  }

  /** Of several currencies, the counts become one row again. */
  async down(runner: QueryRunner): Promise<void> {
    const { kind } = driverOf(runner.dataSource).dialect;
    const key = [...OUTCOME_KEY, 'minutes'].filter(isFormer).join(', ');
    const sums = OUTCOME_SUMS.filter(isFormer);
    const kept = `${TABLE}_kept`;
    await runner.query(
      `CREATE TABLE ${kept} AS SELECT ${key}, ${sums.map((name) => `sum(${name}) AS ${name}`).join(', ')}
       FROM ${TABLE} GROUP BY ${key}`,
    );
    await runner.query(`DELETE FROM ${TABLE}`);
    const { outcome_hour: columns } = FIRST_OUTCOME_COLUMNS;
    await this.#rekey(runner, columns, FIRST_OUTCOME_KEYS.outcome_hour);
    if (kind === 'sqlite')
      await runner.query(`CREATE INDEX ${TABLE}_tenant ON ${TABLE} (tenant, start)`);
    for (const name of MONEY) {
      if (kind !== 'sqlite') await runner.query(`ALTER TABLE ${TABLE} DROP COLUMN ${name}`);
      await runner.query(`ALTER TABLE messaging_outcome_change DROP COLUMN ${name}`);
    }
    const names = `${key}, ${sums.join(', ')}`;
    await runner.query(`INSERT INTO ${TABLE} (${names}) SELECT ${names} FROM ${kept}`);
    await runner.query(`DROP TABLE ${kept}`);
  }

  /** SQLite rebuilds the table, in a savepoint: the caller may have opened a transaction. */
  async #rekey(runner: QueryRunner, columns: TableColumns, key: string): Promise<void> {
    const driver = driverOf(runner.dataSource);
    const { types, kind } = driver.dialect;
    if (kind === 'mysql')
      await runner.query(`ALTER TABLE ${TABLE} DROP PRIMARY KEY, ADD PRIMARY KEY (${key})`);
    if (kind === 'postgres')
      await runner.query(
        `ALTER TABLE ${TABLE} DROP CONSTRAINT ${TABLE}_pkey, ADD PRIMARY KEY (${key})`,
      );
    if (kind !== 'sqlite') return;
    const names = Object.keys(columns).join(', ');
    const all = columnsSql(columns, types).join(', ');
    const options = await driver.tableOptions(runner);
    await runner.query('SAVEPOINT outcome_key');
    try {
      await runner.query(`CREATE TABLE ${TABLE}_new (${all}, PRIMARY KEY (${key}))${options}`);
      await runner.query(`INSERT INTO ${TABLE}_new (${names}) SELECT ${names} FROM ${TABLE}`);
      await runner.query(`DROP TABLE ${TABLE}`);
      await runner.query(`ALTER TABLE ${TABLE}_new RENAME TO ${TABLE}`);
    } catch (error) {
      await runner.query('ROLLBACK TO outcome_key');
      throw error;
    } finally {
      await runner.query('RELEASE outcome_key');
    }
  }
}
