import type { DataSource } from 'typeorm';
import { MessagingConfigError } from '../../message/errors.js';
import type { MigrationLock, StoreDriver } from '../driver.js';
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

async function requireUnicode(dataSource: DataSource): Promise<void> {
  const [row] = await dataSource.query<{ encoding: string }[]>(
    "SELECT current_setting('server_encoding') AS encoding",
  );
  if (row?.encoding === 'UTF8') return;
  throw new MessagingConfigError(
    `dataSource: the encoding of the database is ${row?.encoding}, which cannot hold every text; use a database made by CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0`,
  );
}

/**
 * The lock of a transaction: a pooler in transaction mode keeps its connection, and gives it back
 * without the lock. Migrations run in it, so that their statements and the lock end together.
 */
const MIGRATION_LOCK: MigrationLock = {
  isTransaction: true,
  async take(runner, key) {
    await runner.query(`START TRANSACTION ISOLATION LEVEL READ COMMITTED;
      SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL lock_timeout = '30s'`);
    const [row] = (await runner.query(`SELECT pg_try_advisory_xact_lock(${key}) AS taken`)) as {
      taken: boolean;
    }[];
    if (!row?.taken) await runner.query('ROLLBACK');
    return row?.taken === true;
  },
  async holder(runner, key) {
    const [row] = (await runner.query(`SELECT a.pid, a.wait_event_type IS DISTINCT FROM 'Lock'
         AND (a.state = 'active' OR a.state_change > clock_timestamp() - interval '2 s') AS works
       FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
       WHERE l.locktype = 'advisory' AND l.granted AND l.classid = 0 AND l.objid = ${key}
         AND l.objsubid = 1 AND a.datname = current_database() AND l.database = a.datid`)) as {
      pid: number;
      works: boolean | null;
    }[];
    return row && { session: String(row.pid), works: row.works === true };
  },
  async release(runner, _key, done) {
    await runner.query(done ? 'COMMIT' : 'ROLLBACK');
  },
};

export const POSTGRES_DRIVER: StoreDriver = {
  Database: PostgresDatabase,
  dialect: POSTGRES_DIALECT,
  schema,
  tableOptions: async () => '',
  requireUnicode,
  migrationLock: MIGRATION_LOCK,
};
