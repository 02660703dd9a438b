import type { StoreDriver } from '../driver.js';
import { partialIndexes, PRIMARY_KEYS, storeColumns, type StoreTable } from '../schema/tables.js';
import { PostgresDatabase } from './connection.js';
import { POSTGRES_DIALECT } from './dialect.js';

/** Space for heap-only updates: no index has a status, so new row versions stay in their page. */
const STORAGE: Partial<Record<StoreTable, string>> = { message: ' WITH (fillfactor = 45)' };

async function schema(): Promise<string[]> {
  const { report, ...tables } = storeColumns(POSTGRES_DIALECT.types);
  return [
    ...Object.entries(tables).map(([name, columns]) => {
      const table = name as keyof typeof tables;
      return `CREATE TABLE IF NOT EXISTS messaging_${table} (${columns.join(', ')},
        PRIMARY KEY (${PRIMARY_KEYS[table]}))${STORAGE[table] ?? ''}`;
    }),
    // No query finds a report by its id alone, so the index of a tenant's list is the primary key.
    `CREATE TABLE IF NOT EXISTS messaging_report (id bigint GENERATED ALWAYS AS IDENTITY,
      ${report.join(', ')}, PRIMARY KEY (tenant, received_at, id))`,
    ...partialIndexes(),
  ];
}

export const POSTGRES_DRIVER: StoreDriver = {
  Database: PostgresDatabase,
  dialect: POSTGRES_DIALECT,
  schema,
  tableOptions: async () => '',
  migrationLock: {
    // The offset keeps the subquery, whose limit of the wait ends with the statement.
    take: (key, wait) => `SELECT 1 AS taken, pg_advisory_lock(${key})
      FROM (SELECT set_config('lock_timeout', '${wait}', true) OFFSET 0) AS limited`,
    release: (key) => `SELECT pg_advisory_unlock(${key})`,
  },
};
