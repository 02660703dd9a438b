import { Column, Entity, PrimaryColumn } from 'typeorm';
import { ACCOUNT_ID, OfAccount, type SenderState, TIME } from '../accounts/accounts.tables.js';
import { tablesOf } from '../config/entity-tables.js';

/** A number that the account may call from. */
@Entity('gateway_caller')
export class Caller {
  @OfAccount() @PrimaryColumn(ACCOUNT_ID) readonly accountId!: string;
  /** Digits with country code. */
  @PrimaryColumn({ length: 15 }) readonly caller!: string;
  @Column({ ...TIME, name: 'created_at' }) readonly createdAt!: Date;
  /** Only an approved one is called from. */
  @Column('varchar', { length: 16, default: 'approved' }) readonly state!: SenderState;
}

export const CALLER_TABLES = tablesOf('Callers1700000008000', [Caller]);
