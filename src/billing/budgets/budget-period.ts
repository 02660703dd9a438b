/** Periods of budgets, those of UTC. */
export const BUDGET_PERIODS = ['day', 'month'] as const;

export type BudgetPeriod = (typeof BUDGET_PERIODS)[number];

/** Start of the period that a time belongs to. Both are epoch milliseconds. */
export function startOf(period: BudgetPeriod, at: number): number {
  const time = new Date(at);
  const day = period === 'day' ? time.getUTCDate() : 1;
  return Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), day);
}

/** Start of the next period. */
export function endOf(period: BudgetPeriod, at: number): number {
  const time = new Date(startOf(period, at));
  return period === 'day'
    ? time.setUTCDate(time.getUTCDate() + 1)
    : time.setUTCMonth(time.getUTCMonth() + 1);
}
