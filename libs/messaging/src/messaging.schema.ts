import { VAS_ENTITIES, VAS_MIGRATIONS } from './channels/vas/schema.js';
import { VERIFICATION_ENTITIES, VERIFICATION_MIGRATIONS } from './channels/verification/schema.js';
import { CONTACT_ENTITIES, CONTACT_MIGRATIONS } from './contacts/schema.js';
import { STORE_MIGRATIONS } from './store/schema/store.migration.js';
import { STORE_ENTITIES } from './store/schema/tables.js';

/** Entities of the library's tables, for apps' own repositories; read-only for apps. */
export const MESSAGING_ENTITIES = [
  ...STORE_ENTITIES,
  ...CONTACT_ENTITIES,
  ...VAS_ENTITIES,
  ...VERIFICATION_ENTITIES,
];

/** For apps that run their own migrations (`store: { migrate: false }`). */
export const MESSAGING_MIGRATIONS = [
  ...STORE_MIGRATIONS,
  ...CONTACT_MIGRATIONS,
  ...VAS_MIGRATIONS,
  ...VERIFICATION_MIGRATIONS,
];
