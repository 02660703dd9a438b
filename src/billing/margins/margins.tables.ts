import { Column, Entity, PrimaryColumn } from 'typeorm';
import { ACCOUNT_ID } from '../../accounts/accounts.tables.js';
import { tablesOf } from '../../config/entity-tables.js';
import { MONEY } from '../ledger/ledger.tables.js';
import { CURRENCY } from '../rate-cards/rate-cards.tables.js';

/**
 * Prices and costs of the messages of ended batches, by the month in which they were accepted. A batch
 * is added when retention ends it, before its recipients are erased.
 */
@Entity('gateway_billing_margin')
class BillingMargin {
  /** Of UTC, such as `2026-11`. */
  @PrimaryColumn('varchar', { length: 7 }) readonly month!: string;
  /** Without a foreign key: it would lock the account's own row at each end of a batch. */
  @PrimaryColumn(ACCOUNT_ID) readonly accountId!: string;
  @PrimaryColumn('varchar', { length: 16 }) readonly channel!: string;
  /** Of the last submission; empty: not known. */
  @PrimaryColumn('varchar', { length: 32 }) readonly carrier!: string;
  /** ISO 3166 alpha-2; empty: the recipient has none, or it is not known. */
  @PrimaryColumn('varchar', { length: 2 }) readonly country!: string;
  /** Of the price. */
  @PrimaryColumn(CURRENCY) readonly currency!: string;
  /** Empty: the cost is not known. */
  @PrimaryColumn({ ...CURRENCY, name: 'cost_currency' }) readonly costCurrency!: string;
  @Column('bigint', { default: 0 }) readonly messages!: string;
  @Column('bigint', { default: 0 }) readonly parts!: string;
  @Column(MONEY) readonly price!: string;
  @Column(MONEY) readonly cost!: string;
}

export const MARGIN_TABLES = tablesOf('Margins1790000002385', [BillingMargin]);
