import { stat } from 'node:fs/promises';
import { isBusy } from '../database/database-errors.js';
import type { MigrationLock, StoreDriver } from '../driver.js';
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

/** The write lock of the file. */
const MIGRATION_LOCK: MigrationLock = {
  isTransaction: true,
  async take(runner) {
    try {
      await runner.query('BEGIN IMMEDIATE');
      return true;
    } catch (error) {
      if (isBusy(error)) return false;
      throw error;
    }
  },
  /** The file does not say which process it is, but a working one writes to the log. */
  async holder(runner) {
    const { database } = runner.dataSource.options;
    const log = await stat(`${String(database)}-wal`).catch(() => undefined);
    return {
      session: 'of the SQLite file',
      works: log !== undefined && Date.now() - log.mtimeMs < 2_000,
    };
  },
  async release(runner, _key, done) {
    await runner.query(done ? 'COMMIT' : 'ROLLBACK');
  },
};

export const SQLITE_DRIVER: StoreDriver = {
  Database: SqliteDatabase,
  dialect: SQLITE_DIALECT,
  schema,
  tableOptions: async () => ' WITHOUT ROWID',
  // UTF-8 or UTF-16.
  requireUnicode: async () => undefined,
  migrationLock: MIGRATION_LOCK,
};
