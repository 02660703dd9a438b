import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { epochMilliseconds } from './webhook-endpoint.entity.js';

/**
 * One event for one endpoint, written in the transaction that raises the status. Times are epoch milliseconds.
 *
 * ```
 * due at once ──2xx──► delivered
 *     │ failure            ▲ 2xx
 *     ▼                    │
 * due later ───────────────┘──schedule used up──► exhausted
 * ```
 * Due: `due_at` is set. Delivered: `delivered_at` is set. Exhausted: neither. A redelivery sets `due_at` and clears
 * the others; a delivery without an attempt keeps its place.
 */
@Entity('gateway_webhook_delivery')
@Index('gateway_webhook_delivery_id', ['endpointId', 'id'], { unique: true })
@Index('gateway_webhook_delivery_due', ['endpointId', 'dueAt', 'position'])
export class WebhookDeliveryEntity {
  /**
   * Given by the database on insert. A message's next change is written after its last one committed, so that
   * positions order a message's events, whichever process writes them.
   */
  @PrimaryColumn('bigint') position!: string;
  /** UUIDv7: the `webhook-id`, the same on every attempt. */
  @Column('varchar', { length: 36 }) id!: string;
  @Column('varchar', { name: 'endpoint_id', length: 36 }) endpointId!: string;
  @Column('varchar', { name: 'message_id', length: 64 }) messageId!: string;
  /** The number of the message's change. */
  @Column('int') sequence!: number;
  /** The body, byte for byte; it never holds the message's text. */
  @Column('text') payload!: string;
  @Column('bigint', { name: 'created_at', ...epochMilliseconds }) createdAt!: number;
  /** Attempts of the present schedule. */
  @Column('smallint', { default: 0 }) attempts!: number;
  /** 0, or -1 after a redelivery request: at once, in order of position. */
  @Column('bigint', { name: 'due_at', nullable: true, ...epochMilliseconds }) dueAt!: number | null;
  @Column('bigint', { name: 'delivered_at', nullable: true, ...epochMilliseconds })
  deliveredAt!: number | null;
}

/** One request to an endpoint and its result. Times are epoch milliseconds. */
@Entity('gateway_webhook_attempt')
@Index('gateway_webhook_attempt_endpoint', ['endpointId', 'position'])
export class WebhookAttemptEntity {
  @PrimaryColumn('bigint') position!: string;
  @Column('varchar', { name: 'endpoint_id', length: 36 }) endpointId!: string;
  /** The `webhook-id`. */
  @Column('varchar', { name: 'delivery_id', length: 36 }) deliveryId!: string;
  @Column('varchar', { name: 'message_id', length: 64 }) messageId!: string;
  /** 1 for the first of a schedule. */
  @Column('smallint') attempt!: number;
  @Column('bigint', { name: 'started_at', ...epochMilliseconds }) startedAt!: number;
  /** Milliseconds. */
  @Column('int') duration!: number;
  /** HTTP status; `null`: the receiver did not answer. */
  @Column('smallint', { nullable: true }) status!: number | null;
  /** See `AttemptError`; `null`: success. */
  @Column('varchar', { length: 32, nullable: true }) error!: string | null;
  /** The first bytes of the answer's body, at most 1 kB. */
  @Column('varchar', { length: 1024, nullable: true }) response!: string | null;
}
