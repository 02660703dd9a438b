import { Column, Entity, PrimaryColumn } from 'typeorm';
import { tablesOf } from '../config/entity-tables.js';
import type { SecretColumn } from './secret-keys.js';

/** The only row of its table. */
export const ONLY = 'current';

/** Names the key of the stored secrets, so that a wrong one is found at the start. */
@Entity('gateway_secrets_key')
export class SecretsKeyEntity {
  @PrimaryColumn('varchar', { length: 16 }) readonly id!: string;
  /** A known text, sealed with the key. */
  @Column({ name: 'check_value', length: 255 }) readonly checkValue!: string;
  /** 1: the database files may still hold secrets in clear, or under a former key. */
  @Column('smallint', { name: 'purge_due' }) readonly purgeDue!: number;
}

/** The key of digests. It never changes, because a digest cannot be made again. */
@Entity('gateway_digest_key')
export class DigestKeyEntity {
  @PrimaryColumn('varchar', { length: 16 }) readonly id!: string;
  /** Base64, as `Secrets` stores it. */
  @Column({ length: 255 }) readonly secret!: string;
}

export const DIGEST_KEY: SecretColumn = {
  table: 'gateway_digest_key',
  column: 'secret',
  key: 'id',
};

export const CHECK_VALUE: SecretColumn = {
  table: 'gateway_secrets_key',
  column: 'check_value',
  key: 'id',
};

export const SECRETS_TABLES = tablesOf('Secrets1700000003000', [SecretsKeyEntity, DigestKeyEntity]);
