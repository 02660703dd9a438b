import { MESSAGING_ENTITIES, MESSAGING_MIGRATIONS } from '@dundun/messaging';
import type { DynamicModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { setTimeout as wait } from 'node:timers/promises';
import {
  AbstractLogger,
  type DataSource,
  type DataSourceOptions,
  type EntitySchema,
  type MigrationInterface,
} from 'typeorm';
import type { DatabaseUrl } from './database-url.js';
import { EnvironmentError } from './environment.js';
import { isEmptyDatabase, pendingMigrations, runMigrations } from './migrations.js';
import { SqliteDriver } from './sqlite-driver.js';

/** Entities and migrations of the higher layers. */
export interface Tables {
  readonly entities: readonly (EntitySchema | (new () => object))[];
  readonly migrations: readonly (new () => MigrationInterface)[];
}

/** Library and gateway share one database and its transactions; only migrations change tables. */
export function dataSourceOptions(database: DatabaseUrl, tables: Tables): DataSourceOptions {
  const shared = {
    entities: [...MESSAGING_ENTITIES, ...tables.entities],
    migrations: [...MESSAGING_MIGRATIONS, ...tables.migrations],
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
        // A blocking wait for another process's lock would stop the event loop; writers retry
        // instead.
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

/** TypeORM's errors are thrown as well, and its statements' parameters hold message texts. */
export class SilentTypeOrmLogger extends AbstractLogger {
  protected writeLog(): void {}
}

/** Registers an open data source; the application closes it when it stops. */
export function databaseModule(dataSource: DataSource): DynamicModule {
  return TypeOrmModule.forRootAsync({
    useFactory: () => dataSource.options,
    dataSourceFactory: () => Promise.resolve(dataSource),
  });
}

/**
 * @param migrate when pending migrations run; `empty`: on an empty database only
 * @throws EnvironmentError where it cannot be opened, or `migrate` forbids pending migrations
 */
export async function openDatabase(
  dataSource: DataSource,
  migrate: 'never' | 'empty' | 'always',
): Promise<DataSource> {
  await connect(dataSource);
  try {
    const pending = await pendingMigrations(dataSource);
    if (pending.length === 0) return dataSource;
    if (migrate === 'never' || (migrate === 'empty' && !(await isEmptyDatabase(dataSource))))
      throw new EnvironmentError([
        `DATABASE_URL: its tables are ${pending.length} ${pending.length === 1 ? 'migration' : 'migrations'} behind (${pending.join(', ')}); run \`npm run migration:run\` first`,
      ]);
    await runMigrations(dataSource);
    return dataSource;
  } catch (error) {
    await dataSource.destroy();
    throw error;
  }
}

/** Retries while another process is opening the same SQLite file. @throws EnvironmentError */
export async function connect(dataSource: DataSource): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await dataSource.initialize();
      return;
    } catch (error) {
      // Where all addresses of a host fail, the message is empty and only the code gives the cause.
      const { code = '', message } = error as Error & { code?: string };
      if (attempt >= 50 || !/database is locked/.test(message))
        throw new EnvironmentError(
          [
            `DATABASE_URL: the database cannot be opened: ${message || code}; check the address, that it is running and that this user may use it`,
          ],
          { cause: error },
        );
      await wait(20 + Math.random() * 80);
    }
  }
}
