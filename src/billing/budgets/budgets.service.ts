import { type Clock, MESSAGING_CLOCK } from '@dundun/messaging';
import type { Sql } from '@dundun/messaging/queue';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Also } from '../../accounts/accounts.service.js';
import { Credential } from '../../accounts/accounts.tables.js';
import { spenderOf, TOKEN_SPENDER } from '../../accounts/credentials.js';
import { ApiError, invalidField } from '../../http/api-error.js';
import { ChargeStore } from '../charging/charge.store.js';
import { AMOUNT_FORM, BillingService } from '../ledger/billing.service.js';
import { readAmount } from '../money.js';
import { spentAt } from './budget-book.js';
import { type BudgetPeriod, endOf, startOf } from './budget-period.js';
import { type Budget, type BudgetKey, BudgetStore } from './budget.store.js';

/** Whose budget, and for how long. */
export interface BudgetName {
  /** Id of a key or a named token of the account, or `api_token`. @default the whole account */
  readonly key?: string | undefined;
  readonly period: BudgetPeriod;
}

export interface NewBudget extends BudgetName {
  /** Decimal text, zero or more. */
  readonly limit: string;
}

/** A budget in its present period; amounts are millionths. */
export interface BudgetState {
  /** `null`: the whole account. */
  readonly key: string | null;
  readonly period: BudgetPeriod;
  readonly limit: bigint;
  readonly spent: bigint;
  readonly currency: string;
  readonly resetsAt: Date;
}

/** What accounts and their credentials may spend in a day or a month. Operators set it. */
@Injectable()
export class BudgetsService {
  constructor(
    private readonly billing: BillingService,
    private readonly store: BudgetStore,
    private readonly charges: ChargeStore,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now'>,
  ) {}

  /** That of the whole account first, then by credential and period. */
  async list(accountId: string): Promise<readonly BudgetState[]> {
    const { currency = '' } = (await this.billing.account(accountId)) ?? {};
    const now = this.clock.now();
    return (await this.store.list(accountId)).map((one) => stateOf(one, currency, now));
  }

  /**
   * Sets a budget. What its messages of the present period have reserved and cost so far counts.
   * @throws ApiError 404; 422 naming the wrong field
   */
  async set(accountId: string, { limit: written, ...name }: NewBudget, also: Also) {
    const limit = readAmount(written);
    if (limit === undefined || limit < 0n)
      throw invalidField('limit', `must be ${AMOUNT_FORM}, such as 5000`);
    return this.billing.changing(accountId, async (sql, manager, { currency }) => {
      const named = await keyOf(manager, accountId, name);
      if (!named)
        throw invalidField(
          'key',
          `must be the id of a key or a named token of the account, or ${TOKEN_SPENDER}`,
        );
      // Its messages wait, so that none is counted twice or not at all.
      await this.charges.lock(sql, [accountId]);
      const startsAt = await this.#presentStart(sql, named);
      const spent = await this.store.spentSince(named, startsAt, sql);
      const budget = { ...named, limit, startsAt, spent };
      await this.store.put(sql, budget);
      await also(manager);
      return stateOf(budget, currency, Math.max(startsAt, this.clock.now()));
    });
  }

  /** @throws ApiError 404 */
  async remove(accountId: string, name: BudgetName, also: Also): Promise<void> {
    await this.billing.changing(accountId, async (sql, manager) => {
      const named = await keyOf(manager, accountId, name);
      await this.charges.lock(sql, [accountId]);
      if (!named || !(await this.store.remove(sql, named)))
        throw new ApiError(
          'not_found',
          'The account has no such budget; dundun billing budget list',
        );
      await also(manager);
    });
  }

  /** The clock of another process may be ahead: a period that it has begun does not end again. */
  async #presentStart(sql: Sql, { accountId, period }: BudgetKey): Promise<number> {
    const known = await this.store.list(accountId, sql);
    return startOf(period, Math.max(this.clock.now(), ...known.map(({ startsAt }) => startsAt)));
  }
}

/** `undefined`: the account has no such key. A rotated token has the budgets of the first of its name. */
async function keyOf(
  manager: EntityManager,
  accountId: string,
  { key = '', period }: BudgetName,
): Promise<BudgetKey | undefined> {
  if (key === '' || key === TOKEN_SPENDER) return { accountId, spender: key, period };
  const found = await manager.findOneBy(Credential, { id: key, accountId });
  return found ? { accountId, spender: spenderOf(found), period } : undefined;
}

function stateOf(budget: Budget, currency: string, now: number): BudgetState {
  const { spender, period, limit } = budget;
  const at = Math.max(now, budget.startsAt);
  return {
    key: spender === '' ? null : spender,
    period,
    limit,
    spent: spentAt(budget, at),
    currency,
    resetsAt: new Date(endOf(period, at)),
  };
}
