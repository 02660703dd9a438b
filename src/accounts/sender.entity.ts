import { Column, Entity, PrimaryColumn } from 'typeorm';
import { epochMilliseconds } from './epoch-milliseconds.js';

/** A sender ID an account may send from. */
@Entity('gateway_sender')
export class Sender {
  @PrimaryColumn({ name: 'account_id', type: 'varchar', length: 32 })
  readonly accountId!: string;

  /** As it is shown on the phone; upper and lower case are different senders. */
  @PrimaryColumn({ name: 'sender', type: 'varchar', length: 11 })
  readonly sender!: string;

  @Column({ name: 'created_at', type: 'bigint', transformer: epochMilliseconds })
  readonly createdAt!: Date;
}
