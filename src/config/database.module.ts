import { MESSAGING_ENTITIES, MESSAGING_MIGRATIONS } from '@dundun/messaging';
import { type DynamicModule, Logger, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { setTimeout as wait } from 'node:timers/promises';
import {
  DataSource,
  type DataSourceOptions,
  type EntitySchema,
  type Logger as TypeOrmLoggerPort,
  type MigrationInterface,
} from 'typeorm';
import type { DatabaseUrl } from './database-url.js';
import { type Environment, EnvironmentError } from './environment.js';
import { isEmptyDatabase, pendingMigrations, runMigrations } from './migrations.js';
import { SqliteDriver } from './sqlite-driver.js';

/** What a floor above brings to the database. */
export interface Tables {
  readonly entities: readonly (EntitySchema | (new () => object))[];
  readonly migrations: readonly (new () => MigrationInterface)[];
}

/**
 * The data source of the gateway, its command line and TypeORM's own: the store's tables and the
 * gateway's in one database, so that they share transactions. Tables change by migrations alone.
 */
export function dataSourceOptions(database: DatabaseUrl, tables: Tables): DataSourceOptions {
  const shared = {
    entities: [...MESSAGING_ENTITIES, ...tables.entities],
    migrations: [...MESSAGING_MIGRATIONS, ...tables.migrations],
    migrationsRun: false,
    synchronize: false,
    logging: false,
  };
  switch (database.type) {
    case 'sqlite':
      return {
        ...shared,
        type: 'better-sqlite3',
        database: database.path,
        driver: SqliteDriver,
        enableWAL: true,
        // A blocking wait for another process's lock would stop the event loop; writers retry instead.
        timeout: 0,
      };
    case 'postgres':
      return {
        ...shared,
        type: 'postgres',
        url: database.url,
        applicationName: 'dundun',
        // A peer that is gone without a word is noticed, and not waited for without an end.
        extra: { keepAlive: true, keepAliveInitialDelayMillis: 10_000 },
      };
    case 'mysql':
    case 'mariadb':
      return {
        ...shared,
        type: database.type,
        url: database.url,
        charset: 'utf8mb4',
        timezone: 'Z',
      };
  }
}

/** TypeORM's words in the application's log; never a query's parameters, which are people's messages. */
export class TypeOrmLogger implements TypeOrmLoggerPort {
  readonly #logger = new Logger('Database');

  logQuery(): void {}

  /** The error is thrown as well, and told by whoever cannot go on. */
  logQueryError(): void {}

  logQuerySlow(time: number, query: string): void {
    this.#logger.warn({ message: 'slow query', ms: time, query });
  }

  logSchemaBuild(message: string): void {
    this.#logger.debug(message);
  }

  logMigration(message: string): void {
    this.#logger.debug(message);
  }

  log(level: 'log' | 'info' | 'warn', message: unknown): void {
    if (level === 'warn') this.#logger.warn(message);
    else this.#logger.debug(message);
  }
}

/** `never`: refuse to run on old tables. `empty`: only a database without any. `always`. */
export type MigrateWhen = 'never' | 'empty' | 'always';

/** The one TypeORM data source, opened before the application: what is wrong with it is told first. */
@Module({})
export class DatabaseModule {
  /** The application closes it when it stops. */
  static over(dataSource: DataSource): DynamicModule {
    return {
      module: DatabaseModule,
      imports: [
        TypeOrmModule.forRootAsync({
          useFactory: () => dataSource.options,
          dataSourceFactory: () => Promise.resolve(dataSource),
        }),
      ],
    };
  }
}

/**
 * The gateway's data source, open, with tables as new as this code.
 * @throws EnvironmentError where it cannot be opened
 */
export function openGatewayDatabase(
  { DATABASE_URL }: Environment,
  tables: Tables,
  migrate: MigrateWhen,
): Promise<DataSource> {
  const options = { ...dataSourceOptions(DATABASE_URL, tables), logger: new TypeOrmLogger() };
  return openDatabase(new DataSource(options), migrate);
}

/** @throws EnvironmentError where migrations are pending that `migrate` forbids to run. */
export async function openDatabase(
  dataSource: DataSource,
  migrate: MigrateWhen,
): Promise<DataSource> {
  await connect(dataSource);
  try {
    const pending = await pendingMigrations(dataSource);
    if (pending.length === 0) return dataSource;
    if (migrate === 'always' || (migrate === 'empty' && (await isEmptyDatabase(dataSource))))
      await runMigrations(dataSource);
    else
      throw new EnvironmentError([
        `DATABASE_URL: its tables are ${pending.length} ${pending.length === 1 ? 'migration' : 'migrations'} behind (${pending.join(', ')}); run \`npm run migration:run\` first`,
      ]);
    return dataSource;
  } catch (error) {
    await dataSource.destroy();
    throw error;
  }
}

/** Opening a SQLite file may meet another process that is just opening it too. */
async function connect(dataSource: DataSource): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await dataSource.initialize();
      return;
    } catch (error) {
      if (attempt >= 50 || !/database is locked/.test(String(error))) throw notOpened(error);
      await wait(20 + Math.random() * 80);
    }
  }
}

function notOpened(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  // A connection that failed for each of a host's addresses says so in its code alone.
  const { code = '', message } = error as Error & { code?: string };
  return new EnvironmentError(
    [
      `DATABASE_URL: the database cannot be opened: ${message || code}; check the address, that it is running and that this user may use it`,
    ],
    { cause: error },
  );
}
