import type { Clock } from '@dundun/messaging';
import { statSync } from 'node:fs';
import type { DataSource } from 'typeorm';
import type { DatabaseUrl } from '../config/database-url.js';
import { type Check, CheckError } from './check.js';

type Row = Readonly<Record<string, unknown>>;

/** Most that clocks of two machines may differ, in milliseconds. */
const MOST_SKEW = 5_000;

/** Share of the connections that may be taken. */
const MOST_TAKEN = 0.9;

/** Largest log of SQLite before its checkpoint, in bytes. */
const MOST_WAL = 1 << 30;

/** Least `max_allowed_packet`: a piece of an attachment and its statement. */
const LEAST_PACKET = 16 * 1_024 * 1_024;

/** Settings under which the database keeps what it has committed, and takes more. */
export function databaseChecks(
  dataSource: DataSource,
  database: DatabaseUrl,
  clock: Pick<Clock, 'now'>,
): Check[] {
  const first = async (sql: string): Promise<Row> => {
    const rows = (await dataSource.query(sql)) as Row[];
    return rows[0] ?? {};
  };
  const remedy = 'check that the database runs and answers other clients';
  return [
    {
      name: 'database settings',
      remedy,
      run: async () => {
        switch (database.type) {
          case 'postgres':
            return postgresSettings(await first(POSTGRES));
          case 'mysql':
          case 'mariadb':
            return mysqlSettings({ ...(await first(MYSQL)), taken: (await first(TAKEN))['Value'] });
          case 'sqlite':
            return sqliteSettings(database.path);
        }
      },
    },
    {
      name: 'clock',
      remedy: 'set the clocks of this machine and of the database by NTP',
      run: async () => {
        if (database.type === 'sqlite') return sqliteClock(await first(NEWEST), clock.now());
        const asked = clock.now();
        const { at } = await first(NOW[database.type]);
        const answered = clock.now();
        // The database has read its clock at some time between the two.
        const theirs = Number(at);
        const skew = Math.max(asked - theirs, theirs - answered, 0);
        if (!(skew <= MOST_SKEW))
          throw new CheckError(`it differs from that of the database by ${seconds(skew)}`);
        return 'it is that of the database, to within 5 s';
      },
    },
  ];
}

const NOW = {
  postgres: 'SELECT extract(epoch FROM clock_timestamp()) * 1000 AS at',
  mysql: 'SELECT unix_timestamp(sysdate(3)) * 1000 AS at',
  mariadb: 'SELECT unix_timestamp(sysdate(3)) * 1000 AS at',
} as const;

const POSTGRES = `SELECT current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS full_page_writes,
  current_setting('synchronous_commit') AS synchronous_commit,
  current_setting('default_transaction_read_only') AS read_only,
  pg_is_in_recovery()::text AS standby,
  current_setting('max_connections')::int AS most,
  (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend') AS taken`;

const MYSQL = `SELECT @@global.innodb_flush_log_at_trx_commit AS flush_log,
  @@global.read_only AS read_only, @@global.max_allowed_packet AS packet,
  @@global.max_connections AS most`;

const TAKEN = "SHOW GLOBAL STATUS LIKE 'Threads_connected'";

/** Ids of batches begin with the time of their acceptance. */
const NEWEST = 'SELECT max(id) AS id FROM messaging_batch';

function postgresSettings(row: Row): string {
  for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit'] as const)
    if (row[setting] === 'off')
      throw new CheckError(
        `${setting} is off: what was committed may be lost with the power`,
        `ALTER SYSTEM SET ${setting} = on, and no other value for this database or user`,
      );
  if (row['read_only'] === 'on' || row['standby'] === 'true')
    throw new CheckError(
      'it takes no writes',
      'name the primary in DATABASE_URL, without default_transaction_read_only',
    );
  connectionsLeft(row);
  return 'it keeps what it commits';
}

function mysqlSettings(row: Row): string {
  if (Number(row['flush_log']) !== 1)
    throw new CheckError(
      `innodb_flush_log_at_trx_commit is ${Number(row['flush_log'])}: what was committed may be lost with the power`,
      'SET GLOBAL innodb_flush_log_at_trx_commit = 1, and in the configuration',
    );
  if (Number(row['read_only']) === 1)
    throw new CheckError('it takes no writes', 'name the primary in DATABASE_URL');
  if (Number(row['packet']) < LEAST_PACKET)
    throw new CheckError(
      `max_allowed_packet is ${Number(row['packet'])} bytes: large sends and attachments are refused`,
      'set max_allowed_packet to 64M',
    );
  connectionsLeft(row);
  return 'it keeps what it commits';
}

function connectionsLeft(row: Row): void {
  const [taken, most] = [Number(row['taken']), Number(row['most'])];
  if (taken > most * MOST_TAKEN)
    throw new CheckError(
      `${taken} of ${most} connections are taken`,
      'raise max_connections, or put a pooler in front',
    );
}

function sqliteSettings(path: string): string {
  const size = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (size > MOST_WAL)
    throw new CheckError(
      `its log has ${Math.round(size / (1 << 20))} MiB: a reader keeps it from being merged into the file`,
      'end programs that have the file open, such as an old backup',
    );
  return 'it keeps what it commits';
}

/** SQLite has the clock of this machine: only a clock that was set back is seen. */
function sqliteClock({ id }: Row, now: number): string {
  const newest =
    typeof id === 'string' ? Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16) : 0;
  const ahead = newest - now;
  if (ahead > MOST_SKEW)
    throw new CheckError(`the newest message is ${seconds(ahead)} ahead of it: it was set back`);
  return 'it is not behind the newest message';
}

function seconds(milliseconds: number): string {
  return `${Math.round(milliseconds / 1_000)} s`;
}
