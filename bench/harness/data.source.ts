import { MESSAGING_ENTITIES, MESSAGING_MIGRATIONS } from '@dundun/messaging';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { SqliteDriver } from '../../src/config/sqlite-driver.js';

/** A data source as an app would have it, on the store's tables alone. */
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

/** Open, with the store's tables as new as this code. */
export async function migrated(url: string): Promise<DataSource> {
  const dataSource = await new DataSource(dataSourceOptions(url)).initialize();
  await dataSource.runMigrations();
  return dataSource;
}
