import type { DataSourceOptions } from 'typeorm';
import { SqliteDriver } from '../../../src/config/sqlite-driver.js';

/** @param url `sqlite:PATH`, `postgres://…` or `mysql://…` */
export function dataSourceOptions(url: string): DataSourceOptions {
  if (url.startsWith('sqlite:'))
    return { type: 'better-sqlite3', database: url.slice('sqlite:'.length), driver: SqliteDriver };
  return { type: url.startsWith('postgres') ? 'postgres' : 'mariadb', url } as DataSourceOptions;
}
