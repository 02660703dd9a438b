import type { StoreDriver } from '../store.js';
import { POSTGRES_DIALECT } from './dialect.js';
import { postgresSchema } from './schema.js';

export const POSTGRES_DRIVER: StoreDriver = {
  dialect: POSTGRES_DIALECT,
  schema: postgresSchema,
  tableOptions: () => Promise.resolve(''),
  migrationLock: {
    poolLimit: 'max',
    take: (key, wait) => [
      `SET lock_timeout = ${wait}`,
      `SELECT 1 AS taken FROM pg_advisory_lock(${key})`,
    ],
    release: (key) => ['RESET lock_timeout', `SELECT pg_advisory_unlock(${key})`],
  },
};
