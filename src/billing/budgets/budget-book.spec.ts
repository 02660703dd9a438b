import { describe, expect, it } from '@jest/globals';
import { BudgetBook, correctionsOf, summed } from './budget-book.js';
import { endOf, startOf } from './budget-period.js';
import type { Budget } from './budget.store.js';

const NOON = Date.UTC(2026, 10, 29, 12);
const DAY = Date.UTC(2026, 10, 29);
const MONTH = Date.UTC(2026, 10, 1);

const budget = (given: Partial<Budget>): Budget => ({
  accountId: 'a',
  spender: '',
  period: 'day',
  limit: 10n,
  startsAt: DAY,
  spent: 0n,
  ...given,
});
const batch = (price: bigint, spender: string | null = 'k') => {
  return { accountId: 'a', spender, price, currency: 'NGN' };
};

describe('budgets of a transaction', () => {
  it('periods are days and months of UTC', () => {
    expect([startOf('day', NOON), endOf('day', NOON)]).toEqual([DAY, DAY + 86_400_000]);
    expect([startOf('month', NOON), endOf('month', NOON)]).toEqual([MONTH, Date.UTC(2026, 11, 1)]);
    expect(endOf('month', Date.UTC(2027, 0, 31, 23))).toBe(Date.UTC(2027, 1, 1));
  });

  it('take the price of each batch until one has too little, and name it', () => {
    const book = new BudgetBook([budget({ spent: 4n }), budget({ spender: 'k', limit: 5n })], NOON);
    expect(book.spend(batch(4n))).toBeUndefined();
    expect(book.spend(batch(2n))?.details).toMatchObject({ budget: 'k', spent: '0.000004' });
    expect(book.spend(batch(2n, 'x'))).toBeUndefined();
    expect(book.spend(batch(1n, null))?.details).toMatchObject({ budget: 'account' });
    expect(book.spend(batch(0n, null))).toBeUndefined();
    expect(book.spends.map(({ spent }) => spent)).toEqual([10n, 4n]);
  });

  it('a former period counts no more, and one that another process has begun goes on', () => {
    const former = new BudgetBook([budget({ startsAt: DAY - 86_400_000, spent: 10n })], NOON);
    expect(former.spend(batch(10n))).toBeUndefined();
    expect(former.spends).toMatchObject([{ startsAt: DAY, spent: 10n }]);
    const ahead = new BudgetBook([budget({ startsAt: DAY + 86_400_000, spent: 10n })], NOON);
    expect(ahead.acceptedAt('a')).toBe(DAY + 86_400_000);
    expect(ahead.spend(batch(1n))?.code).toBe('budget_exceeded');
  });

  it('a free batch begins a period, so that a price that is reported later counts', () => {
    const former = new BudgetBook([budget({ startsAt: DAY - 86_400_000, spent: 10n })], NOON);
    expect(former.spend(batch(0n))).toBeUndefined();
    expect(former.spends).toMatchObject([{ startsAt: DAY, spent: 0n }]);
    const begun = new BudgetBook([budget({ spent: 10n })], NOON);
    expect(begun.spend(batch(0n))).toBeUndefined();
    expect(begun.spends).toEqual([]);
  });

  it('a later change is that of the period in which the batch was accepted', () => {
    const moves = [correctionsOf(batch(0n), NOON, -3n), correctionsOf(batch(0n, null), NOON, 1n)];
    expect(summed(moves.flat())).toEqual([
      { accountId: 'a', spender: '', period: 'day', startsAt: DAY, amount: -2n },
      { accountId: 'a', spender: 'k', period: 'day', startsAt: DAY, amount: -3n },
      { accountId: 'a', spender: '', period: 'month', startsAt: MONTH, amount: -2n },
      { accountId: 'a', spender: 'k', period: 'month', startsAt: MONTH, amount: -3n },
    ]);
  });
});
