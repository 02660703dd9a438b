import { setImmediate as turn } from 'node:timers/promises';
import { type QueueDatabase, type Sql, WorkQueues } from '@dundun/messaging/queue';
import { Injectable } from '@nestjs/common';
import { type Budget, BudgetStore } from '../budgets/budget.store.js';
import { amountText } from '../money.js';
import type { EntryKind } from './ledger.tables.js';

/** What a recomputation finds otherwise than it is stored. */
export interface Difference {
  readonly account: string;
  /** Such as `balance`. */
  readonly what: string;
  readonly stored: string;
  readonly computed: string;
}

/** Most rows of a statement: a few milliseconds, for which SQLite keeps the event loop. */
const PAGE = 1_000;

/** Rows after which the next accounts are read at another moment. */
const MOMENT = 20_000;

/** Most differences of a kind that are named. */
const MOST = 100;

/** Differences by their kind, in the order of the answer. */
interface Found {
  readonly sums: readonly Difference[];
  readonly lines: readonly Difference[];
  readonly withoutAccount: readonly Difference[];
  readonly budgets: readonly Difference[];
}

const NOTHING: Found = { sums: [], lines: [], withoutAccount: [], budgets: [] };

/** Amounts are millionths. */
interface EntrySums {
  readonly number: number;
  readonly last: bigint;
  readonly total: bigint;
  /** Charges less refunds. */
  readonly charged: bigint;
  /** Entries whose balance is not that of the entry before and their amount. */
  readonly lines: readonly Difference[];
}

interface BatchSums {
  readonly number: number;
  readonly reserved: bigint;
  readonly charged: bigint;
  /** In the order of the budgets. */
  readonly spent: readonly bigint[];
}

type Reader = Pick<Sql, 'all'>;

/** A 64-bit integer in a row of any driver: a JavaScript number would round it. */
const text = (column: string) => `CONCAT(${column}, '')`;

/** Compares accounts and budgets with their entries and with what their batches have. */
@Injectable()
export class LedgerAudit {
  readonly #database: QueueDatabase;

  constructor(
    { database }: WorkQueues,
    private readonly budgets: BudgetStore,
  ) {
    this.#database = database;
  }

  /**
   * Account by account, each at one moment, in statements of at most some thousand rows with a turn for
   * other work after each. Charges of that time commit beside it. Empty: all agree.
   */
  async differences(): Promise<readonly Difference[]> {
    let found = NOTHING;
    for (let after: string | undefined = ''; after !== undefined;) {
      const from: string = after;
      const some = await this.#database.snapshot((sql) => this.#some(sql, from));
      found = joined(found, some.found);
      after = some.last;
    }
    return [...found.sums, ...found.lines, ...found.withoutAccount, ...found.budgets];
  }

