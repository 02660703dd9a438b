import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** Column options: a BIGINT that drivers answer as text, a number in code. */
export const epochMilliseconds = {
  transformer: {
    to: (value: unknown) => value,
    from: (value: unknown) => (value === null || value === undefined ? null : Number(value)),
  },
};

/** Why an endpoint is disabled: it answered 410, it had no success for days, or its account disabled it. */
export type DisabledReason = 'gone' | 'failing' | 'account';

/**
 * The address of an account's callbacks. Times are epoch milliseconds.
 *
 * ```
 * enabled ──410──► disabled (gone)
 *    │ ──no success for five days──► disabled (failing)
 *    │ ──by its account──► disabled (account)
 *    ◄──by its account, from any of them: deliveries that are still due are sent
 * ```
 */
@Entity('gateway_webhook_endpoint')
@Index('gateway_webhook_endpoint_slot', ['accountId', 'slot'], { unique: true })
export class WebhookEndpointEntity {
  /** UUIDv7: the `webhook_id`. */
  @PrimaryColumn('varchar', { length: 36 }) id!: string;
  @Column('varchar', { name: 'account_id', length: 64 }) accountId!: string;
  /** The endpoint's place in its account; the account's settings set the one in place 0. */
  @Column('smallint') slot!: number;
  @Column('varchar', { length: 2048 }) url!: string;
  /** `whsec_…`; kept readable, because every callback is signed with it. */
  @Column('varchar', { length: 96 }) secret!: string;
  /** Signs as well until `previousUntil`: one secret, or two after two rotations in that time. */
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
}
