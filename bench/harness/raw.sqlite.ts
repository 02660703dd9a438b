import { close, fdatasync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import Database from 'libsql';

/** SQLite by the driver alone, with room for the pages as the library has it; it commits with the disk (`FULL`) or without. */
export function openRawSqlite(
  path: string,
  synchronous: 'FULL' | 'NORMAL',
): InstanceType<typeof Database> {
  const database = new Database(path);
  for (const pragma of [
    'journal_mode = WAL',
    'cache_size = -32000',
    'wal_autocheckpoint = 8000',
    `synchronous = ${synchronous}`,
    // The log is made when the database is first read.
    'schema_version',
  ])
    database.pragma(pragma);
  return database;
}

/** The log of a database that is open, to be synced beside the event loop, as the library does it. */
export function openWal(path: string): { sync(): Promise<void>; close(): Promise<void> } {
  const log = openSync(`${path}-wal`, 'r+');
  const sync = promisify(fdatasync);
  return { sync: () => sync(log), close: () => promisify(close)(log) };
}
