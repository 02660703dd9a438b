import { Column, Entity, PrimaryColumn } from 'typeorm';
import { ACCOUNT_ID, OfAccount } from '../../accounts/accounts.tables.js';
import { columnsAdded, indexesAdded, tablesOf } from '../../config/entity-tables.js';
import { BillingBatch } from '../charging/charging.tables.js';
import { BillingAccount, MONEY } from '../ledger/ledger.tables.js';
import type { BudgetPeriod } from './budget-period.js';

/**
 * What an account, or one of its credentials, may spend in a period. Its row changes while the account's
 * row in `gateway_billing_account` is locked.
 */
@Entity('gateway_billing_budget')
class BillingBudget {
  @OfAccount() @PrimaryColumn(ACCOUNT_ID) readonly accountId!: string;
  /** Empty: the whole account. Else the id of a key, or `api_token`. */
  @PrimaryColumn('varchar', { length: 64 }) readonly spender!: string;
  @PrimaryColumn('varchar', { length: 8 }) readonly period!: BudgetPeriod;
  @Column({ ...MONEY, name: 'most' }) readonly most!: string;
  /** Start of the period of `spent`, in epoch milliseconds. */
  @Column('bigint', { name: 'starts_at', default: 0 }) readonly startsAt!: string;
  /** Reserved and charged for the messages that were accepted in the period. */
  @Column(MONEY) readonly spent!: string;
}

const CREATED = tablesOf('Budgets1790000002310', [BillingBudget]);

export const BUDGET_TABLES = {
  entities: CREATED.entities,
  migrations: [
    ...CREATED.migrations,
    columnsAdded('BatchSpenders1790000002311', [
      [BillingAccount, ['budgets']],
      [BillingBatch, ['spender', 'acceptedAt']],
    ]),
    indexesAdded('BatchesOfAccount1790000002312', [
      [BillingBatch, 'gateway_billing_batch_account'],
    ]),
  ],
};
