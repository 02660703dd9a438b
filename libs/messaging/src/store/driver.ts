import type { DataSource, QueryRunner } from 'typeorm';
import type { Dialect } from './database/dialect.js';
import type { StoreDatabase, StoreDatabaseOptions } from './database/store-database.js';

/** Implementation for a family of databases; its fast paths are in the connection. */
export interface StoreDriver {
  readonly Database: new (source: DataSource, options: StoreDatabaseOptions) => StoreDatabase;
  readonly dialect: Dialect;
  /** CREATE statements of the first migration; repeatable, because some servers commit each. */
  schema(runner: QueryRunner): Promise<readonly string[]>;
  /** SQL after the columns in CREATE TABLE. */
  tableOptions(runner: QueryRunner): Promise<string>;
  /** A server lock for one migrating process; `undefined`: SQLite uses its write lock. */
  readonly migrationLock: MigrationLock | undefined;
}

export interface MigrationLock {
  /** The statement returns `taken: 1`; after `wait` ms it fails or returns another value. */
  take(key: number, wait: number): string;
  release(key: number): string;
}
