import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { TIME } from '../../accounts/accounts.tables.js';
import { tablesOf } from '../../config/entity-tables.js';

export const CARD_NAME = { type: 'varchar', length: 64 } as const;
export const CURRENCY = { type: 'varchar', length: 3 } as const;

/** Prices in one currency. */
@Entity('gateway_rate_card')
export class RateCardEntity {
  @PrimaryColumn(CARD_NAME) readonly name!: string;
  @Column(CURRENCY) readonly currency!: string;
  @Column({ ...TIME, name: 'created_at' }) readonly createdAt!: Date;
}

/**
 * All prices of a card from a time on; of several with one start, the last. It is in force until the next
 * one starts. Rows of it and of its rates are inserted only.
 */
@Entity('gateway_rate_version')
@Index('gateway_rate_version_card', ['card', 'startsAt'])
export class RateVersionEntity {
  /** UUIDv7, so that ids order the versions of one start. */
  @PrimaryColumn('uuid') readonly id!: string;
  @ForeignKey(() => RateCardEntity)
  @Column({ ...CARD_NAME })
  readonly card!: string;
  @Column({ ...TIME, name: 'starts_at' }) readonly startsAt!: Date;
  /** Number of its rates. */
  @Column('int') readonly rates!: number;
  @Column({ ...TIME, name: 'created_at' }) readonly createdAt!: Date;
}

/** A price of a version, as `Rate` has it. */
@Entity('gateway_rate')
export class RateEntity {
  @ForeignKey(() => RateVersionEntity, { onDelete: 'CASCADE' })
  @PrimaryColumn('uuid', { name: 'version_id' })
  readonly versionId!: string;
  /** Line of the imported file. */
  @PrimaryColumn('int') readonly line!: number;
  @Column('varchar', { length: 16 }) readonly channel!: string;
  @Column('varchar', { length: 15 }) readonly prefix!: string;
  @Column('varchar', { length: 32, nullable: true }) readonly category!: string | null;
  /** Millionths. */
  @Column('bigint') readonly price!: string;
  @Column('varchar', { length: 9, nullable: true }) readonly billing!: string | null;
}

export const RATE_CARD_TABLES = tablesOf('RateCards1790000002000', [
  RateCardEntity,
  RateVersionEntity,
  RateEntity,
]);