  /** @returns `last`: the last account that is compared; `undefined`: there is none after it */
  async #some(sql: Reader, after: string): Promise<{ last: string | undefined; found: Found }> {
    let found = NOTHING;
    let last = after;
    for (let rows = 0; rows < MOMENT;) {
      const account = await this.#next(sql, last);
      if (account === undefined) return { last: undefined, found };
      const compared = await this.#compare(sql, account);
      found = joined(found, compared.found);
      rows += compared.rows;
      last = account;
    }
    return { last, found };
  }

  /** The next account with money, or with entries. */
  async #next(sql: Reader, after: string): Promise<string | undefined> {
    const [row] = await sql.all<{ account: string | null }>(
      `SELECT MIN(x.account) AS account FROM (
        SELECT MIN(a.account_id) AS account FROM gateway_billing_account a WHERE a.account_id > ?
        UNION ALL
        SELECT MIN(e.account_id) AS account FROM gateway_billing_entry e WHERE e.account_id > ?) x`,
      [after, after],
    );
    return row?.account ?? undefined;
  }

  async #compare(sql: Reader, account: string): Promise<{ found: Found; rows: number }> {
    const [row] = await sql.all<Record<'balance' | 'reserved' | 'entries', string>>(
      `SELECT ${text('a.balance')} AS balance, ${text('a.reserved')} AS reserved,
        ${text('a.entries')} AS entries FROM gateway_billing_account a WHERE a.account_id = ?`,
      [account],
    );
    const entries = await this.#entries(sql, account);
    const { lines, number } = entries;
    if (!row) {
      const none = { what: 'account', stored: 'none', computed: `${number} entries` };
      const found = { ...NOTHING, lines, withoutAccount: [{ account, ...none }] };
      return { found, rows: number + 1 };
    }
    const budgets = await this.budgets.list(account, sql);
    const batches = await this.#batches(sql, account, budgets);
    const compared = [
      ['balance', shown(row.balance), amountText(entries.total)],
      ['entries', row.entries, String(number)],
      ['number of the last entry', row.entries, String(entries.last)],
      ['reserved', shown(row.reserved), amountText(batches.reserved)],
      ['charges', amountText(entries.charged), amountText(batches.charged)],
    ] as const;
    const ofBudgets = budgets.map(({ spender, period, spent }, at) => {
      const what = `spent of the budget of ${spender || 'the account'} for the ${period}`;
      return [what, amountText(spent), amountText(batches.spent[at] ?? 0n)] as const;
    });
    const differing = (all: readonly (readonly [string, string, string])[]) =>
      all.flatMap(([what, stored, computed]) =>
        stored === computed ? [] : { account, what, stored, computed },
      );
    const found = { ...NOTHING, sums: differing(compared), lines, budgets: differing(ofBudgets) };
    return { found, rows: number + batches.number + 1 };
  }

  async #entries(sql: Reader, account: string): Promise<EntrySums> {
    let [number, last, total, charged, before] = [0, 0n, 0n, 0n, 0n];
    const lines: Difference[] = [];
    for (let size = PAGE; size === PAGE;) {
      const page = await sql.all<
        Record<'sequence' | 'amount' | 'balanceAfter', string> & { readonly kind: EntryKind }
      >(
        `SELECT ${text('e.sequence')} AS sequence, e.kind, ${text('e.amount')} AS amount,
            ${text('e.balance_after')} AS "balanceAfter"
          FROM gateway_billing_entry e WHERE e.account_id = ? AND e.sequence > ?
          ORDER BY e.sequence LIMIT ?`,
        [account, last, PAGE],
      );
      for (const entry of page) {
        const amount = BigInt(entry.amount);
        const after = BigInt(entry.balanceAfter);
        if (before + amount !== after && lines.length < MOST)
          lines.push({
            account,
            what: `balance_after of entry ${entry.sequence}`,
            stored: amountText(after),
            computed: amountText(before + amount),
          });
        if (entry.kind === 'charge' || entry.kind === 'refund') charged -= amount;
        total += amount;
        before = after;
        last = BigInt(entry.sequence);
      }
      number += size = page.length;
      await turn();
    }
    return { number, last, total, charged, lines };
  }

  async #batches(sql: Reader, account: string, budgets: readonly Budget[]): Promise<BatchSums> {
    const index = this.#database.dialect.forceIndex('gateway_billing_batch_account');
    const spent = budgets.map(() => 0n);
    let [number, reserved, charged, at, after] = [0, 0n, 0n, 0, ''];
    for (let size = PAGE; size === PAGE;) {
      const page = await sql.all<{
        readonly batch: string;
        readonly spender: string | null;
        readonly acceptedAt: string | number;
        readonly reserved: string;
        readonly charged: string;
      }>(
        `SELECT b.batch, b.spender, b.accepted_at AS "acceptedAt", ${text('b.reserved')} AS reserved,
            ${text('b.charged')} AS charged
          FROM gateway_billing_batch b ${index} WHERE b.account_id = ? AND b.accepted_at >= ?
            AND (b.accepted_at > ? OR b.batch > ?)
          ORDER BY b.accepted_at, b.batch LIMIT ?`,
        [account, at, at, after, PAGE],
      );
      for (const batch of page) {
        const open = BigInt(batch.reserved);
        const paid = BigInt(batch.charged);
        reserved += open;
        charged += paid;
        at = Number(batch.acceptedAt);
        after = batch.batch;
        for (const [n, { spender, startsAt }] of budgets.entries())
          if (at >= startsAt && (spender === '' || spender === batch.spender))
            spent[n] = (spent[n] ?? 0n) + open + paid;
      }
      number += size = page.length;
      await turn();
    }
    return { number, reserved, charged, spent };
  }
}

function joined(a: Found, b: Found): Found {
  const both = (kind: keyof Found) => [...a[kind], ...b[kind]].slice(0, MOST);
  return {
    sums: both('sums'),
    lines: both('lines'),
    withoutAccount: both('withoutAccount'),
    budgets: both('budgets'),
  };
}

function shown(amount: string): string {
  return amountText(BigInt(amount));
}
