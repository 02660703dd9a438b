import { Column, Entity, Index, PrimaryColumn, type QueryRunner } from 'typeorm';
import { ACCOUNT_ID } from '../../accounts/accounts.tables.js';
import { columnsAdded, tablesOf } from '../../config/entity-tables.js';
import { BillingAccount, MONEY } from '../ledger/ledger.tables.js';
import { CURRENCY } from '../rate-cards/rate-cards.tables.js';
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
  /** That of the account when it was accepted. */
  @Column({ ...CURRENCY, nullable: true }) readonly currency!: string | null;
  /** Number of its messages; 0: it was accepted before they were counted. */
  @Column('int', { default: 0 }) readonly messages!: number;
  /**
   * The category in which the platform bills its only message, or `free`; `null`: no report said it.
   */
  @Column('varchar', { length: 32, nullable: true }) readonly reported!: string | null;
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

const PRICING = columnsAdded('ChargePricing1790000002320', [
  [BillingBatch, ['currency', 'messages', 'reported']],
]);

/** Gives batches their currency, and more room for their rates. */
class ChargePricing1790000002320 extends PRICING {
  override async up(runner: QueryRunner): Promise<void> {
    await super.up(runner);
    await runner.query(
      `UPDATE gateway_billing_batch SET currency = (SELECT a.currency FROM gateway_billing_account a
         WHERE a.account_id = gateway_billing_batch.account_id)
       WHERE currency IS NULL`,
    );
    const { type } = runner.dataSource.options;
    // 64 KiB of TEXT are fewer than the prefixes of a batch may need.
    if (type === 'mysql' || type === 'mariadb')
      await runner.query(
        `ALTER TABLE gateway_billing_batch
         MODIFY rates MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL`,
      );
  }
}

export const CHARGE_TABLES = {
  entities: CREATED.entities,
  migrations: [
    ...CREATED.migrations,
    columnsAdded('ChargeRules1790000002003', [[BillingAccount, ['chargeAt', 'unsettled']]]),
    ChargePricing1790000002320,
  ],
};
