import type { DataSource } from 'typeorm';
import { ChannelRegistry } from '../message/channel-registry.js';
import { MessagingConfigError } from '../message/errors.js';
import type { Dialect } from './database/dialect.js';
import { MysqlDatabase } from './mysql/connection.js';
import { MYSQL_DRIVER } from './mysql/driver.js';
import { PostgresDatabase } from './postgres/connection.js';
import { POSTGRES_DRIVER } from './postgres/driver.js';
import { SqliteDatabase } from './sqlite/connection.js';
import { SQLITE_DRIVER } from './sqlite/driver.js';
import type { StoreDriver } from './store.js';
import type { StoreDatabase, StoreDatabaseOptions } from './database/store-database.js';

/** Drivers by the type of the data source; no other code depends on that type. */
const DRIVERS = {
  postgres: {
    driver: POSTGRES_DRIVER,
    connect: (dataSource: DataSource, options: StoreDatabaseOptions): StoreDatabase =>
      new PostgresDatabase(dataSource, options),
  },
  mysql: {
    driver: MYSQL_DRIVER,
    connect: (dataSource: DataSource, options: StoreDatabaseOptions): StoreDatabase =>
      new MysqlDatabase(dataSource, options),
  },
  sqlite: {
    driver: SQLITE_DRIVER,
    connect: (dataSource: DataSource, options: StoreDatabaseOptions): StoreDatabase =>
      new SqliteDatabase(dataSource, options),
  },
};

function familyOf({ options }: Pick<DataSource, 'options'>): keyof typeof DRIVERS {
  switch (options.type) {
    case 'postgres':
    case 'cockroachdb':
    case 'aurora-postgres':
      return 'postgres';
    case 'mysql':
    case 'mariadb':
      return 'mysql';
    case 'better-sqlite3':
      return 'sqlite';
    default:
      throw new MessagingConfigError(
        `dataSource: type ${options.type} is not supported; use postgres, mysql, mariadb or better-sqlite3`,
      );
  }
}

/** @throws MessagingConfigError for an unsupported server */
export function driverOf(dataSource: Pick<DataSource, 'options'>): StoreDriver {
  return DRIVERS[familyOf(dataSource)].driver;
}

/** @throws MessagingConfigError for an unsupported server */
export function dialectOf(dataSource: Pick<DataSource, 'options'>): Dialect {
  return driverOf(dataSource).dialect;
}

/** The store's connections to a data source, not yet opened. */
export function databaseOf(
  dataSource: DataSource,
  options: Partial<StoreDatabaseOptions> = {},
): StoreDatabase {
  return DRIVERS[familyOf(dataSource)].connect(dataSource, {
    idleTimeout: 30_000,
    preparedStatements: true,
    channels: new ChannelRegistry([]),
    ...options,
  });
}
