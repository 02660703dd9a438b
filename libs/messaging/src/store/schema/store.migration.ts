import type { MigrationInterface, QueryRunner } from 'typeorm';
import { isDuplicateIndex } from '../database/database-errors.js';
import { driverOf } from '../open-store.js';
import { columnsSql, type TableColumns } from './columns.js';
import { PRIMARY_KEYS } from './tables.js';

class Store1790000000000 implements MigrationInterface {
  readonly name = 'Store1790000000000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of await driverOf(runner.dataSource).schema(runner))
      await createIfMissing(runner, statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of Object.keys(PRIMARY_KEYS))
      await runner.query(`DROP TABLE IF EXISTS messaging_${table}`);
  }
}

/** Adds to the first version: ends and notes of holds, and messages sent again. */
class Operations1790000000040 implements MigrationInterface {
  readonly name = 'Operations1790000000040';

  async up(runner: QueryRunner): Promise<void> {
    const driver = driverOf(runner.dataSource);
    for (const [column, type] of Object.entries({
      until_at: driver.dialect.types.big,
      note: driver.dialect.types.key,
    }))
      if (!(await runner.hasColumn('messaging_hold', column)))
        await runner.query(`ALTER TABLE messaging_hold ADD COLUMN ${column} ${type}`);
    for (const statement of await driver.schema(runner)) await createIfMissing(runner, statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE IF EXISTS messaging_resend');
    for (const column of ['until_at', 'note'])
      await runner.query(`ALTER TABLE messaging_hold DROP COLUMN ${column}`);
  }
}

class RecipientIndex1790000000100 implements MigrationInterface {
  readonly name = 'RecipientIndex1790000000100';

  async up(runner: QueryRunner): Promise<void> {
    await createIfMissing(
      runner,
      'CREATE INDEX messaging_message_recipient ON messaging_message (recipient, batch)',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    const { kind } = driverOf(runner.dataSource).dialect;
    await runner.query(
      `DROP INDEX messaging_message_recipient${kind === 'mysql' ? ' ON messaging_message' : ''}`,
    );
  }
}

/** A migration that creates tables with their indexes; `name` ends with its timestamp. */
export function tablesMigration<T extends string>(
  name: string,
  tables: Readonly<Record<T, TableColumns>>,
  primaryKeys: Readonly<Record<T, string>>,
  indexes: readonly (readonly [kind: 'INDEX' | 'UNIQUE INDEX', name: string, on: string])[],
): new () => MigrationInterface {
  return class implements MigrationInterface {
    readonly name = name;

    async up(runner: QueryRunner): Promise<void> {
      const driver = driverOf(runner.dataSource);
      const { kind, types } = driver.dialect;
      const options = await driver.tableOptions(runner);
      for (const [table, columns] of Object.entries<TableColumns>(tables)) {
        const all = columnsSql(columns, types).join(', ');
        const key = primaryKeys[table as T];
        await runner.query(
          `CREATE TABLE IF NOT EXISTS messaging_${table} (${all}, PRIMARY KEY (${key}))${options}`,
        );
      }
      const ifNew = kind === 'mysql' ? '' : 'IF NOT EXISTS ';
      for (const [what, index, on] of indexes)
        await createIfMissing(
          runner,
          `CREATE ${what} ${ifNew}messaging_${index} ON messaging_${on}`,
        );
    }

    async down(runner: QueryRunner): Promise<void> {
      for (const table of Object.keys(tables))
        await runner.query(`DROP TABLE IF EXISTS messaging_${table}`);
    }
  };
}

/** MySQL commits each DDL statement and has no `CREATE INDEX IF NOT EXISTS`. */
export async function createIfMissing(runner: QueryRunner, statement: string): Promise<void> {
  await runner.query(statement).catch((error: unknown) => {
    if (!isDuplicateIndex(error)) throw error;
  });
}

export const STORE_MIGRATIONS = [Store1790000000000, Operations1790000000040];

/** Index of messages by recipient, only for apps with a frequency cap: each message pays for it. */
export const FREQUENCY_CAP_MIGRATIONS = [RecipientIndex1790000000100];
