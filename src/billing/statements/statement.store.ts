import { type QueueDatabase, type Sql, WorkQueues } from '@dundun/messaging/queue';
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

type Dated = MonthTotal & { readonly month: string };

/** Statements over what the messages of a month cost. */
@Injectable()
export class StatementStore {
  readonly #sql: ReturnType<typeof statementsFor>;

  constructor({ database }: WorkQueues) {
    this.#sql = statementsFor(database);
  }

  /** Adds to the totals of the month; the rows of the accounts are locked. */
  async add(sql: Sql, totals: readonly MonthTotal[], at: number): Promise<void> {
    if (totals.length === 0) return;
    const { add, rows } = this.#sql;
    const month = monthOf(at);
    await sql.run(add, rows.bind(totals.map((total) => ({ ...total, month }))));
  }

  /** Sums of the entries until the end, apart by whether they were made before the start. */
  async kinds(sql: Sql, accountId: string, [start, end]: readonly [number, number]) {
    const rows = await sql.all<
      Record<'count' | 'amount', string> & { kind: EntryKind; isBefore: number | string }
    >(
      `SELECT kind, is_before AS "isBefore", ${text('COUNT(*)')} AS "count",
          ${text('SUM(amount)')} AS amount FROM (
          SELECT kind, amount, CASE WHEN created_at < ? THEN 1 ELSE 0 END AS is_before
          FROM gateway_billing_entry WHERE account_id = ? AND created_at < ?) e
        GROUP BY kind, is_before`,
      [start, accountId, end],
    );
    return rows.map(({ kind, isBefore, count, amount }): KindSum => ({
      kind,
      isBefore: Number(isBefore) === 1,
      count: Number(count),
      amount: BigInt(amount),
    }));
  }

  /** By channel and country, then by credential. */
  async month(sql: Sql, accountId: string, month: string): Promise<MonthRow[]> {
    const rows = await sql.all<
      Record<'messages' | 'parts' | 'amount' | 'channel' | 'country' | 'spender', string>
    >(
      `SELECT channel, country, spender, ${text('messages')} AS messages, ${text('parts')} AS parts,
          ${text('amount')} AS amount
        FROM gateway_billing_month WHERE account_id = ? AND month = ?
        ORDER BY channel, country, spender`,
      [accountId, month],
    );
    return rows.map(({ messages, parts, amount, ...row }) => ({
      ...row,
      messages: Number(messages),
      parts: Number(parts),
      amount: BigInt(amount),
    }));
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
