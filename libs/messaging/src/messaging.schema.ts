import { registryOf } from './channels/built-in-channels.js';
import { VAS_ENTITIES, VAS_MIGRATIONS } from './channels/vas/schema.js';
import { VERIFICATION_ENTITIES, VERIFICATION_MIGRATIONS } from './channels/verification/schema.js';
import { CONTACT_ENTITIES, CONTACT_MIGRATIONS } from './contacts/schema.js';
import { BATCH_TEXT_ENTITIES, BATCH_TEXT_MIGRATIONS } from './store/schema/batch-text.js';
import { shown } from './store/schema/columns.js';
import { BATCH_COUNT_ENTITIES } from './store/schema/batch-count.js';
import { CANCELLATION_ENTITIES, CANCELLATION_MIGRATIONS } from './store/schema/cancellation.js';
import { OUTCOME_ENTITIES } from './store/schema/outcomes.js';
import { STORE_MIGRATIONS } from './store/schema/store.migration.js';
import { storeEntities } from './store/schema/tables.js';

const channels = registryOf();

/** As `MessageView.status`: a message that waits for a further try has the negative rank. */
const MESSAGE_STATUS = shown(
  (rank) => (channels.hasRank(Math.abs(rank)) ? channels.nameOf(rank) : undefined),
  (name) => channels.rankOf(String(name)),
);

/**
 * Entities of the library's tables, for apps' own repositories; read-only for apps. Each is an
 * `EntitySchema` with the name of its table. Statuses, states, outcomes and priorities are words,
 * also in conditions: `findBy({ status: 'delivered' })`. A status of an app's own channel is the rank
 * that its definition gives it. Times are epoch microseconds.
 * @example
 * dataSource.getRepository('messaging_message').countBy({ batch, status: In(['failed', 'rejected']) })
 */
export const MESSAGING_ENTITIES = [
  ...storeEntities(MESSAGE_STATUS),
  ...BATCH_TEXT_ENTITIES,
  ...CANCELLATION_ENTITIES,
  ...BATCH_COUNT_ENTITIES,
  ...OUTCOME_ENTITIES,
  ...CONTACT_ENTITIES,
  ...VAS_ENTITIES,
  ...VERIFICATION_ENTITIES,
];

/** For apps that run their own migrations (`store: { migrate: false }`). */
export const MESSAGING_MIGRATIONS = [
  ...STORE_MIGRATIONS,
  ...CANCELLATION_MIGRATIONS,
  ...CONTACT_MIGRATIONS,
  ...VAS_MIGRATIONS,
  ...VERIFICATION_MIGRATIONS,
  ...BATCH_TEXT_MIGRATIONS,
];
