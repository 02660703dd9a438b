import { SpendRefusedError } from '@dundun/messaging/ports';
import { amountText } from '../money.js';
import { BUDGET_PERIODS, endOf, startOf } from './budget-period.js';
import type { Budget, BudgetMove, BudgetSpend } from './budget.store.js';

/** A batch that is about to be accepted; `price` in millionths. */
export interface Spending {
  readonly accountId: string;
  /** The credential that sends; `null`: none. */
  readonly spender: string | null;
  readonly price: bigint;
  readonly currency: string;
}

/** The budgets of locked accounts in one transaction, and what its batches take from them. */
export class BudgetBook {
  readonly #budgets = new Map<string, Budget[]>();
  readonly #taken = new Map<Budget, bigint>();

  constructor(
    budgets: readonly Budget[],
    /** Epoch milliseconds. */
    private readonly now: number,
  ) {
    for (const budget of budgets) {
      const own = this.#budgets.get(budget.accountId) ?? [];
      this.#budgets.set(budget.accountId, own);
      own.push(budget);
    }
  }

  /**
   * When batches of the account count as accepted. The clock of another process may be ahead: a period
   * that it has begun does not end again.
   */
  acceptedAt(accountId: string): number {
    const starts = this.#budgets.get(accountId)?.map(({ startsAt }) => startsAt) ?? [];
    return Math.max(this.now, ...starts);
  }

  /** Takes the price from all budgets of the batch, or names the first one that has too little. */
  spend({ accountId, spender, price, currency }: Spending): SpendRefusedError | undefined {
    const own = this.#budgets.get(accountId);
    if (!own) return undefined;
    const at = this.acceptedAt(accountId);
    const concerned = own.filter((one) => one.spender === '' || one.spender === spender);
    if (price === 0n) {
      // Its period begins, too: the platform may yet bill a price.
      for (const budget of concerned)
        if (startOf(budget.period, at) !== budget.startsAt && !this.#taken.has(budget))
          this.#taken.set(budget, 0n);
      return undefined;
    }
    for (const budget of concerned)
      if (this.#spent(budget, at) + price > budget.limit)
        return exceeded(budget, { spent: this.#spent(budget, at), price, currency, at });
    for (const budget of concerned)
      this.#taken.set(budget, (this.#taken.get(budget) ?? 0n) + price);
    return undefined;
  }

  /** What the accepted batches have taken. */
  get spends(): readonly BudgetSpend[] {
    return [...this.#taken.keys()].map((before) => {
      const at = this.acceptedAt(before.accountId);
      return { before, startsAt: startOf(before.period, at), spent: this.#spent(before, at) };
    });
  }

  #spent(budget: Budget, at: number): bigint {
    return spentAt(budget, at) + (this.#taken.get(budget) ?? 0n);
  }
}

/** What is spent of a budget in the period of a time. */
export function spentAt({ period, startsAt, spent }: Budget, at: number): bigint {
  return startOf(period, at) === startsAt ? spent : 0n;
}

/** A change of what a batch costs, in the budgets that may have counted it. */
export function correctionsOf(
  { accountId, spender }: Pick<Spending, 'accountId' | 'spender'>,
  acceptedAt: number,
  amount: bigint,
): readonly BudgetMove[] {
  const spenders = spender === null ? [''] : ['', spender];
  return BUDGET_PERIODS.flatMap((period) => {
    const startsAt = startOf(period, acceptedAt);
    return spenders.map((one) => ({ accountId, spender: one, period, startsAt, amount }));
  });
}

/** Sums of moves of the same budget and period. */
export function summed(moves: readonly BudgetMove[]): readonly BudgetMove[] {
  const sums = new Map<string, BudgetMove>();
  for (const move of moves) {
    const { accountId, spender, period, startsAt, amount } = move;
    const key = `${accountId} ${spender} ${period} ${startsAt}`;
    sums.set(key, { ...move, amount: (sums.get(key)?.amount ?? 0n) + amount });
  }
  return [...sums.values()].filter(({ amount }) => amount !== 0n);
}

function exceeded(
  { spender, period, limit }: Budget,
  of: { spent: bigint; price: bigint; currency: string; at: number },
): SpendRefusedError {
  const { spent, price, currency, at } = of;
  const resets = new Date(endOf(period, at)).toISOString();
  const left = amountText(limit > spent ? limit - spent : 0n);
  const whose = spender === '' ? 'the account' : 'the key';
  return new SpendRefusedError(
    'budget_exceeded',
    `The message costs ${amountText(price)} ${currency}, and ${left} ${currency} are left of the budget of ${whose} for the ${period}; send after ${resets}, or ask for a higher budget`,
    {
      budget: spender === '' ? 'account' : spender,
      period,
      limit: amountText(limit),
      spent: amountText(spent),
      needed: amountText(price),
      currency,
      resets_at: resets,
    },
  );
}
