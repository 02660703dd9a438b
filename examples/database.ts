import type { TypeOrmModuleOptions } from '@nestjs/typeorm';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteDriver } from '../src/config/sqlite-driver.js';

/**
 * An empty SQLite file. Your app has its own options here, such as
 * `{ type: 'postgres', url: process.env.DATABASE_URL }`; for SQLite, install `better-sqlite3` and leave
 * `driver` out. (The repository uses `libsql`, which needs no compiler.)
 */
export function exampleDatabase(
  entities: TypeOrmModuleOptions['entities'] = [],
): TypeOrmModuleOptions {
  return {
    type: 'better-sqlite3',
    database: join(mkdtempSync(join(tmpdir(), 'dundun-example-')), 'app.sqlite'),
    driver: SqliteDriver,
    entities,
    // An app in production has migrations.
    synchronize: true,
  };
}
