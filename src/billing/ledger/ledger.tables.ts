import { Column, Entity, PrimaryColumn, Unique } from 'typeorm';
import { ACCOUNT_ID, OfAccount, TIME } from '../../accounts/accounts.tables.js';
import { tablesOf } from '../../config/entity-tables.js';
import type { ChargeAt, Unsettled } from '../charging/charge-state.js';
import { CARD_NAME, CURRENCY } from '../rate-cards/rate-cards.tables.js';

/** `off`: its messages are free. `postpaid`: it may spend down to its credit limit. */
export const BILLING_MODES = ['off', 'prepaid', 'postpaid'] as const;

export type BillingMode = (typeof BILLING_MODES)[number];

/** `top_up` and `adjustment` are entries of operators, `charge` and `refund` those of messages. */
export const ENTRY_KINDS = ['top_up', 'adjustment', 'charge', 'refund'] as const;

export type EntryKind = (typeof ENTRY_KINDS)[number];

/** Millionths of the currency's unit. SQL reads it as text: 64 bits are more than a number holds. */
export const MONEY = { type: 'bigint', default: 0 } as const;

/**
 * The money of an account; one without a row is `off` and has none. `balance - reserved + credit_limit` is
 * never below zero: each statement that takes from it has the condition. The row is the account's own, so
 * accounts do not wait for each other.
 */
@Entity('gateway_billing_account')
export class BillingAccount {
  @OfAccount() @PrimaryColumn(ACCOUNT_ID) readonly accountId!: string;
  @Column('varchar', { length: 16 }) readonly mode!: BillingMode;
  @Column(CURRENCY) readonly currency!: string;
  /** `null`: the card `default`. */
  @Column({ ...CARD_NAME, nullable: true }) readonly card!: string | null;
  /** The sum of its entries. */
  @Column(MONEY) readonly balance!: string;
  /** Of accepted messages whose end is not known. */
  @Column(MONEY) readonly reserved!: string;
  /** Zero unless it is or was `postpaid`. */
  @Column({ ...MONEY, name: 'credit_limit' }) readonly creditLimit!: string;
  /** Number of its entries. */
  @Column('bigint', { default: 0 }) readonly entries!: string;
  /** When its messages are charged. */
  @Column('varchar', { name: 'charge_at', length: 16, default: 'sent' })
  readonly chargeAt!: ChargeAt;
  /** What becomes of reservations of messages whose end stays unknown. */
  @Column('varchar', { length: 16, default: 'release' }) readonly unsettled!: Unsettled;
  /** Number of its budgets, so that an account without any costs no further statement. */
  @Column('int', { default: 0 }) readonly budgets!: number;
  /** 1: nothing was left to spend when the balance was last looked at, and the account was told. */
  @Column('smallint', { name: 'is_exhausted', default: 0 }) readonly isExhausted!: number;
  /** Addresses of e-mails about its balance, separated by commas. */
  @Column('text', { name: 'notified_emails', nullable: true })
  readonly notifiedEmails!: string | null;
}

/**
 * A line of the ledger. Rows are inserted only, with the change of the account's balance. The entries of an
 * account are numbered from 1 without a gap.
 */
@Entity('gateway_billing_entry')
@Unique('gateway_billing_entry_reference', ['accountId', 'kind', 'reference'])
class BillingEntry {
  @PrimaryColumn(ACCOUNT_ID) readonly accountId!: string;
  @PrimaryColumn('bigint') readonly sequence!: string;
  @Column('varchar', { length: 16 }) readonly kind!: EntryKind;
  @Column('bigint') readonly amount!: string;
  @Column('bigint', { name: 'balance_after' }) readonly balanceAfter!: string;
  /** What the entry is for; once per account and kind. */
  @Column('varchar', { length: 100 }) readonly reference!: string;
  @Column('varchar', { length: 255, nullable: true }) readonly note!: string | null;
  /** The user who made it; `null`: the command line. */
  @Column('varchar', { name: 'user_id', length: 32, nullable: true })
  readonly userId!: string | null;
  @Column({ ...TIME, name: 'created_at' }) readonly createdAt!: Date;
}

export const LEDGER_TABLES = tablesOf('Ledger1790000002001', [BillingAccount, BillingEntry]);
