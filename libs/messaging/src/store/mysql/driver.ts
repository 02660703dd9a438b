import type { StoreDriver } from '../store.js';
import { MYSQL_DIALECT } from './dialect.js';
import { mysqlSchema, mysqlTableOptions } from './schema.js';

/** MySQL and MariaDB. */
export const MYSQL_DRIVER: StoreDriver = {
  dialect: MYSQL_DIALECT,
  schema: mysqlSchema,
  tableOptions: mysqlTableOptions,
  migrationLock: {
    poolLimit: 'connectionLimit',
    take: (key, wait) => [`SELECT GET_LOCK('messaging-${key}', ${wait / 1_000}) AS taken`],
    release: (key) => [`SELECT RELEASE_LOCK('messaging-${key}')`],
  },
};
