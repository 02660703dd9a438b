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

export const CHECK_VALUE: SecretColumn = {
  table: 'gateway_secrets_key',
  column: 'check_value',
  key: 'id',
};

export const SECRETS_TABLES = tablesOf('Secrets1700000003000', [SecretsKeyEntity]);
