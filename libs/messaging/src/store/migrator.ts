import { DataSource, type DataSourceOptions, type MigrationInterface } from 'typeorm';
import { MessagingError } from '../message/errors.js';
import { isLockTimeout } from './database-errors.js';
import { dialectOf } from './dialect.js';

export type Migrations = readonly (new () => MigrationInterface)[];

const LOCK = 741_852_963;

/** Milliseconds a replica waits for the one that migrates before it. */
const PATIENCE = 120_000;

/** Somebody else migrates, or died while the server still holds its lock. */
export class MigrationLockedError extends MessagingError {
  constructor(patience: number) {
    super(
      'migration_locked',
      `Another session has held the migration lock (messaging-${LOCK}) for ${patience / 1_000} s; wait for its migration, or end that session, and start again`,
    );
  }
}

/**
 * Creates and updates the `messaging_*` tables; replicas that start together take turns.
 * @throws MigrationLockedError where somebody else holds the lock for `patience` milliseconds
 */
export async function migrate(
  dataSource: DataSource,
  migrations: Migrations,
  patience = PATIENCE,
): Promise<void> {
  const own = new DataSource({
    ...dataSource.options,
    entities: [],
    subscribers: [],
    migrations: [...migrations],
    migrationsTableName: 'messaging_migrations',
    migrationsRun: false,
    ...ofTwo(dataSource),
    synchronize: false,
    dropSchema: false,
  } as DataSourceOptions);
  await own.initialize();
  try {
    const unlock = await lock(own, patience);
    try {
      await own.runMigrations({ transaction: 'each' });
    } finally {
      await unlock();
    }
  } finally {
    await own.destroy();
  }
}

/** One connection holds the lock, the other migrates, whatever the app's own pool may hold. */
function ofTwo(dataSource: DataSource): { poolSize?: number; extra?: object } {
  const { kind } = dialectOf(dataSource);
  if (kind === 'sqlite') return {};
  const extra = dataSource.options.extra as object | undefined;
  const limit = kind === 'postgres' ? { max: 2 } : { connectionLimit: 2 };
  return { poolSize: 2, extra: { ...extra, ...limit } };
}

async function lock(dataSource: DataSource, patience: number): Promise<() => Promise<void>> {
  const { kind } = dialectOf(dataSource);
  if (kind === 'sqlite') return async () => undefined;
  const { take, give } = LOCKS[kind](patience);
  const runner = dataSource.createQueryRunner();
  try {
    let taken: unknown;
    for (const statement of take)
      taken = ((await runner.query(statement)) as { taken?: unknown }[])[0]?.taken;
    // MySQL says 0 after the time, and NULL where something went wrong.
    if (kind === 'mysql' && Number(taken) !== 1) throw new MigrationLockedError(patience);
  } catch (error) {
    await runner.release();
    throw isLockTimeout(error) ? new MigrationLockedError(patience) : error;
  }
  return async () => {
    await runner.query(give);
    await runner.release();
  };
}

const LOCKS = {
  postgres: (patience: number) => ({
    take: [`SET lock_timeout = ${patience}`, `SELECT 1 AS taken FROM pg_advisory_lock(${LOCK})`],
    give: `SELECT pg_advisory_unlock(${LOCK})`,
  }),
  mysql: (patience: number) => ({
    take: [`SELECT GET_LOCK('messaging-${LOCK}', ${patience / 1_000}) AS taken`],
    give: `SELECT RELEASE_LOCK('messaging-${LOCK}')`,
  }),
};
