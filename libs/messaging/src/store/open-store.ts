import type { DataSource, DataSourceOptions } from 'typeorm';
import { ChannelRegistry } from '../message/channel-registry.js';
import { MessagingConfigError } from '../message/errors.js';
import { MysqlDatabase } from './mysql/connection.js';
import { MYSQL_DRIVER } from './mysql/driver.js';
import { PostgresDatabase } from './postgres/connection.js';
import { POSTGRES_DRIVER } from './postgres/driver.js';
import { SqliteDatabase } from './sqlite/connection.js';
import { SQLITE_DRIVER } from './sqlite/driver.js';
import type { StoreDriver } from './store.js';
import type { StoreDatabase, StoreDatabaseOptions } from './database/store-database.js';

/** By the type of the data source, on which no other code depends. */
const POSTGRES = { driver: POSTGRES_DRIVER, Database: PostgresDatabase };
const MYSQL = { driver: MYSQL_DRIVER, Database: MysqlDatabase };
const FAMILIES: Partial<
  Record<
    DataSourceOptions['type'],
    {
      readonly driver: StoreDriver;
      readonly Database: new (source: DataSource, options: StoreDatabaseOptions) => StoreDatabase;
    }
  >
> = {
  postgres: POSTGRES,
  cockroachdb: POSTGRES,
  'aurora-postgres': POSTGRES,
  mysql: MYSQL,
  mariadb: MYSQL,
  'better-sqlite3': { driver: SQLITE_DRIVER, Database: SqliteDatabase },
};

function familyOf({ options: { type } }: Pick<DataSource, 'options'>) {
  const family = FAMILIES[type];
  if (family) return family;
  throw new MessagingConfigError(
    `dataSource: type ${type} is not supported; use postgres, mysql, mariadb or better-sqlite3`,
  );
}

/** @throws MessagingConfigError for an unsupported server */
export function driverOf(dataSource: Pick<DataSource, 'options'>): StoreDriver {
  return familyOf(dataSource).driver;
}

/** The connections are not opened yet. */
export function databaseOf(
  dataSource: DataSource,
  options: Partial<StoreDatabaseOptions> = {},
): StoreDatabase {
  return new (familyOf(dataSource).Database)(dataSource, {
    idleTimeout: 30_000,
    preparedStatements: true,
    channels: new ChannelRegistry([]),
    ...options,
  });
}
