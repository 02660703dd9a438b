import { type QueueDatabase, type Sql, WorkQueues } from '@dundun/messaging/queue';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { ChargeAt, Unsettled } from '../charging/charge-state.js';
import { LARGEST } from '../money.js';
import type { BillingMode, EntryKind } from './ledger.tables.js';

/** Amounts are millionths. */
export interface AccountMoney {
  readonly accountId: string;
  readonly mode: BillingMode;
  readonly currency: string;
  readonly card: string | null;
  readonly balance: bigint;
  readonly reserved: bigint;
  readonly creditLimit: bigint;
  readonly chargeAt: ChargeAt;
  readonly unsettled: Unsettled;
  /** Number of its entries. */
  readonly entries: bigint;
}

export interface LowestBalances {
  readonly accounts: number;
  readonly empty: number;
  readonly lowest: readonly {
    readonly accountId: string;
    readonly name: string;
    readonly currency: string;
    /** Millionths. */
    readonly available: bigint;
  }[];
}

export interface NewEntry {
  readonly accountId: string;
  readonly kind: EntryKind;
  readonly amount: bigint;
  readonly reference: string;
  readonly note: string | null;
  readonly userId: string | null;
  /** Epoch milliseconds. */
  readonly at: number;
}

export interface Entry extends Omit<NewEntry, 'at'> {
  /** From 1 on, in the account. */
  readonly sequence: bigint;
  readonly balanceAfter: bigint;
  readonly createdAt: Date;
}

/** More than the clocks of processes differ, whose entries follow each other; milliseconds. */
const SLACK = 600_000;

/** Entries before the time of a sum that may be read without need. */
const FEW = 1_000n;

/** A 64-bit integer in a row of any driver: a JavaScript number would round it. */
const text = (column: string) => `CONCAT(${column}, '')`;

const ACCOUNT = `SELECT account_id AS "accountId", mode, currency, card, charge_at AS "chargeAt", unsettled,
    ${text('balance')} AS balance, ${text('reserved')} AS reserved,
    ${text('credit_limit')} AS "creditLimit", ${text('entries')} AS entries
  FROM gateway_billing_account`;

const ENTRY = `SELECT account_id AS "accountId", ${text('sequence')} AS sequence, kind,
    ${text('amount')} AS amount, ${text('balance_after')} AS "balanceAfter", reference, note,
    user_id AS "userId", created_at AS "createdAt"
  FROM gateway_billing_entry`;

/** A row with its 64-bit integers as text. */
type Written<T> = {
  readonly [K in keyof T]: T[K] extends bigint
    ? string
    : T[K] extends Date
      ? string | number
      : T[K];
};

/** Statements over the ledger; each takes many accounts, or one by its key. */
@Injectable()
export class LedgerStore {
  readonly #database: QueueDatabase;
  readonly #entries;
  readonly #move: string;

