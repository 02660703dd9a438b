import { DataSource, type DataSourceOptions, type MigrationInterface } from 'typeorm';
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
    ...poolOf(dataSource),
    synchronize: false,
    dropSchema: false,
  } as DataSourceOptions);
  await own.initialize();
  try {
    await withMigrationLock(own, () => own.runMigrations({ transaction: 'each' }), timeout);
  } finally {
    await own.destroy();
  }
}

/** Two connections, regardless of the app's options: one holds the lock, the other migrates. */
function poolOf(dataSource: DataSource): { poolSize?: number; extra?: object } {
  const { migrationLock } = driverOf(dataSource);
  if (!migrationLock) return {};
  const extra = dataSource.options.extra as object | undefined;
  return { poolSize: 2, extra: { ...extra, [migrationLock.poolLimit]: 2 } };
}

/**
 * Runs `work` while no other process of this database migrates; on SQLite at once. For apps that
 * run their own migrations (`store: { migrate: false }`).
 * @param timeout longest wait for the lock, in milliseconds @default 120_000
 * @throws MigrationLockedError after `timeout`
 */
export async function withMigrationLock<T>(
  dataSource: DataSource,
  work: () => Promise<T>,
  timeout = TIMEOUT,
): Promise<T> {
  const { migrationLock } = driverOf(dataSource);
  if (!migrationLock) return work();
  const runner = dataSource.createQueryRunner();
  try {
    let taken: unknown;
    try {
      for (const statement of migrationLock.take(LOCK, timeout))
        taken = ((await runner.query(statement)) as { taken?: unknown }[])[0]?.taken;
    } catch (error) {
      throw isLockTimeout(error) ? new MigrationLockedError(timeout) : error;
    }
    // MySQL returns 0 after the timeout, and NULL for an error.
    if (Number(taken) !== 1) throw new MigrationLockedError(timeout);
    return await work();
  } finally {
    // A lost connection has already released its locks.
    for (const statement of migrationLock.release(LOCK))
      await runner.query(statement).catch(() => undefined);
    await runner.release();
  }
}
