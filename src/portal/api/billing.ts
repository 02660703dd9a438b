// Billing (read: all roles in their account; budgets and notices are changed by admins)

import type { BudgetPeriod } from '../../billing/budgets/budget-period.js';

type EntryKind = 'top_up' | 'adjustment' | 'charge' | 'refund';

/** `GET api/billing`. Amounts are decimal texts in the account's currency. */
export interface Billing {
  /** `off`: its messages are free. */
  readonly mode: 'off' | 'prepaid' | 'postpaid';
  readonly balance: string;
  readonly reserved: string;
  readonly available: string;
  readonly creditLimit: string;
  /** `null`: nothing was ever set for the account. */
  readonly currency: string | null;
  readonly budgets: readonly Budget[];
  readonly notices: BalanceNotices;
  /** Whether the gateway sends e-mails about balances. */
  readonly canMail: boolean;
}

/** `GET api/billing/today`: charges less refunds of the present day of UTC. */
export interface SpentToday {
  readonly spent: string;
}

export interface Budget {
  /** `null`: the whole account; else the id of a key, or `api_token`. */
  readonly key: string | null;
  readonly period: BudgetPeriod;
  readonly limit: string;
  /** In the present period. */
  readonly spent: string;
  readonly resetsAt: string;
}

/** `PUT api/billing/notices` (204): below which balances the account gets a notice, and at which e-mail addresses. */
export interface BalanceNotices {
  readonly thresholds: readonly string[];
  readonly emails: readonly string[];
}

/** `POST api/billing/budgets/remove` (204). */
export interface BudgetName {
  /** @default the whole account */
  readonly key?: string;
  readonly period: BudgetPeriod;
}

/** `POST api/billing/budgets` (204) sets or replaces one. */
export interface NewBudget extends BudgetName {
  readonly limit: string;
}

/** `GET api/billing/entries` answers `Listed<LedgerEntry>`; `GET api/billing/entries.csv` all of them. */
export interface LedgerEntry {
  readonly id: string;
  readonly kind: EntryKind;
  readonly amount: string;
  readonly balanceAfter: string;
  readonly reference: string;
  readonly note: string | null;
  readonly createdAt: string;
}

/** `GET api/billing/statement?month=2026-11`; `GET api/billing/statement.csv?month=` is the file. */
export interface MonthStatement {
  readonly accountId: string;
  readonly accountName: string;
  readonly month: string;
  readonly currency: string | null;
  readonly opening: string;
  readonly closing: string;
  readonly entries: readonly {
    readonly kind: EntryKind;
    readonly count: number;
    readonly amount: string;
  }[];
  readonly channels: readonly (MonthLine & {
    /** Empty: charges of versions that kept no totals. */
    readonly channel: string;
    /** Empty: none, or not known. */
    readonly country: string;
  })[];
  readonly keys: readonly (MonthLine & { readonly key: string | null })[];
}

export interface MonthLine {
  readonly messages: number;
  readonly parts: number;
  readonly amount: string;
}
