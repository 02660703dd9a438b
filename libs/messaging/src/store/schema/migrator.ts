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
import {
  type MigrationLockOptions,
  MigrationLockedError,
  withProgress,
  underLock,
} from './migration-lock.js';

export type Migrations = readonly (new () => MigrationInterface)[];

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

/** An early version made the tables by migrations that no version contains any more. */
export class EarlyDatabaseError extends MessagingError {
  /** @param migrations those that this version does not know */
  constructor(readonly migrations: readonly string[]) {
    super(
      'early_database',
      `The tables have ${migrations.length === 1 ? 'a migration' : 'migrations'} of an early layout (${migrations.join(', ')}), older than the newest of this version, which cannot bring it up to date; give this version an empty database, and read the old one with the version that made it`,
    );
  }
}

/**
 * Refuses a database whose migrations this version does not know: a newer version has migrated it, or
 * an early one made it. For apps that run the library's migrations with their own
 * (`store: { migrate: false }`).
 * @param known every migration of this version, also those that its options leave out
 * @throws NewerDatabaseError, EarlyDatabaseError
 */
export async function refuseNewerDatabase(
  dataSource: DataSource,
  known: Migrations,
  runner?: QueryRunner,
): Promise<void> {
  const executed = await executedMigrations(dataSource, runner);
  const names = known.map((Migration) => new Migration().name ?? Migration.name);
  const unknown = executed.filter(({ name }) => !names.includes(name));
  if (unknown.length === 0) return;
  // Versions only add migrations, each with a later timestamp than all before it.
  const newest = Math.max(...names.map((name) => Number(/\d{13}$/.exec(name))));
  const newer = unknown.filter(({ timestamp }) => timestamp > newest);
  const [Refusal, refused] =
    newer.length > 0 ? [NewerDatabaseError, newer] : [EarlyDatabaseError, unknown];
  throw new Refusal(refused.map(({ name }) => name));
}

/**
 * Refuses a database, or a connection to it, that would change texts: PostgreSQL without UTF8, MySQL
 * and MariaDB with another `charset` than utf8mb4. For apps that run their own migrations before the
 * library opens the database.
 * @throws MessagingConfigError with the remedy
 */
export async function requireUnicode(dataSource: DataSource): Promise<void> {
  await driverOf(dataSource).requireUnicode(dataSource);
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

const RECIPIENT_INDEX = {
  postgres: `SELECT 1 WHERE to_regclass('messaging_message_recipient') IS NOT NULL`,
  sqlite: `SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = 'messaging_message_recipient'`,
  mysql: `SELECT 1 FROM information_schema.statistics
    WHERE table_schema = DATABASE() AND index_name = 'messaging_message_recipient' LIMIT 1`,
} as const;

/**
 * Refuses a database without the index of messages by recipient, which a frequency cap reads at each
 * message.
 * @throws MessagingConfigError with the remedy
 */
export async function requireRecipientIndex(dataSource: DataSource): Promise<void> {
  const { kind } = driverOf(dataSource).dialect;
  const found = await dataSource.query<unknown[]>(RECIPIENT_INDEX[kind]);
  if (found.length > 0) return;
  throw new MessagingConfigError(
    'store.migrate: policy.frequencyCap and store.recipientIndex need the index messaging_message_recipient, which is missing, and this process does not migrate; set store.migrate: true, or add FREQUENCY_CAP_MIGRATIONS to the migrations of your data source beside MESSAGING_MIGRATIONS, and run them',
  );
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
 * @throws MigrationLockedError, NewerDatabaseError, EarlyDatabaseError
 */
export async function migrate(
  dataSource: DataSource,
  { wanted, known }: OwnMigrations,
  run: boolean,
  options: MigrationLockOptions = {},
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
    if (run) await migrateDatabase(own, { ...options, known });
    else await refuseNewerDatabase(own, known);
  } finally {
    await own.destroy();
  }
}

/**
 * Runs the pending migrations of a data source, one process of the database at a time, on
 * PostgreSQL and SQLite all or none. For apps that run the library's migrations with their own
 * (`store: { migrate: false }`).
 * @param options `known` every migration of this version, also those that the data source leaves out
 * @returns names of the migrations that ran
 * @throws MigrationLockedError where another session with the lock runs nothing for 30 s
 * @throws NewerDatabaseError, EarlyDatabaseError
 */
export async function migrateDatabase(
  dataSource: DataSource,
  {
    known = dataSource.migrations.map(({ constructor }) => constructor as Migrations[number]),
    ...options
  }: MigrationLockOptions & { readonly known?: Migrations } = {},
): Promise<string[]> {
  await refuseNewerDatabase(dataSource, known);
  if ((await pendingMigrations(dataSource)).length === 0) return [];
  return underLock(dataSource, options, async (runner, lock) => {
    // Another version may have held the lock before.
    await refuseNewerDatabase(dataSource, known, runner);
    const executor = new MigrationExecutor(dataSource, runner);
    const pending = await executor.getPendingMigrations();
    for (const migration of pending) {
      const { name } = migration;
      const run = async (): Promise<void> => {
        if (!lock.isTransaction) await runner.startTransaction();
        await executor.executeMigration(migration);
        if (!lock.isTransaction) await runner.commitTransaction();
      };
      await withProgress(dataSource, lock, name, options.onProgress, run).catch(
        async (error: unknown) => {
          if (!lock.isTransaction) await runner.rollbackTransaction().catch(() => undefined);
          if (!isLockTimeout(error)) throw error;
          const message = `The migration ${name} has waited 30 s for a table that another session uses; end that session's transaction, and start again`;
          throw new MigrationLockedError(message, { cause: error });
        },
      );
    }
    return pending.map(({ name }) => name);
  });
}

/** Names of the migrations that have not run. Changes nothing. */
export async function pendingMigrations(dataSource: DataSource): Promise<string[]> {
  const executed = await executedMigrations(dataSource);
  return dataSource.migrations
    .map(({ name, constructor }) => name ?? constructor.name)
    .filter((pending) => executed.every(({ name }) => name !== pending));
}

/** TypeORM would create its table, and fail where another process creates it at the same time. */
async function executedMigrations(dataSource: DataSource, given?: QueryRunner) {
  const { driver, options } = dataSource;
  const { schema } = driver.options as { readonly schema?: string };
  const name = options.migrationsTableName ?? 'migrations';
  const runner = given ?? dataSource.createQueryRunner();
  try {
    if (!(await runner.hasTable(driver.buildTableName(name, schema, driver.database)))) return [];
    return await new MigrationExecutor(dataSource, runner).getExecutedMigrations();
  } finally {
    if (!given) await runner.release();
  }
}
