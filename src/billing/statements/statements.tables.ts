import { Column, Entity, PrimaryColumn } from 'typeorm';
import { ACCOUNT_ID } from '../../accounts/accounts.tables.js';
import { tablesOf } from '../../config/entity-tables.js';
import { MONEY } from '../ledger/ledger.tables.js';

/**
 * What the messages of a month were charged, changed with the entries of the ledger. It outlives the
 * messages. A refund takes its message back in the month of the refund.
 */
@Entity('gateway_billing_month')
class BillingMonth {
  /** Without a foreign key, whose lock an operator's change holds while it waits for the money's row. */
  @PrimaryColumn(ACCOUNT_ID) readonly accountId!: string;
  /** Of UTC, such as `2026-11`. */
  @PrimaryColumn('varchar', { length: 7 }) readonly month!: string;
  @PrimaryColumn('varchar', { length: 16 }) readonly channel!: string;
  /** ISO 3166 alpha-2; empty: the recipient has none, or it is not known. */
  @PrimaryColumn('varchar', { length: 2 }) readonly country!: string;
  /** The credential that sent; empty: none. */
  @PrimaryColumn('varchar', { length: 64 }) readonly spender!: string;
  @Column('bigint', { default: 0 }) readonly messages!: string;
  @Column('bigint', { default: 0 }) readonly parts!: string;
  @Column(MONEY) readonly amount!: string;
}

export const STATEMENT_TABLES = tablesOf('Statements1790000002315', [BillingMonth]);
