import type { DataSource, QueryRunner } from 'typeorm';
import { MessagingConfigError } from '../../message/errors.js';
import { HAS_WORK } from '../rows/batch-state.js';
import { PRIMARY_KEYS, storeColumns, type StoreTable } from '../schema/tables.js';
import type { MigrationLock, StoreDriver } from '../driver.js';
import { MysqlDatabase } from './connection.js';
import { MYSQL_DIALECT } from './dialect.js';

/** Collations of MariaDB and MySQL 8 that compare byte by byte, including trailing spaces. */
const EXACT = ['utf8mb4_nopad_bin', 'utf8mb4_0900_bin'];

/** Without partial indexes, the condition's columns lead the index where a query needs them. */
const INDEXES: readonly (readonly [string, StoreTable, string])[] = [
  ['lane_held', 'lane', 'owner'],
  ['batch_queue', 'batch', 'has_work, lane, priority, parked_until, available_at, id'],
  ['batch_content', 'batch', 'completed_at'],
  ['batch_poll', 'batch', 'poll_at'],
  ['batch_list', 'batch', 'tenant, id'],
  ['batch_label_list', 'batch_label', 'tenant, tag, batch'],
  ['submission_open', 'submission', 'outcome, batch, n'],
  ['submission_reference', 'submission', 'reference'],
  ['message_reference', 'message', 'reference'],
  ['resend_new', 'resend', 'new_batch'],
  ['notification_due', 'notification', 'due_at'],
  ['notification_planned', 'notification', 'tenant, id'],
  ['notification_ended', 'notification', 'ended_at'],
  // Also finds the reports without a match.
  ['report_batch', 'report', 'batch, id'],
  ['report_list', 'report', 'tenant, received_at, id'],
  ['report_waiting', 'report', 'batch, reference'],
  ['report_waiting_message', 'report', 'batch, message_id'],
];

/** MySQL's older binary collation ignores trailing spaces: tenants could read others' batches. */
async function tableOptions(runner: QueryRunner): Promise<string> {
  const known = (await runner.query(
    `SELECT collation_name AS name FROM information_schema.collations WHERE collation_name IN ('${EXACT.join("', '")}')`,
  )) as { name: string }[];
  const collation = EXACT.find((exact) => known.some(({ name }) => name === exact));
  return ` CHARACTER SET utf8mb4 COLLATE ${collation ?? 'utf8mb4_bin'}`;
}

async function schema(runner: QueryRunner): Promise<string[]> {
  const options = await tableOptions(runner);
  const { report, ...tables } = storeColumns(MYSQL_DIALECT.types);
  // Stored: the server pushes no index condition down to a virtual column, and would read the lane.
  tables.batch.push(
    `has_work SMALLINT GENERATED ALWAYS AS (CASE WHEN ${HAS_WORK} THEN 1 ELSE 0 END) STORED`,
  );
  return [
    ...Object.entries(tables).map(
      ([name, columns]) => `CREATE TABLE IF NOT EXISTS messaging_${name} (${columns.join(', ')},
        PRIMARY KEY (${PRIMARY_KEYS[name as keyof typeof tables]}))${options}`,
    ),
    `CREATE TABLE IF NOT EXISTS messaging_report (id BIGINT AUTO_INCREMENT PRIMARY KEY, ${report.join(', ')})${options}`,
    ...INDEXES.map(
      ([name, table, columns]) =>
        `CREATE INDEX messaging_${name} ON messaging_${table} (${columns})`,
    ),
    'CREATE UNIQUE INDEX messaging_batch_idempotency ON messaging_batch (tenant, channel, idempotency_key)',
    'CREATE UNIQUE INDEX messaging_report_hash ON messaging_report (hash)',
    'CREATE UNIQUE INDEX messaging_notification_idempotency ON messaging_notification (tenant, idempotency_key)',
  ];
}

/** Tables say their own character set: what remains is the connection. */
async function requireUnicode(dataSource: DataSource): Promise<void> {
  const [session] = await dataSource.query<{ sets: string; mode: string }[]>(
    `SELECT CONCAT_WS(' ', @@character_set_client, @@character_set_connection, @@character_set_results) AS sets,
       @@sql_mode AS mode`,
  );
  const other = session?.sets.split(' ').find((set) => set !== 'utf8mb4');
  if (other !== undefined)
    throw new MessagingConfigError(
      `dataSource: its connections use the character set ${other}, which cannot hold every text; set charset: 'utf8mb4'`,
    );
  // The driver writes values into statements with backslashes: a quote would end its text.
  if (session?.mode.includes('NO_BACKSLASH_ESCAPES'))
    throw new MessagingConfigError(
      'dataSource: the sql_mode of its connections has NO_BACKSLASH_ESCAPES, with which a text can end its literal; take it out of sql_mode',
    );
}

/**
 * The name of a lock is one for the whole server, and at most 64 characters long. The lock of a
 * database leaves the migrations of others alone.
 */
const lockName = (key: number): string => `CONCAT('messaging-${key}-', MD5(LOWER(DATABASE())))`;

/** The server gives it up with the connection. Each wait of a migration for a table is bounded. */
const MIGRATION_LOCK: MigrationLock = {
  isTransaction: false,
  async take(runner, key) {
    const [row] = (await runner.query(`SELECT GET_LOCK(${lockName(key)}, 0) AS taken`)) as {
      taken: unknown;
    }[];
    // 0 where another session has it, and NULL for an error.
    if (Number(row?.taken) !== 1) return false;
    await runner.query(`SET @messaging_table_wait = @@lock_wait_timeout,
      @messaging_row_wait = @@innodb_lock_wait_timeout,
      SESSION lock_wait_timeout = 30, SESSION innodb_lock_wait_timeout = 30`);
    return true;
  },
  async holder(runner, key) {
    const [row] =
      (await runner.query(`SELECT id AS id, command AS command, time AS time, state AS state
       FROM information_schema.processlist WHERE id = IS_USED_LOCK(${lockName(key)})`)) as {
        id: unknown;
        command: string;
        time: unknown;
        state: string | null;
      }[];
    if (!row) return undefined;
    const isIdle = row.command === 'Sleep' && Number(row.time) >= 2;
    const works = !isIdle && !/lock/i.test(row.state ?? '');
    return { session: String(row.id), works };
  },
  async release(runner, key) {
    await runner.query(`SET SESSION lock_wait_timeout = @messaging_table_wait,
      SESSION innodb_lock_wait_timeout = @messaging_row_wait`);
    await runner.query(`SELECT RELEASE_LOCK(${lockName(key)})`);
  },
};

/** MySQL and MariaDB. */
export const MYSQL_DRIVER: StoreDriver = {
  Database: MysqlDatabase,
  dialect: MYSQL_DIALECT,
  schema,
  tableOptions,
  requireUnicode,
  migrationLock: MIGRATION_LOCK,
};
