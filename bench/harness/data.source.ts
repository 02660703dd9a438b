import { MESSAGING_ENTITIES } from '@dundun/messaging';
import { MESSAGING_MIGRATIONS } from '@dundun/messaging/migrations';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { SqliteDriver } from '../../src/config/sqlite-driver.js';

/** A data source like an app's, with the store's tables only. */
export function dataSourceOptions(url: string): DataSourceOptions {
  const tables = { entities: MESSAGING_ENTITIES, migrations: MESSAGING_MIGRATIONS };
  return url.startsWith('sqlite:')
    ? {
        ...tables,
        type: 'better-sqlite3',
        database: url.slice('sqlite:'.length),
        driver: SqliteDriver,
        enableWAL: true,
        timeout: 0,
      }
    : { ...tables, type: 'postgres', url };
}

/** Opens the data source and migrates the store's tables. */
export async function migrated(url: string): Promise<DataSource> {
  const dataSource = await new DataSource(dataSourceOptions(url)).initialize();
  await dataSource.runMigrations();
  return dataSource;
}
