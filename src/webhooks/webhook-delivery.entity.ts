import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { epochMilliseconds } from './epoch-milliseconds.js';

/**
 * One event for one endpoint, written in the transaction of the status it tells of. Times are epoch
 * milliseconds.
 *
 * ```
 * due at once ──2xx──► delivered
 *     │ failure            ▲ 2xx
 *     ▼                    │
 * due later ───────────────┘──schedule used up──► exhausted
 * ```
 * Due: `due_at` set. Delivered: `delivered_at` set. Exhausted: neither. A redelivery sets `due_at`
 * and clears the others; what was not tried yet keeps its place.
 */
@Entity('gateway_webhook_delivery')
@Index('gateway_webhook_delivery_id', ['endpointId', 'id'], { unique: true })
@Index('gateway_webhook_delivery_due', ['endpointId', 'dueAt', 'position'])
export class WebhookDeliveryEntity {
  /**
   * Given by the database on insert. A message's next change is written after its last one
   * committed, so that positions order a message's events whatever process wrote them.
   */
  @PrimaryColumn('bigint') position!: string;
  /** UUIDv7: the `webhook-id`, the same on every attempt. */
  @Column('varchar', { length: 36 }) id!: string;
  @Column('varchar', { name: 'endpoint_id', length: 36 }) endpointId!: string;
  @Column('varchar', { name: 'message_id', length: 64 }) messageId!: string;
  /** Which change of the message it tells. */
  @Column('int') sequence!: number;
  /** The body, byte for byte; it never holds the message's text. */
  @Column('text') payload!: string;
  @Column('bigint', { name: 'created_at', ...epochMilliseconds }) createdAt!: number;
  /** Attempts of the present schedule. */
  @Column('smallint', { default: 0 }) attempts!: number;
  /** 0, or -1 where it was asked for anew: at once, in order of position. */
  @Column('bigint', { name: 'due_at', nullable: true, ...epochMilliseconds }) dueAt!: number | null;
  @Column('bigint', { name: 'delivered_at', nullable: true, ...epochMilliseconds })
  deliveredAt!: number | null;
}
