import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { epochMilliseconds } from './epoch-milliseconds.js';

/** One request to an endpoint and what came of it. Times are epoch milliseconds. */
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
  /** HTTP status; `null` where no answer came. */
  @Column('smallint', { nullable: true }) status!: number | null;
  /** See `AttemptError`; `null`: success. */
  @Column('varchar', { length: 32, nullable: true }) error!: string | null;
  /** Beginning of the answer's body, at most 1 kB. */
  @Column('varchar', { length: 1024, nullable: true }) response!: string | null;
}
