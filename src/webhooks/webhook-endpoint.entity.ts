import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { epochMilliseconds } from './epoch-milliseconds.js';

/** Why an endpoint gets nothing: it answered 410, had no success for days, or its account said so. */
export type DisabledReason = 'gone' | 'failing' | 'account';

/**
 * Where an account wants its callbacks. Times are epoch milliseconds.
 *
 * ```
 * enabled ──410──► disabled (gone)
 *    │ ──no success for five days──► disabled (failing)
 *    │ ──by its account──► disabled (account)
 *    ◄──by its account, from any of them: what is still due is sent
 * ```
 */
@Entity('gateway_webhook_endpoint')
@Index('gateway_webhook_endpoint_slot', ['accountId', 'slot'], { unique: true })
export class WebhookEndpointEntity {
  /** UUIDv7: the `webhook_id`. */
  @PrimaryColumn('varchar', { length: 36 }) id!: string;
  @Column('varchar', { name: 'account_id', length: 64 }) accountId!: string;
  /** Place among the account's endpoints; 0 is the one its settings name. */
  @Column('smallint') slot!: number;
  @Column('varchar', { length: 2048 }) url!: string;
  /** `whsec_…`; kept readable, because every callback is signed with it. */
  @Column('varchar', { length: 96 }) secret!: string;
  /** Signed with as well until `previousUntil`: one, or two where it was rotated again before. */
  @Column('varchar', { name: 'previous_secret', length: 96, nullable: true })
  previousSecret!: string | null;
  @Column('bigint', { name: 'previous_until', nullable: true, ...epochMilliseconds })
  previousUntil!: number | null;
  @Column('bigint', { name: 'disabled_at', nullable: true, ...epochMilliseconds })
  disabledAt!: number | null;
  @Column('varchar', { name: 'disabled_reason', length: 16, nullable: true })
  disabledReason!: DisabledReason | null;
  /** First failure since the last success. */
  @Column('bigint', { name: 'failing_since', nullable: true, ...epochMilliseconds })
  failingSince!: number | null;
  @Column('bigint', { name: 'created_at', ...epochMilliseconds }) createdAt!: number;
  /** The process that sends to it now, by database time. */
  @Column('varchar', { name: 'lease_owner', length: 36, nullable: true })
  leaseOwner!: string | null;
  @Column('bigint', { name: 'lease_until', default: 0, ...epochMilliseconds }) leaseUntil!: number;
}
