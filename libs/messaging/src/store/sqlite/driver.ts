import type { StoreDriver } from '../driver.js';
import { partialIndexes, PRIMARY_KEYS, storeColumns } from '../schema/tables.js';
import { SqliteDatabase } from './connection.js';
import { SQLITE_DIALECT } from './dialect.js';

async function schema(): Promise<string[]> {
  const { report, ...tables } = storeColumns(SQLITE_DIALECT.types);
  return [
    ...Object.entries(tables).map(
      ([name, columns]) => `CREATE TABLE IF NOT EXISTS messaging_${name} (${columns.join(', ')},
        PRIMARY KEY (${PRIMARY_KEYS[name as keyof typeof tables]})) WITHOUT ROWID`,
    ),
    `CREATE TABLE IF NOT EXISTS messaging_report (id INTEGER PRIMARY KEY AUTOINCREMENT, ${report.join(', ')})`,
    ...partialIndexes(),
    // Followed by the id, as every index of a table with an integer key.
    'CREATE INDEX IF NOT EXISTS messaging_report_list ON messaging_report (tenant, received_at)',
  ];
}

export const SQLITE_DRIVER: StoreDriver = {
  Database: SqliteDatabase,
  dialect: SQLITE_DIALECT,
  schema,
  tableOptions: async () => ' WITHOUT ROWID',
  migrationLock: undefined,
};
