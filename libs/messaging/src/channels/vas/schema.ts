import { entitiesOf } from '../../store/schema/columns.js';
import { tablesMigration } from '../../store/schema/store.migration.js';

/** Times are epoch microseconds, amounts ten-thousandths of the currency's unit. */
const COLUMNS = {
  /** A tenant that may order, with its caps for any 24 hours. */
  vas_allowance: {
    tenant: "key NOT NULL DEFAULT ''",
    currency: 'short(3) NOT NULL',
    daily: 'big NOT NULL',
    per_number: 'big NOT NULL',
    allowed_at: 'big NOT NULL',
    /** The sum of the last day's orders or more; null: not known. */
    tally: 'big',
    /** Raised with each accepted order, so that an order decided on older rows is decided again. */
    version: 'big NOT NULL',
  },
  /** An order; its row outlives its batch, so that its reference is never used again. */
  vas_order: {
    batch: 'uuid NOT NULL',
    tenant: "key NOT NULL DEFAULT ''",
    reference: 'key NOT NULL',
    fingerprint: 'key NOT NULL',
    /** Keyed digest of the number; the number where there is no key. */
    number_digest: 'key NOT NULL',
    product: 'key NOT NULL',
    type: 'short(16) NOT NULL',
    amount: 'big NOT NULL',
    currency: 'short(3) NOT NULL',
    network: 'key',
    created_at: 'big NOT NULL',
    /** When to tell the operator that it is still open; null: told, or over. */
    tell_at: 'big',
    settled_at: 'big',
    settled_as: 'short(16)',
    settled_by: 'key',
    settled_note: 'text',
  },
} as const;

const PRIMARY_KEYS: Readonly<Record<keyof typeof COLUMNS, string>> = {
  vas_allowance: 'tenant',
  vas_order: 'batch',
};

const INDEXES = [
  ['UNIQUE INDEX', 'vas_order_reference', 'vas_order (reference, tenant)'],
  ['INDEX', 'vas_order_recent', 'vas_order (tenant, created_at)'],
  ['INDEX', 'vas_order_number', 'vas_order (number_digest, tenant, created_at)'],
  ['INDEX', 'vas_order_list', 'vas_order (tenant, batch)'],
  ['INDEX', 'vas_order_tell', 'vas_order (tell_at)'],
] as const;

export const VAS_ENTITIES = entitiesOf(COLUMNS, PRIMARY_KEYS);

export const VAS_MIGRATIONS = [tablesMigration('Vas1790000000020', COLUMNS, PRIMARY_KEYS, INDEXES)];
