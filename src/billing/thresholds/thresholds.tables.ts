import { Column, Entity, PrimaryColumn } from 'typeorm';
import { ACCOUNT_ID, OfAccount, TIME } from '../../accounts/accounts.tables.js';
import { columnsAdded, tablesOf } from '../../config/entity-tables.js';
import { BillingAccount } from '../ledger/ledger.tables.js';

/** An amount below which a balance is low. Its row changes while the account's row is locked. */
@Entity('gateway_billing_threshold')
export class BillingThreshold {
  @OfAccount() @PrimaryColumn(ACCOUNT_ID) readonly accountId!: string;
  @PrimaryColumn('bigint') readonly amount!: string;
  /** 1: the balance is below it, and the account was told. */
  @Column('smallint', { name: 'is_below', default: 0 }) readonly isBelow!: number;
}

/** An e-mail about a balance that is still to be sent; deleted in the transaction that sends it. */
@Entity('gateway_billing_notice')
class BillingNotice {
  /** UUIDv7. */
  @PrimaryColumn('varchar', { length: 36 }) readonly id!: string;
  /** Without a foreign key, whose lock an operator's change holds while it waits for the money's row. */
  @Column(ACCOUNT_ID) readonly accountId!: string;
  /** JSON of the `data` of the callback, with its `type`. */
  @Column('text') readonly event!: string;
  @Column({ ...TIME, name: 'created_at' }) readonly createdAt!: Date;
}

const CREATED = tablesOf('Thresholds1790000002313', [BillingThreshold, BillingNotice]);

export const THRESHOLD_TABLES = {
  entities: CREATED.entities,
  migrations: [
    ...CREATED.migrations,
    columnsAdded('BalanceNotices1790000002314', [
      [BillingAccount, ['isExhausted', 'notifiedEmails']],
    ]),
  ],
};
