import {
  Choice,
  Field,
  type FieldOptions,
  type Plain,
  Text,
  Timestamp,
  WholeNumber,
} from '../http/fields.js';
import { PageOf } from '../http/page.dto.js';
import { BUDGET_PERIODS, type BudgetPeriod } from './budgets/budget-period.js';
import type { BudgetState } from './budgets/budgets.service.js';
import type { Statement } from './statements/statements.service.js';
import type { AccountMoney, Entry } from './ledger/ledger.store.js';
import {
  BILLING_MODES,
  type BillingMode,
  ENTRY_KINDS,
  type EntryKind,
} from './ledger/ledger.tables.js';
import { amountText } from './money.js';

/** A decimal text, because a JSON number may be rounded. */
function Amount(options: FieldOptions = {}): PropertyDecorator {
  return Text({ pattern: '^-?[0-9]{1,12}\\.[0-9]{2,6}$', examples: ['5000.00'], ...options });
}

export class AccountBalance {
  @Choice(BILLING_MODES, {
    description:
      'How the account pays. `off`: its messages are free. `postpaid`: it may spend down to its credit limit.',
    examples: ['prepaid'],
  })
  readonly mode!: BillingMode;

  @Amount({ description: 'The sum of all entries.' }) readonly balance!: string;

  @Amount({
    description: 'Of accepted messages whose end is not known.',
    examples: ['12.50'],
  })
  readonly reserved!: string;

  @Amount({
    description: 'What may be spent: balance − reserved + credit limit.',
    examples: ['4987.50'],
  })
  readonly available!: string;

  @Amount({ examples: ['0.00'] }) readonly credit_limit!: string;

  @Text({
    nullable: true,
    description: 'ISO 4217; null: nothing was ever set for the account.',
    examples: ['NGN'],
  })
  readonly currency!: string | null;
}

export class AccountEntry {
  @Choice(ENTRY_KINDS, { examples: ['top_up'] }) readonly kind!: EntryKind;
  @Amount({ description: 'Below zero: taken from the balance.' }) readonly amount!: string;
  @Amount({ description: 'The balance with this entry.' }) readonly balance_after!: string;

  @Text({
    maxLength: 100,
    description: 'What it is for; once per kind.',
    examples: ['INV-17'],
  })
  readonly reference!: string;

  @Timestamp() readonly created_at!: string;
}

export class AccountEntryPage extends PageOf(AccountEntry) {}

export class AccountBudget {
  @Text({
    nullable: true,
    description: 'The id of the key, or `api_token`; null: the whole account.',
    examples: ['crd_2bH9kQwErTyUiOpAsDfGhJ'],
  })
  readonly key!: string | null;

  @Choice(BUDGET_PERIODS, { description: 'Of UTC.', examples: ['month'] })
  readonly period!: BudgetPeriod;

  @Amount({ examples: ['5000.00'] }) readonly limit!: string;

  @Amount({
    description: 'Of the present period: what its messages have reserved and cost.',
    examples: ['1240.50'],
  })
  readonly spent!: string;

  @Text({ examples: ['NGN'] }) readonly currency!: string;

  @Timestamp({ description: 'When the next period begins.' }) readonly resets_at!: string;
}

export class AccountBudgetList {
  @Field({ type: [AccountBudget] }) readonly data!: readonly AccountBudget[];
}

export class StatementQuery {
  @Text({
    pattern: '^[0-9]{4}-(0[1-9]|1[0-2])$',
    message: 'must be a month, such as 2026-11',
    examples: ['2026-11'],
  })
  readonly month!: string;
}

class StatementKind {
  @Choice(ENTRY_KINDS, { examples: ['charge'] }) readonly kind!: EntryKind;
  @WholeNumber({ minimum: 0, examples: [40] }) readonly count!: number;
  @Amount({ examples: ['-180.00'] }) readonly amount!: string;
}

class StatementSum {
  @WholeNumber({
    minimum: -Number.MAX_SAFE_INTEGER,
    description: 'Charged less refunded messages.',
    examples: [40],
  })
  readonly messages!: number;

  @WholeNumber({ minimum: -Number.MAX_SAFE_INTEGER, examples: [40] }) readonly parts!: number;
  @Amount({ examples: ['180.00'] }) readonly amount!: string;
}

class StatementChannel extends StatementSum {
  @Text({
    description: 'Empty: charges of versions that kept no totals.',
    examples: ['sms'],
  })
  readonly channel!: string;

  @Text({
    description: 'ISO 3166 of the recipients; empty: they have none, or it is not known.',
    examples: ['NG'],
  })
  readonly country!: string;
}

class StatementKey extends StatementSum {
  @Text({
    nullable: true,
    description:
      'The id of the key or of the named token (of its first one, where it was rotated), or `api_token`; null: sent without a credential.',
    examples: ['api_token'],
  })
  readonly key!: string | null;
}

export class AccountStatement {
  @Text({ description: 'Of UTC.', examples: ['2026-11'] }) readonly month!: string;
  @Text({ nullable: true, examples: ['NGN'] }) readonly currency!: string | null;
  @Amount({ examples: ['0.00'] }) readonly opening_balance!: string;
  @Amount({ examples: ['4820.00'] }) readonly closing_balance!: string;
  @Field({ type: [StatementKind] }) readonly entries!: readonly StatementKind[];
  @Field({ type: [StatementChannel] }) readonly messages!: readonly StatementChannel[];
  @Field({ type: [StatementKey] }) readonly keys!: readonly StatementKey[];
}

export function statementOf(statement: Statement): Plain<AccountStatement> {
  const { month, currency, opening, closing, entries, channels, keys } = statement;
  const written = <T extends { readonly amount: bigint }>({ amount, ...line }: T) => ({
    ...line,
    amount: amountText(amount),
  });
  return {
    month,
    currency,
    opening_balance: amountText(opening),
    closing_balance: amountText(closing),
    entries: entries.map(written),
    messages: channels.map(written),
    keys: keys.map(written),
  };
}

export function budgetOf({ limit, spent, resetsAt, ...budget }: BudgetState): Plain<AccountBudget> {
  return {
    ...budget,
    limit: amountText(limit),
    spent: amountText(spent),
    resets_at: resetsAt.toISOString(),
  };
}

/** @param money `undefined`: nothing was ever set for the account */
export function balanceOf(money: AccountMoney | undefined): Plain<AccountBalance> {
  const { mode = 'off', balance = 0n, reserved = 0n, creditLimit = 0n } = money ?? {};
  return {
    mode,
    balance: amountText(balance),
    reserved: amountText(reserved),
    available: amountText(balance - reserved + creditLimit),
    credit_limit: amountText(creditLimit),
    currency: money?.currency ?? null,
  };
}

export function entryOf({
  kind,
  amount,
  balanceAfter,
  reference,
  createdAt,
}: Entry): Plain<AccountEntry> {
  return {
    kind,
    amount: amountText(amount),
    balance_after: amountText(balanceAfter),
    reference,
    created_at: createdAt.toISOString(),
  };
}
