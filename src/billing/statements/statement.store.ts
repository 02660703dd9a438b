import { type QueueDatabase, type Sql, type Statement, WorkQueues } from '@dundun/messaging/queue';
import { Injectable } from '@nestjs/common';
import type { EntryKind } from '../ledger/ledger.tables.js';
import { type MonthSum, type MonthTotal, monthOf } from './month-totals.js';

/** Entries of a kind before the month, or in it; `amount` in millionths. */
export interface KindSum {
  readonly kind: EntryKind;
  readonly isBefore: boolean;
  readonly count: number;
  readonly amount: bigint;
}

/** Totals of a month by these columns; the others are summed. */
export interface MonthRow extends MonthSum {
  readonly channel: string;
  readonly country: string;
  readonly spender: string;
}

/** A 64-bit integer in a row of any driver: a JavaScript number would round it. */
const text = (column: string) => `CONCAT(${column}, '')`;

type Found = Record<'name' | 'country' | 'spender' | 'count' | 'parts' | 'amount', string> &
  Record<'isEntry' | 'isBefore', number | string>;

type Dated = MonthTotal & { readonly month: string };

/** Statements over what the messages of a month cost. */
@Injectable()
export class StatementStore {
  readonly #database: QueueDatabase;
  readonly #sql: ReturnType<typeof statementsFor>;

  constructor({ database }: WorkQueues) {
    this.#database = database;
    this.#sql = statementsFor(database);
  }

  /** Adds to the totals of the month; the rows of the accounts are locked. */
  async add(sql: Sql, totals: readonly MonthTotal[], at: number): Promise<void> {
    if (totals.length === 0) return;
    const addition = this.addition(totals, at);
    await sql.run(addition.sql, addition.params);
  }

  /** The statement of {@link add}. */
  addition(totals: readonly MonthTotal[], at: number): Statement {
    const month = monthOf(at);
    const { add, rows } = this.#sql;
    return { sql: add, params: rows.bind(totals.map((total) => ({ ...total, month }))) };
  }

  /**
   * Sums of the entries until the end of the month, apart by whether they were made before it, and the
   * totals of the month. One statement sees both as of one time, while charges go on.
   */
  async month(
    accountId: string,
    month: string,
    [start, end]: readonly [number, number],
  ): Promise<{ readonly kinds: readonly KindSum[]; readonly rows: readonly MonthRow[] }> {
    const found = await this.#database.all<Found>(
      `SELECT 1 AS "isEntry", kind AS name, '' AS country, '' AS spender, is_before AS "isBefore",
          ${text('COUNT(*)')} AS "count", '0' AS parts, ${text('SUM(amount)')} AS amount FROM (
          SELECT kind, amount, CASE WHEN created_at < ? THEN 1 ELSE 0 END AS is_before
          FROM gateway_billing_entry WHERE account_id = ? AND created_at < ?) e
        GROUP BY kind, is_before
      UNION ALL SELECT 0, channel, country, spender, 0, ${text('messages')}, ${text('parts')},
          ${text('amount')} FROM gateway_billing_month WHERE account_id = ? AND month = ?
      ORDER BY name, country, spender`,
      [start, accountId, end, accountId, month],
    );
    const kinds: KindSum[] = [];
    const rows: MonthRow[] = [];
    for (const { name, country, spender, count, parts, ...row } of found) {
      const amount = BigInt(row.amount);
      if (Number(row.isEntry) === 1)
        kinds.push({
          kind: name as EntryKind,
          isBefore: Number(row.isBefore) === 1,
          count: Number(count),
          amount,
        });
      else
        rows.push({
          channel: name,
          country,
          spender,
          messages: Number(count),
          parts: Number(parts),
          amount,
        });
    }
    return { kinds, rows };
  }
}

function statementsFor({ dialect }: QueueDatabase) {
  const rows = dialect.rows<Dated>({
    v_account: ['key', ({ accountId }) => accountId],
    v_month: ['key', ({ month }) => month],
    v_channel: ['key', ({ channel }) => channel],
    v_country: ['key', ({ country }) => country],
    v_spender: ['key', ({ spender }) => spender ?? ''],
    v_messages: ['bigint', ({ messages }) => messages],
    v_parts: ['bigint', ({ parts }) => parts],
    v_amount: ['bigint', ({ amount }) => amount.toString()],
  });
  const sums = ['messages', 'parts', 'amount'];
  return {
    rows,
    add: `INSERT INTO gateway_billing_month
        (account_id, month, channel, country, spender, messages, parts, amount)
      SELECT ${rows.names.join(', ')} FROM ${rows.sql} WHERE 1 = 1
      ${dialect.onConflict(
        'account_id, month, channel, country, spender',
        sums.map((name) => `${name} = gateway_billing_month.${name} + new.${name}`).join(', '),
      )}`,
  };
}
