import type { StoreDriver } from '../store.js';
import { SQLITE_DIALECT } from './dialect.js';
import { sqliteSchema } from './schema.js';

export const SQLITE_DRIVER: StoreDriver = {
  dialect: SQLITE_DIALECT,
  schema: sqliteSchema,
  tableOptions: () => Promise.resolve(' WITHOUT ROWID'),
  migrationLock: undefined,
};
