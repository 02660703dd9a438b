import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TIME } from '../accounts/accounts.tables.js';
import { tablesOf } from '../config/entity-tables.js';

/** When a carrier last called back with a right proof; none: never. */
@Entity('gateway_callback_sighting')
export class CallbackSighting {
  @PrimaryColumn({ length: 32 }) readonly carrier!: string;
  /** Exact to a minute. */
  @Column({ ...TIME, name: 'seen_at' }) readonly seenAt!: Date;
}

export const CALLBACK_SIGHTING_TABLES = tablesOf('CallbackSightings1790000002300', [
  CallbackSighting,
]);