  constructor({ database }: WorkQueues) {
    this.#database = database;
    this.#entries = database.dialect.rows<NewEntry>({
      v_account: ['key', ({ accountId }) => accountId],
      v_kind: ['key', ({ kind }) => kind],
      v_amount: ['bigint', ({ amount }) => amount.toString()],
      v_reference: ['key', ({ reference }) => reference],
      v_note: ['text', ({ note }) => note],
      v_user: ['key', ({ userId }) => userId],
      v_at: ['bigint', ({ at }) => at],
    });
    this.#move = database.dialect.updateFrom({
      table: 'gateway_billing_account',
      rows: this.#entries,
      set: 'balance = balance + v_amount, entries = entries + 1',
      where: `gateway_billing_account.account_id = v_account
        AND balance + v_amount - reserved + credit_limit >= 0
        AND balance + v_amount <= ${LARGEST}`,
    });
  }

  join(manager: EntityManager): Sql {
    return this.#database.join(manager);
  }

  async account(accountId: string, sql: Sql | QueueDatabase = this.#database) {
    const [row] = await sql.all<Written<AccountMoney>>(`${ACCOUNT} WHERE account_id = ?`, [
      accountId,
    ]);
    return row && moneyOf(row);
  }

  /** Accounts that pay: their number, those that may not spend anything, and those that may spend least. */
  async lowest(most: number): Promise<LowestBalances> {
    const available = 'a.balance - a.reserved + a.credit_limit';
    const [counts] = await this.#database.all<Record<'accounts' | 'empty', string | number>>(
      `SELECT COUNT(*) AS accounts, COUNT(CASE WHEN ${available} <= 0 THEN 1 END) AS empty
        FROM gateway_billing_account a WHERE a.mode <> 'off'`,
    );
    const rows = await this.#database.all<Written<LowestBalances['lowest'][number]>>(
      `SELECT a.account_id AS "accountId", g.name, a.currency, ${text(available)} AS available
        FROM gateway_billing_account a JOIN gateway_account g ON g.id = a.account_id
        WHERE a.mode <> 'off' ORDER BY ${available}, a.account_id LIMIT ?`,
      [most],
    );
    return {
      accounts: Number(counts?.accounts ?? 0),
      empty: Number(counts?.empty ?? 0),
      lowest: rows.map((row) => ({ ...row, available: BigInt(row.available) })),
    };
  }

  async entry(
    { accountId, kind, reference }: Pick<Entry, 'accountId' | 'kind' | 'reference'>,
    sql: Sql,
  ): Promise<Entry | undefined> {
    const [row] = await sql.all<Written<Entry>>(
      `${ENTRY} WHERE account_id = ? AND kind = ? AND reference = ?`,
      [accountId, kind, reference],
    );
    return row && entryOf(row);
  }

  /**
   * Newest first: by the column, not by the text of its name in the rows.
   * @param before number of the last entry of the page before
   */
  async page(accountId: string, limit: number, before?: bigint): Promise<Entry[]> {
    const rows = await this.#database.all<Written<Entry>>(
      `${ENTRY} WHERE account_id = ?${before === undefined ? '' : ' AND sequence < ?'}
        ORDER BY gateway_billing_entry.account_id DESC, gateway_billing_entry.sequence DESC LIMIT ?`,
      [accountId, ...(before === undefined ? [] : [before]), limit],
    );
    return rows.map(entryOf);
  }

  /** Charges less refunds since a time, in epoch milliseconds; it reads few entries from before. */
  async spentSince(accountId: string, since: number): Promise<bigint> {
    const account = await this.account(accountId);
    if (!account) return 0n;
    const [row] = await this.#database.all<{ spent: string }>(
      `SELECT ${text('COALESCE(-SUM(amount), 0)')} AS spent FROM gateway_billing_entry
        WHERE account_id = ? AND sequence > ? AND created_at >= ? AND kind IN ('charge', 'refund')`,
      [accountId, await this.#lastBefore(account, since - SLACK), since],
    );
    return BigInt(row?.spent ?? 0);
  }

  /** Number of an entry from before the time, and of all but a few of them: their times rise with their numbers. */
  async #lastBefore({ accountId, entries }: AccountMoney, time: number): Promise<bigint> {
    let [before, after] = [0n, entries + 1n];
    while (after - before > FEW) {
      const middle = (before + after) / 2n;
      const [entry] = await this.#database.all<{ createdAt: string | number }>(
        `SELECT created_at AS "createdAt" FROM gateway_billing_entry
          WHERE account_id = ? AND sequence = ?`,
        [accountId, middle],
      );
      if (Number(entry?.createdAt) < time) before = middle;
      else after = middle;
    }
    return before;
  }

  /**
   * Adds entries and changes the balances of their accounts, in two statements.
   * @param entries at most one of an account, in the order of the accounts' ids: every process locks
   * them in this order
   * @returns `false`, and then the transaction must not commit: an account has too little, or too much
   */
  async post(sql: Sql, entries: readonly NewEntry[]): Promise<boolean> {
    const bound = this.#entries.bind(entries);
    if ((await sql.run(this.#move, bound)) < entries.length) return false;
    await sql.run(
      `INSERT INTO gateway_billing_entry (account_id, sequence, kind, amount, balance_after,
          reference, note, user_id, created_at)
        SELECT a.account_id, a.entries, v_kind, v_amount, a.balance,
          v_reference, v_note, v_user, v_at
        FROM ${this.#entries.sql} JOIN gateway_billing_account a ON a.account_id = v_account`,
      bound,
    );
    return true;
  }
}

function moneyOf(row: Written<AccountMoney>): AccountMoney {
  return {
    ...row,
    balance: BigInt(row.balance),
    reserved: BigInt(row.reserved),
    creditLimit: BigInt(row.creditLimit),
    entries: BigInt(row.entries),
  };
}

function entryOf(row: Written<Entry>): Entry {
  return {
    ...row,
    sequence: BigInt(row.sequence),
    amount: BigInt(row.amount),
    balanceAfter: BigInt(row.balanceAfter),
    createdAt: new Date(Number(row.createdAt)),
  };
}
