import {
  DataSource,
  type DataSourceOptions,
  type EntitySchema,
  MigrationExecutor,
  type MigrationInterface,
  type QueryRunner,
} from 'typeorm';
import { MessagingConfigError, MessagingError } from '../../message/errors.js';
import { isLockTimeout, isMissing } from '../database/database-errors.js';
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
      `Another session has held the migration lock of this database (${LOCK}) for ${timeout / 1_000} s; wait for its migration, or end that session, and start again`,
    );
  }
}

/** A newer version has changed the tables: an older one would misread them, or lose its data. */
export class NewerDatabaseError extends MessagingError {
  /** @param migrations those that this version does not know */
  constructor(readonly migrations: readonly string[]) {
    super(
      'newer_database',
      `The tables have ${migrations.length === 1 ? 'a migration' : 'migrations'} of a newer version (${migrations.join(', ')}); start that version, or restore the backup from before its upgrade`,
    );
  }
}

/**
 * Refuses a database that a newer version has migrated. For apps that run the library's migrations
 * with their own (`store: { migrate: false }`).
 * @param known every migration of this version, also those that its options leave out
 * @throws NewerDatabaseError
 */
export async function refuseNewerDatabase(
  dataSource: DataSource,
  known: Migrations,
  runner?: QueryRunner,
): Promise<void> {
  const executed = await new MigrationExecutor(dataSource, runner).getExecutedMigrations();
  const names = new Set(known.map((Migration) => new Migration().name ?? Migration.name));
  const unknown = executed.flatMap(({ name }) => (names.has(name) ? [] : [name]));
  if (unknown.length > 0) throw new NewerDatabaseError(unknown);
}

/**
 * Refuses a database without the tables of these entities, or with tables of an older version.
 * @throws MessagingConfigError with the remedy
 */
export async function requireTables(
  dataSource: DataSource,
  entities: readonly EntitySchema[],
): Promise<void> {
  for (const { options } of entities) {
    const columns = Object.values(options.columns).map((column) => column?.name);
    try {
      await dataSource.query(`SELECT ${columns.join(', ')} FROM ${options.name} WHERE 1 = 0`);
    } catch (error) {
      if (!isMissing(error)) throw error;
      throw new MessagingConfigError(
        `store.migrate: the table ${options.name} is missing or of an older version, and this process does not migrate; set store.migrate: true, or add MESSAGING_MIGRATIONS to the migrations of your data source and run them, such as by npx typeorm migration:run -d data-source.js`,
        { cause: error },
      );
    }
  }
}

export interface OwnMigrations {
  /** Those to run. */
  readonly wanted: Migrations;
  /** All of this version. */
  readonly known: Migrations;
}

/**
 * Checks the library's own table of migrations and, with `run`, brings its tables up to date.
 * Replicas migrate one after another.
 * @throws MigrationLockedError after `timeout` milliseconds
 * @throws NewerDatabaseError
 */
export async function migrate(
  dataSource: DataSource,
  { wanted, known }: OwnMigrations,
  run: boolean,
  timeout = TIMEOUT,
): Promise<void> {
  const own = new DataSource({
    ...dataSource.options,
    entities: [],
    subscribers: [],
    migrations: [...wanted],
    migrationsTableName: 'messaging_migrations',
    migrationsRun: false,
    synchronize: false,
    dropSchema: false,
  } as DataSourceOptions);
  await own.initialize();
  try {
    if (!run) await refuseNewerDatabase(own, known);
    else
      await withMigrationLock(
        own,
        async (runner) => {
          // Under the lock: a newer version may have held it before.
          await refuseNewerDatabase(own, known, runner);
          const executor = new MigrationExecutor(own, runner);
          executor.transaction = 'each';
          await executor.executePendingMigrations();
        },
        timeout,
      );
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
