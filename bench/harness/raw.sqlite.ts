import { close, fdatasync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import Database from 'libsql';

/** SQLite through the raw driver with the library's cache size, with synced commits (`FULL`) or without. */
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
    // SQLite creates the log at the first read.
    'schema_version',
  ])
    database.pragma(pragma);
  return database;
}

/** The write-ahead log of an open database, synced off the event loop like the library's. */
export function openWal(path: string): { sync(): Promise<void>; close(): Promise<void> } {
  const log = openSync(`${path}-wal`, 'r+');
  const sync = promisify(fdatasync);
  return { sync: () => sync(log), close: () => promisify(close)(log) };
}
