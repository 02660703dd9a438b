import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { ACCOUNT_ID, OfAccount, OPTIONAL_TIME, TIME } from '../../../accounts/accounts.tables.js';
import { tablesOf } from '../../../config/entity-tables.js';
import type { SecretColumn } from '../../../secrets/secret-keys.js';

export const DOMAIN_STATUSES = ['pending', 'verified', 'failed'] as const;

export type DomainStatus = (typeof DOMAIN_STATUSES)[number];

export const RECORD_STATUSES = ['missing', 'mismatch', 'found', 'unreachable'] as const;

/** DNS answer for a record. */
export interface RecordCheck {
  readonly status: (typeof RECORD_STATUSES)[number];
  /** Value found; `null`: none, or not known. */
  readonly found: string | null;
  /** RFC 3339. */
  readonly checkedAt: string;
}

/** Longest name: return addresses below it still have at most 254 octets. */
export const MOST_NAME = 180;

/**
 * ```
 * pending ──required records found──► verified ──mismatch for 72 h, or verified by another account──► failed
 *                                        ▲────────────────required records found────────────────────────┘
 * ```
 */
@Entity('gateway_email_domain')
@Unique('gateway_email_domain_of_account', ['accountId', 'name'])
export class EmailDomain {
  /** UUIDv7. */
  @PrimaryColumn('uuid') readonly id!: string;
  @OfAccount() @Column(ACCOUNT_ID) readonly accountId!: string;
  /** In lower case, with A-labels. */
  @Index('gateway_email_domain_name') @Column({ length: MOST_NAME }) readonly name!: string;
  @Column('varchar', { length: 16 }) status!: DomainStatus;
  /** The name while it is verified: one account has it at a time. */
  @Column('varchar', { name: 'verified_name', length: MOST_NAME, nullable: true, unique: true })
  verifiedName: string | null = null;
  @Column({ ...OPTIONAL_TIME, name: 'verified_at' }) verifiedAt: Date | null = null;
  /** Since when a required record of a verified domain is missing or another one. */
  @Column({ ...OPTIONAL_TIME, name: 'mismatch_since' }) mismatchSince: Date | null = null;
  /** When DNS is asked next; `null`: on request. */
  @Index('gateway_email_domain_check_due')
  @Column({ ...OPTIONAL_TIME, name: 'check_due_at' })
  checkDueAt: Date | null = null;
  @Column({ ...TIME, name: 'created_at' }) readonly createdAt!: Date;
  /** By type and name of the record. */
  @Column('simple-json') checks!: Readonly<Record<string, RecordCheck>>;
}

/** `next` becomes `current` once its record is found, and `current` stays `former` for a while. */
export type KeyState = 'next' | 'current' | 'former';

export type KeyAlgorithm = 'rsa' | 'ed25519';

@Entity('gateway_email_domain_key')
export class EmailDomainKey {
  @PrimaryColumn('uuid') readonly id!: string;
  @Index('gateway_email_domain_key_domain')
  @ForeignKey(() => EmailDomain, { onDelete: 'CASCADE' })
  @Column('uuid', { name: 'domain_id' })
  readonly domainId!: string;
  @Column('varchar', { length: 16 }) readonly algorithm!: KeyAlgorithm;
  @Column({ length: 63 }) readonly selector!: string;
  /** The tag `p=` of its record. */
  @Column('text', { name: 'public_key' }) readonly publicKey!: string;
  /** PEM (PKCS #8), as `Secrets` stores it. */
  @Column('text', { name: 'private_key' }) readonly privateKey!: string;
  @Column('varchar', { length: 16 }) state!: KeyState;
  /** When a former key is deleted. */
  @Column({ ...OPTIONAL_TIME, name: 'former_until' }) formerUntil: Date | null = null;
  @Column({ ...TIME, name: 'created_at' }) readonly createdAt!: Date;
}

export const DKIM_KEYS: SecretColumn = {
  table: 'gateway_email_domain_key',
  column: 'private_key',
  key: 'id',
};

export const EMAIL_DOMAIN_TABLES = tablesOf('EmailDomains1700000005000', [
  EmailDomain,
  EmailDomainKey,
]);
