import { entitiesOf } from './columns.js';
import { tablesMigration } from './store.migration.js';

const COLUMNS = {
  /** A cancelled batch whose messages at the provider are still to be cancelled there. */
  cancellation: {
    batch: 'uuid NOT NULL',
    provider: 'short(32) NOT NULL',
    requested_at: 'big NOT NULL',
    due_at: 'big NOT NULL',
    /** The last submission that the provider was asked to cancel; -1: none. */
    asked: 'int NOT NULL DEFAULT -1',
    /** Failures since the last answer. */
    tries: 'small NOT NULL DEFAULT 0',
  },
} as const;

const PRIMARY_KEYS = { cancellation: 'batch, provider' } as const;

export const CANCELLATION_ENTITIES = entitiesOf(COLUMNS, PRIMARY_KEYS);

export const CANCELLATION_MIGRATIONS = [
  tablesMigration('Cancellations1790000000050', COLUMNS, PRIMARY_KEYS, [
    ['INDEX', 'cancellation_due', 'cancellation (provider, due_at)'],
  ]),
];
