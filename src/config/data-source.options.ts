import { MESSAGING_ENTITIES, MESSAGING_MIGRATIONS } from '@dundun/messaging';
import type { DataSourceOptions, EntitySchema, MigrationInterface } from 'typeorm';
import type { DatabaseUrl } from './database-url.js';
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
