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
  /** @throws MessagingConfigError where the database or its connection cannot hold every text */
  requireUnicode(dataSource: DataSource): Promise<void>;
  readonly migrationLock: MigrationLock;
}

/** Lets one process migrate at a time. Its statements run on one connection, as those of a migration. */
export interface MigrationLock {
  /** What runs under the lock is one transaction, which its end commits. */
  readonly isTransaction: boolean;
  /** Asks once, without a wait. False: another session has it. */
  take(runner: QueryRunner, key: number): Promise<boolean>;
  /** The session that has it; `undefined`: none has, or this user cannot see it. */
  holder(runner: QueryRunner, key: number): Promise<LockHolder | undefined>;
  /** @param done false: the work failed, and what can be rolled back is */
  release(runner: QueryRunner, key: number, done: boolean): Promise<void>;
}

export interface LockHolder {
  readonly session: string;
  /** It runs a statement, or has ended one within the last two seconds, and waits for no lock. */
  readonly works: boolean;
}
