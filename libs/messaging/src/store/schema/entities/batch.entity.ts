import { Column, Entity, PrimaryColumn } from 'typeorm';

const micros = {
  transformer: {
    to: (value: unknown) => value,
    from: (value: unknown) => (value === null ? null : Number(value)),
  },
};

/** One send for all its recipients; its id is the `reference_id`. Times are epoch microseconds. */
@Entity('messaging_batch')
export class BatchEntity {
  @PrimaryColumn('varchar', { length: 36 }) id!: string;
  @Column('varchar') tenant!: string;
  @Column('varchar', { length: 16 }) channel!: string;
  @Column('varchar') lane!: string;
  /** 0 high, 1 normal. */
  @Column('smallint') priority!: number;
  @Column('varchar') sender!: string;
  /** JSON of the content; `null` after retention erased it. */
  @Column('text', { nullable: true }) content!: string | null;
  /** 1: yes, 0: none. */
  @Column('smallint', { name: 'delivery_report' }) deliveryReport!: number;
  @Column('smallint') parts!: number;
  @Column('int', { name: 'recipient_count' }) recipientCount!: number;
  @Column('bigint', { name: 'created_at', ...micros }) createdAt!: number;
  @Column('bigint', { name: 'send_at', nullable: true, ...micros }) sendAt!: number | null;
  /** Position in the lane: database time of acceptance, or `send_at` if later. */
  @Column('bigint', { name: 'available_at', ...micros }) availableAt!: number;
  @Column('bigint', { name: 'valid_until', nullable: true, ...micros }) validUntil!: number | null;
  /** See `BATCH_STATE`. */
  @Column('smallint') state!: number;
  /** Parked until this time, by a failure or by policy; 0: never parked. */
  @Column('bigint', { name: 'parked_until', ...micros }) parkedUntil!: number;
  /** Incremented by each cancel and reschedule. */
  @Column('int') revision!: number;
  @Column('varchar', { name: 'idempotency_key', nullable: true }) idempotencyKey!: string | null;
  @Column('varchar', { nullable: true }) fingerprint!: string | null;
  @Column('bigint', { name: 'completed_at', nullable: true, ...micros }) completedAt!:
    | number
    | null;
  /** Time of the next poll for missing reports; `null`: no report is missing. */
  @Column('bigint', { name: 'poll_at', nullable: true, ...micros }) pollAt!: number | null;
  @Column('smallint') polls!: number;
  /** Number of recipients that policy denied at acceptance; they come first. */
  @Column('int') denied!: number;
}
