/** For apps that change their production tables by a command of their own. */
export { MESSAGING_MIGRATIONS } from './messaging.schema.js';
export { MigrationLockedError, withMigrationLock } from './store/schema/migration-lock.js';
export {
  EarlyDatabaseError,
  migrateDatabase,
  NewerDatabaseError,
  pendingMigrations,
  refuseNewerDatabase,
  requireUnicode,
} from './store/schema/migrator.js';
export { FREQUENCY_CAP_MIGRATIONS } from './store/schema/store.migration.js';
