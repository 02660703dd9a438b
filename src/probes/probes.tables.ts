import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { OPTIONAL_TIME, TIME } from '../accounts/accounts.tables.js';
import { tablesOf } from '../config/entity-tables.js';

/** A message to a test phone of the operators, and whether the phone has called back. */
@Entity('gateway_probe')
@Index('gateway_probe_sent', ['sentAt'])
@Index('gateway_probe_open', ['isOpen'])
export class ProbeEntity {
  /** UUIDv7; the text of the message has it. */
  @PrimaryColumn('uuid') readonly id!: string;
  @Column({ length: 64 }) readonly carrier!: string;
  /** ISO 3166 code of the phone. */
  @Column({ length: 2 }) readonly country!: string;
  @Column({ name: 'message_id', length: 64 }) readonly messageId!: string;
  @Column({ ...TIME, name: 'sent_at' }) readonly sentAt!: Date;
  /** Of the message, as it was read last. */
  @Column({ length: 32 }) readonly status!: string;
  /** Time of the first report of delivery. */
  @Column({ ...OPTIONAL_TIME, name: 'delivered_at' }) readonly deliveredAt!: Date | null;
  /** When the phone called back. */
  @Column({ ...OPTIONAL_TIME, name: 'seen_at' }) readonly seenAt!: Date | null;
  /** 1: its message may still change. */
  @Column('smallint', { name: 'is_open' }) readonly isOpen!: number;
  /** Of a scheduled one, so that two processes send it once. */
  @Column('varchar', { length: 100, nullable: true, unique: true }) readonly slot!: string | null;
}

export const PROBE_TABLES = tablesOf('Probes1790000002395', [ProbeEntity]);
