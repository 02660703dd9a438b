import { Column, Entity, PrimaryColumn } from 'typeorm';
import { epochMilliseconds } from './epoch-milliseconds.js';

/** A customer of the gateway. */
@Entity('gateway_account')
export class Account {
  /** `acc_` and 22 base62 characters; the `tenant` of everything it sends. */
  @PrimaryColumn({ type: 'varchar', length: 32 })
  readonly id!: string;

  @Column({ type: 'varchar', length: 100 })
  readonly name!: string;

  @Column({ name: 'created_at', type: 'bigint', transformer: epochMilliseconds })
  readonly createdAt!: Date;

  /** Its credentials answer 403 while this is set. */
  @Column({ name: 'suspended_at', type: 'bigint', nullable: true, transformer: epochMilliseconds })
  readonly suspendedAt!: Date | null;
}
