import {
  DataSource,
  type DataSourceOptions,
  MigrationExecutor,
  type MigrationInterface,
  type QueryRunner,
} from 'typeorm';
import { MessagingError } from '../../message/errors.js';
import { isLockTimeout } from '../database/database-errors.js';
import { driverOf } from '../open-store.js';

export type Migrations = readonly (new () => MigrationInterface)[];

const LOCK = 741_852_963;

/** Longest wait, in ms, for another replica's migration. */
const TIMEOUT = 120_000;

/** Another process migrates, or died while the server still holds its lock. */
export class MigrationLockedError extends MessagingError {
  constructor(timeout: number) {
    super(
      'migration_locked',
      `Another session has held the migration lock (messaging-${LOCK}) for ${timeout / 1_000} s; wait for its migration, or end that session, and start again`,
    );
  }
}

/** Replicas migrate one after another. @throws MigrationLockedError after `timeout` milliseconds */
export async function migrate(
  dataSource: DataSource,
  migrations: Migrations,
  timeout = TIMEOUT,
): Promise<void> {
  const own = new DataSource({
    ...dataSource.options,
    entities: [],
    subscribers: [],
    migrations: [...migrations],
    migrationsTableName: 'messaging_migrations',
    migrationsRun: false,
    synchronize: false,
    dropSchema: false,
  } as DataSourceOptions);
  await own.initialize();
  const run = (runner: QueryRunner) => {
    const executor = new MigrationExecutor(own, runner);
    executor.transaction = 'each';
    return executor.executePendingMigrations();
  };
  try {
    await withMigrationLock(own, run, timeout);
  } finally {
    await own.destroy();
  }
}

/**
 * Runs `work` while no other process of this database migrates; on SQLite at once. For apps that
 * run their own migrations (`store: { migrate: false }`).
 * @param work gets the connection that holds the lock
 * @param timeout longest wait for the lock, in milliseconds @default 120_000
 * @throws MigrationLockedError after `timeout`
 */
export async function withMigrationLock<T>(
  dataSource: DataSource,
  work: (runner: QueryRunner) => Promise<T>,
  timeout = TIMEOUT,
): Promise<T> {
  const { migrationLock } = driverOf(dataSource);
  const runner = dataSource.createQueryRunner();
  try {
    if (migrationLock && !(await isTaken(runner, migrationLock.take(LOCK, timeout))))
      throw new MigrationLockedError(timeout);
    return await work(runner);
  } finally {
    // A lost connection has already released its lock.
    if (migrationLock) await runner.query(migrationLock.release(LOCK)).catch(() => undefined);
    await runner.release();
  }
}

async function isTaken(runner: QueryRunner, take: string): Promise<boolean> {
  try {
    const [row] = (await runner.query(take)) as { taken?: unknown }[];
    // MySQL returns 0 after the timeout, and NULL for an error.
    return Number(row?.taken) === 1;
  } catch (error) {
    if (isLockTimeout(error)) return false;
    throw error;
  }
}
