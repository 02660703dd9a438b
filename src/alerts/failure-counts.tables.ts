import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { TIME } from '../accounts/accounts.tables.js';
import { tablesOf } from '../config/entity-tables.js';

/** Failures that one process has counted within seconds. There is no foreign key: a tenant may be no account. */
@Entity('gateway_failure_count')
@Index('gateway_failure_count_at', ['at'])
export class FailureCountEntity {
  /** UUIDv7. */
  @PrimaryColumn('uuid') readonly id!: string;
  /** Time of the write. */
  @Column({ ...TIME, name: 'counted_at' }) readonly at!: Date;
  @Column({ name: 'account_id', length: 64 }) readonly accountId!: string;
  @Column({ length: 16 }) readonly channel!: string;
  /** `''`: submits that ended, with any outcome. */
  @Column({ length: 64 }) readonly code!: string;
  @Column('int') readonly messages!: number;
}

export const FAILURE_COUNT_TABLES = tablesOf('FailureCounts1790000002331', [FailureCountEntity]);
