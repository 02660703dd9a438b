import { Column, Entity, PrimaryColumn } from 'typeorm';
import { tablesOf } from '../config/entity-tables.js';

/** Readiness writes and deletes a row of it. */
@Entity('gateway_write_probe')
export class WriteProbeRow {
  @PrimaryColumn('uuid') readonly id!: string;
  @Column('text') readonly filler!: string;
}

export const HEALTH_TABLES = tablesOf('Health1700000003000', [WriteProbeRow]);
