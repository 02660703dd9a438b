import { type QueueDatabase, type Sql, WorkQueues } from '@dundun/messaging/queue';
import { Injectable } from '@nestjs/common';
import type { BudgetPeriod } from './budget-period.js';

export interface BudgetKey {
  readonly accountId: string;
  /** Empty: the whole account. Else the id of a key, or `api_token`. */
  readonly spender: string;
  readonly period: BudgetPeriod;
}

/** Amounts are millionths. */
export interface Budget extends BudgetKey {
  readonly limit: bigint;
  /** Start of the period of `spent`, in epoch milliseconds. */
  readonly startsAt: number;
  readonly spent: bigint;
}

/** What batches take from a budget. */
export interface BudgetSpend {
  /** As it was read under the lock of its account. */
  readonly before: Budget;
  readonly startsAt: number;
  readonly spent: bigint;
}

/** A change of what is spent in the period that starts then. */
export interface BudgetMove extends BudgetKey {
  readonly startsAt: number;
  readonly amount: bigint;
}

/** A 64-bit integer in a row of any driver: a JavaScript number would round it. */
const text = (column: string) => `CONCAT(${column}, '')`;

type Row = Record<'accountId' | 'spender' | 'limit' | 'spent', string> & {
  readonly period: BudgetPeriod;
  readonly startsAt: string | number;
};

const COLUMNS = `b.account_id AS "accountId", b.spender, b.period, ${text('b.most')} AS "limit",
  b.starts_at AS "startsAt", ${text('b.spent')} AS spent`;

/** Statements over budgets. The caller has the rows of the accounts locked where it changes them. */
@Injectable()
export class BudgetStore {
  readonly #database: QueueDatabase;
  readonly #sql: ReturnType<typeof statementsFor>;

  constructor({ database }: WorkQueues) {
    this.#database = database;
    this.#sql = statementsFor(database);
  }

  /** Of one account: the whole account first, then by credential and period. */
  async list(accountId: string, sql: Pick<Sql, 'all'> = this.#database): Promise<Budget[]> {
    const rows = await sql.all<Row>(
      `SELECT ${COLUMNS} FROM gateway_billing_budget b WHERE b.account_id = ?
        ORDER BY b.spender, b.period`,
      [accountId],
    );
    return rows.map(budgetOf);
  }

  async ofAccounts(sql: Sql, accounts: readonly string[]): Promise<Budget[]> {
    if (accounts.length === 0) return [];
    const { ofAccounts, ids } = this.#sql;
    return (await sql.all<Row>(ofAccounts, ids.bind(accounts))).map(budgetOf);
  }

  /**
   * @returns `false`, and then the transaction must not commit: a budget is not as it was read
   */
  async spend(sql: Sql, spends: readonly BudgetSpend[]): Promise<boolean> {
    if (spends.length === 0) return true;
    const { spend, spent } = this.#sql;
    return (await sql.run(spend, spent.bind(spends))) === spends.length;
  }

  /** Changes what was spent in periods that budgets still count; later periods stay as they are. */
  async correct(sql: Sql, moves: readonly BudgetMove[]): Promise<void> {
    if (moves.length === 0) return;
    const { correct, rows } = this.#sql;
    await sql.run(correct, rows.bind(moves));
  }

  /** What the batches that were accepted since then have reserved and charged. */
  async spentSince(
    { accountId, spender }: Pick<BudgetKey, 'accountId' | 'spender'>,
    since: number,
    sql: Sql,
  ): Promise<bigint> {
    const ofSpender = spender === '' ? '' : ' AND spender = ?';
    const [row] = await sql.all<{ spent: string }>(
      `SELECT ${text('COALESCE(SUM(reserved + charged), 0)')} AS spent FROM gateway_billing_batch
        WHERE account_id = ? AND accepted_at >= ?${ofSpender}`,
      [accountId, since, ...(spender === '' ? [] : [spender])],
    );
    return BigInt(row?.spent ?? 0);
  }

  /** Replaces the budget of the key. */
  async put(sql: Sql, budget: Budget): Promise<void> {
    const { accountId, spender, period, limit, startsAt, spent } = budget;
    await this.#delete(sql, budget);
    await sql.run(
      `INSERT INTO gateway_billing_budget (account_id, spender, period, most, starts_at, spent)
        VALUES (?, ?, ?, ${limit}, ?, ${spent})`,
      [accountId, spender, period, startsAt],
    );
    await this.#count(sql, accountId);
  }

  /** @returns whether there was one */
  async remove(sql: Sql, key: BudgetKey): Promise<boolean> {
    const removed = await this.#delete(sql, key);
    await this.#count(sql, key.accountId);
    return removed > 0;
  }

  #delete(sql: Sql, { accountId, spender, period }: BudgetKey): Promise<number> {
    return sql.run(
      'DELETE FROM gateway_billing_budget WHERE account_id = ? AND spender = ? AND period = ?',
      [accountId, spender, period],
    );
  }

  async #count(sql: Sql, accountId: string): Promise<void> {
    await sql.run(
      `UPDATE gateway_billing_account SET budgets =
          (SELECT COUNT(*) FROM gateway_billing_budget WHERE account_id = ?)
        WHERE account_id = ?`,
      [accountId, accountId],
    );
  }
}

function budgetOf({ limit, spent, startsAt, ...key }: Row): Budget {
  return { ...key, limit: BigInt(limit), spent: BigInt(spent), startsAt: Number(startsAt) };
}

function statementsFor({ dialect }: QueueDatabase) {
  const ids = dialect.rows<string>({ v_id: ['key', (id) => id] });
  const rows = dialect.rows<BudgetMove>({
    v_account: ['key', ({ accountId }) => accountId],
    v_spender: ['key', ({ spender }) => spender],
    v_period: ['key', ({ period }) => period],
    v_starts_at: ['bigint', ({ startsAt }) => startsAt],
    v_amount: ['bigint', ({ amount }) => amount.toString()],
  });
  const spent = dialect.rows<BudgetSpend>({
    v_account: ['key', ({ before }) => before.accountId],
    v_spender: ['key', ({ before }) => before.spender],
    v_period: ['key', ({ before }) => before.period],
    v_before: ['bigint', ({ before }) => before.spent.toString()],
    v_began_at: ['bigint', ({ before }) => before.startsAt],
    v_starts_at: ['bigint', ({ startsAt }) => startsAt],
    v_spent: ['bigint', (one) => one.spent.toString()],
  });
  const key = `gateway_billing_budget.account_id = v_account
    AND gateway_billing_budget.spender = v_spender AND gateway_billing_budget.period = v_period`;
  return {
    ids,
    rows,
    spent,
    ofAccounts: `SELECT ${COLUMNS} FROM ${ids.keyed} ${dialect.join} gateway_billing_budget b
      ${dialect.forceIndex('PRIMARY')} ON b.account_id = v_id
      ORDER BY b.account_id, b.spender, b.period ${dialect.forUpdate('b')}`,
    spend: dialect.updateFrom({
      table: 'gateway_billing_budget',
      rows: spent,
      set: 'spent = v_spent, starts_at = v_starts_at',
      where: `${key} AND gateway_billing_budget.spent = v_before
        AND gateway_billing_budget.starts_at = v_began_at AND v_spent <= most`,
    }),
    correct: dialect.updateFrom({
      table: 'gateway_billing_budget',
      rows,
      set: 'spent = spent + v_amount',
      where: `${key} AND gateway_billing_budget.starts_at = v_starts_at`,
    }),
  };
}
