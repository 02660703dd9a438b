import { Column, Entity, PrimaryColumn } from 'typeorm';

const micros = {
  transformer: {
    to: (value: unknown) => value,
    from: (value: unknown) => (value === null ? null : Number(value)),
  },
};

/** What a caller asked for, once for all its recipients; its id is the `reference_id`. Times are epoch microseconds. */
@Entity('messaging_batch')
export class BatchEntity {
  @PrimaryColumn('varchar', { length: 36 }) id!: string;
  @Column('varchar') tenant!: string;
  @Column('varchar', { length: 16 }) channel!: string;
  @Column('varchar') lane!: string;
  /** 0 high, 1 normal. */
  @Column('smallint') priority!: number;
  @Column('varchar') sender!: string;
  /** JSON of the content; `null` once retention erased it. */
  @Column('text', { nullable: true }) content!: string | null;
  /** 1: yes, 0: none. */
  @Column('smallint', { name: 'delivery_report' }) deliveryReport!: number;
  @Column('smallint') parts!: number;
  @Column('int', { name: 'recipient_count' }) recipientCount!: number;
  @Column('bigint', { name: 'created_at', ...micros }) createdAt!: number;
  @Column('bigint', { name: 'send_at', nullable: true, ...micros }) sendAt!: number | null;
  /** The place in the lane: database time of acceptance, or `send_at` if later. */
  @Column('bigint', { name: 'available_at', ...micros }) availableAt!: number;
  @Column('bigint', { name: 'valid_until', nullable: true, ...micros }) validUntil!: number | null;
  /** See `BATCH_STATE`. */
  @Column('smallint') state!: number;
  /** Put aside until then, by a failure or by policy; 0: it never was. */
  @Column('bigint', { name: 'parked_until', ...micros }) parkedUntil!: number;
  /** Grows with each cancel and reschedule. */
  @Column('int') revision!: number;
  @Column('varchar', { name: 'idempotency_key', nullable: true }) idempotencyKey!: string | null;
  @Column('varchar', { nullable: true }) fingerprint!: string | null;
  @Column('bigint', { name: 'completed_at', nullable: true, ...micros }) completedAt!:
    | number
    | null;
  /** When its missing reports are asked after next; `null`: nothing is missing. */
  @Column('bigint', { name: 'poll_at', nullable: true, ...micros }) pollAt!: number | null;
  @Column('smallint') polls!: number;
  /** Recipients policy denied at acceptance: the first ones. */
  @Column('int') denied!: number;
}
