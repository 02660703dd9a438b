import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { epochMilliseconds } from './epoch-milliseconds.js';

/** A WhatsApp number and the one account that sends from it. */
@Entity('gateway_whatsapp_number')
@Index('gateway_whatsapp_number_account', ['accountId'])
export class WhatsAppNumber {
  /** Digits with country code. */
  @PrimaryColumn({ type: 'varchar', length: 15 })
  readonly number!: string;

  @Column({ name: 'account_id', type: 'varchar', length: 32 })
  readonly accountId!: string;

  @Column({ name: 'created_at', type: 'bigint', transformer: epochMilliseconds })
  readonly createdAt!: Date;
}
