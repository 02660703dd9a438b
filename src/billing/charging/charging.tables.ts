import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ACCOUNT_ID } from '../../accounts/accounts.tables.js';
import { columnsAdded, tablesOf } from '../../config/entity-tables.js';
import { BillingAccount, MONEY } from '../ledger/ledger.tables.js';
import type { ChargeAt } from './charge-state.js';

/**
 * What an accepted batch of an account that pays has reserved and charged. A row changes in the
 * transactions that change the statuses of its messages.
 */
@Entity('gateway_billing_batch')
@Index('gateway_billing_batch_account', ['accountId', 'acceptedAt'])
export class BillingBatch {
  @PrimaryColumn('varchar', { length: 36 }) readonly batch!: string;
  /** Without a foreign key: it would lock the account's own row at each acceptance. */
  @Column(ACCOUNT_ID) readonly accountId!: string;
  @Column('varchar', { length: 16 }) readonly channel!: string;
  /** The rule of the account when the batch was accepted. */
  @Column('varchar', { name: 'charge_at', length: 16 }) readonly chargeAt!: ChargeAt;
  /** Parts of each message. */
  @Column('int') readonly units!: number;
  /** The rates of its recipients by prefix; see `writeRates()`. */
  @Column('text') readonly rates!: string;
  /** Of messages whose end is not known. */
  @Column(MONEY) readonly reserved!: string;
  @Column(MONEY) readonly charged!: string;
  /** 1: retention or an erasure has ended it, and no report changes it any more. */
  @Column('smallint', { default: 0 }) readonly closed!: number;
  /** The credential that sent it: the id of a key, or `api_token`; `null`: none. */
  @Column('varchar', { length: 64, nullable: true }) readonly spender!: string | null;
  /** Its place in the periods of budgets, in epoch milliseconds. */
  @Column('bigint', { name: 'accepted_at', default: 0 }) readonly acceptedAt!: string;
}

const CREATED = tablesOf('Charges1790000002002', [BillingBatch]);

export const CHARGE_TABLES = {
  entities: CREATED.entities,
  migrations: [
    ...CREATED.migrations,
    columnsAdded('ChargeRules1790000002003', [[BillingAccount, ['chargeAt', 'unsettled']]]),
  ],
};
