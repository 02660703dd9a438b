import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { BetterSqlite3DataSourceOptions } from 'typeorm/driver/better-sqlite3/BetterSqlite3DataSourceOptions.js';
import { MessagingConfigError } from '../../message/errors.js';
import { isBusy } from '../database-errors.js';
import { WalSync } from './wal-sync.js';

/** Milliseconds after which somebody is told. */
const LONG = 5_000;

/** Room for the pages that are written again and again: KiB in memory, and 4 KiB pages before a checkpoint. */
const ROOM = ['cache_size = -32000', 'wal_autocheckpoint = 8000'];

/** A connection of the store's own, and what brings its commits to the disk. */
export interface PrivateConnection {
  readonly dataSource: DataSource;
  /** `undefined`: each commit does that itself. */
  readonly wal: WalSync | undefined;
}

/**
 * A connection beside the app's on the same file. What it commits is lost with the power until the
 * log was synced.
 * @throws MessagingConfigError where there is no file
 */
export async function privateConnection({ options }: DataSource): Promise<PrivateConnection> {
  if (options.database === ':memory:' || options.database === '')
    throw new MessagingConfigError(
      'dataSource: an in-memory SQLite database is lost with the process and cannot be shared; use a file',
    );
  const own = new DataSource({
    ...(options as BetterSqlite3DataSourceOptions),
    synchronize: false,
    dropSchema: false,
    migrationsRun: false,
    subscribers: [],
    timeout: 0,
  });
  await own.initialize();
  for (const pragma of ROOM) await own.query(`PRAGMA ${pragma}`);
  const [mode] = await own.query<{ journal_mode: string }[]>('PRAGMA journal_mode = WAL');
  // Not every file system can have such a log.
  const wal = mode?.journal_mode === 'wal' ? await WalSync.open(own) : undefined;
  await own.query(`PRAGMA synchronous = ${wal ? 'NORMAL' : 'FULL'}`);
  return { dataSource: own, wal };
}

/**
 * Does `work` once no other process holds SQLite's write lock; waits without blocking the event loop.
 * @throws the reason of `over` where that comes first
 */
export async function whenFree<T>(work: () => Promise<T>, over?: AbortSignal): Promise<T> {
  const warnAt = Date.now() + LONG;
  let warned = false;
  for (;;) {
    over?.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (!warned && Date.now() > warnAt) {
        warned = true;
        new Logger('StoreDatabase').warn(
          'SQLite has been locked by another process for 5 s; waiting for it',
        );
      }
      await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 10));
    }
  }
}
