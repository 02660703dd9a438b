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

/** Entities and migrations of the higher layers. */
export interface Tables {
  readonly entities: readonly (EntitySchema | (new () => object))[];
  readonly migrations: readonly (new () => MigrationInterface)[];
}

/**
 * The data source of the gateway, of its command line and of TypeORM's command line. The tables of
 * the library and of the gateway share one database, and so share transactions. Only migrations
 * change tables.
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
        // Detects a server that vanished without closing the connection.
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

/** Writes TypeORM's messages to the application's log; never the parameters of a query, which hold message texts. */
export class TypeOrmLogger implements TypeOrmLoggerPort {
  readonly #logger = new Logger('Database');

  logQuery(): void {}

  /** TypeORM also throws the error; the code that catches it writes the log line. */
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

/** When pending migrations run: `never` (old tables are refused), on an `empty` database only, or `always`. */
export type MigrateWhen = 'never' | 'empty' | 'always';

/**
 * Registers the data source. It is opened before the application starts, so that its errors come
 * first.
 */
@Module({})
export class DatabaseModule {
  /** The application closes the data source when it stops. */
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
 * Opens the gateway's data source and checks or migrates its tables.
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

/** Retries while another process is opening the same SQLite file. */
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
  // Where all addresses of a host fail, the message is empty and only the code gives the cause.
  const { code = '', message } = error as Error & { code?: string };
  return new EnvironmentError(
    [
      `DATABASE_URL: the database cannot be opened: ${message || code}; check the address, that it is running and that this user may use it`,
    ],
    { cause: error },
  );
}
