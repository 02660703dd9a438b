import type { DataSource, DataSourceOptions } from 'typeorm';
import { ChannelRegistry } from '../message/channel-registry.js';
import { MessagingConfigError } from '../message/errors.js';
import { MYSQL_DRIVER } from './mysql/driver.js';
import { POSTGRES_DRIVER } from './postgres/driver.js';
import { SQLITE_DRIVER } from './sqlite/driver.js';
import type { StoreDriver } from './driver.js';
import type { StoreDatabase, StoreDatabaseOptions } from './database/store-database.js';

/** By the type of the data source, on which no other code depends. */
const DRIVERS: Partial<Record<DataSourceOptions['type'], StoreDriver>> = {
  postgres: POSTGRES_DRIVER,
  cockroachdb: POSTGRES_DRIVER,
  'aurora-postgres': POSTGRES_DRIVER,
  mysql: MYSQL_DRIVER,
  mariadb: MYSQL_DRIVER,
  'better-sqlite3': SQLITE_DRIVER,
};

/** @throws MessagingConfigError for an unsupported server */
export function driverOf({ options: { type } }: Pick<DataSource, 'options'>): StoreDriver {
  const driver = DRIVERS[type];
  if (driver) return driver;
  throw new MessagingConfigError(
    `dataSource: type ${type} is not supported; use postgres, mysql, mariadb or better-sqlite3`,
  );
}

/** The connections are not opened yet. */
export function databaseOf(
  dataSource: DataSource,
  options: Partial<StoreDatabaseOptions> = {},
): StoreDatabase {
  const { Database } = driverOf(dataSource);
  return new Database(dataSource, {
    idleTimeout: 30_000,
    preparedStatements: true,
    channels: new ChannelRegistry([]),
    ...options,
  });
}
