import type { MigrationInterface, QueryRunner } from 'typeorm';
import { driverOf } from '../../store/open-store.js';
import { entitiesOf } from '../../store/schema/columns.js';
import { tablesMigration } from '../../store/schema/store.migration.js';

/** Times are epoch microseconds. */
const COLUMNS = {
  verification: {
    id: 'uuid NOT NULL',
    tenant: "key NOT NULL DEFAULT ''",
    channel: 'short(16) NOT NULL',
    country: 'short(2) NOT NULL',
    /** Keyed digest of id and code. */
    code: 'key NOT NULL',
    status: 'short(16) NOT NULL',
    tries: 'small NOT NULL DEFAULT 0',
    attempts: 'small NOT NULL',
    created_at: 'big NOT NULL',
    expires_at: 'big NOT NULL',
    batch: 'uuid NOT NULL',
    /** When to erase the message's content; null: it is erased. */
    erase_at: 'big',
    /** Keyed digests of an idempotency key and of the verification under it. */
    idempotency_key: 'key',
    fingerprint: 'key',
  },
  /**
   * Codes in the present window of a recipient, network, country or tenant, and messages in those of
   * `policy.guard`, whose scopes begin with `g_`.
   */
  verification_limit: {
    tenant: "key NOT NULL DEFAULT ''",
    scope: 'short(16) NOT NULL',
    /** Keyed digest of a recipient or network, or a country. */
    subject: 'key NOT NULL',
    window_at: 'big NOT NULL',
    started: 'int NOT NULL',
    next_at: 'big NOT NULL',
    /** Members of a range that were counted, as hexadecimal digits. */
    seen: 'short(32)',
  },
} as const;

const PRIMARY_KEYS = {
  verification: 'id',
  verification_limit: 'tenant, scope, subject',
} as const;

const INDEXES = [
  ['INDEX', 'verification_recent', 'verification (tenant, country, created_at)'],
  ['INDEX', 'verification_erase', 'verification (erase_at)'],
  ['INDEX', 'verification_key', 'verification (tenant, idempotency_key)'],
  ['INDEX', 'verification_old', 'verification (created_at)'],
  ['INDEX', 'verification_batch', 'verification (batch)'],
  ['INDEX', 'verification_window', 'verification_limit (window_at)'],
] as const;

export const VERIFICATION_ENTITIES = entitiesOf(COLUMNS, PRIMARY_KEYS);

/** Adds the members of a range that were counted. */
class CountedRanges1790000002341 implements MigrationInterface {
  readonly name = 'CountedRanges1790000002341';

  async up(runner: QueryRunner): Promise<void> {
    if (await runner.hasColumn('messaging_verification_limit', 'seen')) return;
    const { types } = driverOf(runner.dataSource).dialect;
    await runner.query(
      `ALTER TABLE messaging_verification_limit ADD COLUMN seen ${types.short(32)}`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE messaging_verification_limit DROP COLUMN seen');
  }
}

export const VERIFICATION_MIGRATIONS = [
  tablesMigration('Verifications1790000000030', COLUMNS, PRIMARY_KEYS, INDEXES),
  CountedRanges1790000002341,
];
