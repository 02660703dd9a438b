import { DataSource, type DataSourceOptions, type MigrationInterface } from 'typeorm';
import { dialectOf } from './dialect.js';

export type Migrations = readonly (new () => MigrationInterface)[];

const LOCK = 741_852_963;

/** Creates and updates the `messaging_*` tables; replicas that start together take turns. */
export async function migrate(dataSource: DataSource, migrations: Migrations): Promise<void> {
  const own = new DataSource({
    ...dataSource.options,
    entities: [],
    subscribers: [],
    migrations: [...migrations],
    migrationsTableName: 'messaging_migrations',
    migrationsRun: false,
    // One connection holds the lock, the other migrates.
    poolSize: 2,
    synchronize: false,
    dropSchema: false,
  } as DataSourceOptions);
  await own.initialize();
  try {
    const unlock = await lock(own);
    try {
      await own.runMigrations({ transaction: 'each' });
    } finally {
      await unlock();
    }
  } finally {
    await own.destroy();
  }
}

async function lock(dataSource: DataSource): Promise<() => Promise<void>> {
  const { kind } = dialectOf(dataSource);
  if (kind === 'sqlite') return async () => undefined;
  const [take, give] =
    kind === 'postgres'
      ? [`SELECT pg_advisory_lock(${LOCK})`, `SELECT pg_advisory_unlock(${LOCK})`]
      : [`SELECT GET_LOCK('messaging-${LOCK}', 120)`, `SELECT RELEASE_LOCK('messaging-${LOCK}')`];
  const runner = dataSource.createQueryRunner();
  await runner.query(take);
  return async () => {
    await runner.query(give);
    await runner.release();
  };
}
