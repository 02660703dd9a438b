import { Choice, type FieldOptions, type Plain, Text, Timestamp } from '../http/fields.js';
import { PageOf } from '../http/page.dto.js';
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
