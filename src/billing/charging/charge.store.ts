import type { SpendReservation } from '@dundun/messaging/ports';
import {
  insertion,
  type QueueDatabase,
  type Sql,
  type Statement,
  updateOf,
  WorkQueues,
} from '@dundun/messaging/queue';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { BillingMode, EntryKind } from '../ledger/ledger.tables.js';
import {
  crossedSql,
  type Crossing,
  type CrossingRow,
  crossingsOf,
} from '../thresholds/threshold.store.js';
import type { ChargeAt, Unsettled } from './charge-state.js';

/** The row of an account, locked. Amounts are millionths. */
export interface PayingAccount {
  readonly accountId: string;
  readonly mode: BillingMode;
  readonly currency: string;
  /** `null`: the card `default`. */
  readonly card: string | null;
  readonly chargeAt: ChargeAt;
  readonly available: bigint;
  /** Number of its budgets. */
  readonly budgets: number;
}

export interface AcceptedBatch {
  readonly batch: string;
  readonly accountId: string;
  readonly channel: string;
  readonly chargeAt: ChargeAt;
  readonly units: number;
  readonly currency: string;
  /** Number of its messages; 0: not known. */
  readonly messages: number;
  readonly rates: string;
  readonly reserved: bigint;
  /** The credential that sent it; `null`: none. */
  readonly spender: string | null;
  /** Epoch milliseconds. */
  readonly acceptedAt: number;
}

/** A batch as it is charged now. */
export interface ChargedBatch extends AcceptedBatch {
  readonly charged: bigint;
  /** The category in which the platform bills its only message, or `free`; `null`: not reported. */
  readonly reported: string | null;
}

export interface StoredBatch extends ChargedBatch {
  /** Retention or an erasure has ended it. */
  readonly isEnded: boolean;
}

type ChargedRow = Omit<ChargedBatch, 'reserved' | 'charged'> &
  Record<'reserved' | 'charged', string>;

/** A change of what a batch has reserved and charged. */
export interface BatchMove {
  readonly batch: string;
  readonly reserved: bigint;
  readonly charged: bigint;
  /** `null`: as it was. */
  readonly reported: string | null;
}

/** A change of an account by the messages of one transaction. */
export interface AccountMove {
  readonly accountId: string;
  readonly reserved: bigint;
  /** Below zero: taken from the balance. */
  readonly amount: bigint;
  readonly reference: string;
  readonly note: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** What messages of batches move that need no read. */
export interface Charge {
  readonly batches: readonly BatchMove[];
  readonly accounts: readonly AccountMove[];
  /** Adds to the totals of the month. */
  readonly month: Statement;
}

/** What batches of an account take, under the terms by which they are priced. */
export interface AccountTake extends Pick<PayingAccount, 'accountId' | 'currency' | 'chargeAt'> {
  readonly card: string | null;
  readonly reserved: bigint;
}

/** A 64-bit integer in a row of any driver: a JavaScript number would round it. */
const text = (column: string) => `CONCAT(${column}, '')`;

/** Statements over reservations and charges; each takes many batches or accounts. */
@Injectable()
export class ChargeStore {
  readonly #database: QueueDatabase;
  readonly #sql: ReturnType<typeof statementsFor>;

  constructor({ database }: WorkQueues) {
    this.#database = database;
    this.#sql = statementsFor(database);
  }

  join(manager: EntityManager): Sql {
    return this.#database.join(manager);
  }

  /** Those of the batches that were accepted before. */
  async known(sql: Sql, batches: readonly string[]): Promise<ReadonlySet<string>> {
    const { known, ids } = this.#sql;
    const rows = await sql.all<{ batch: string }>(known, ids.bind(batches));
    return new Set(rows.map(({ batch }) => batch));
  }

  /** Locks accounts, in the order of the code units of their ids, as {@link move} does. */
  async lock(sql: Sql, accounts: readonly string[]): Promise<ReadonlyMap<string, PayingAccount>> {
    const { lock, inTurn } = this.#sql;
    // The collation of the database may order ids otherwise.
    const rows = await sql.all<Omit<PayingAccount, 'available'> & { available: string }>(
      lock,
      inTurn.bind(accounts.toSorted().map((id, n) => [id, n])),
    );
    return new Map(
      rows.map((row) => [
        row.accountId,
        { ...row, available: BigInt(row.available), budgets: Number(row.budgets) },
      ]),
    );
  }

  /** Stores accepted batches with what they reserve. */
  async accept(sql: Sql, batches: readonly AcceptedBatch[]): Promise<void> {
    if (batches.length === 0) return;
    const { add, reserve, sums } = this.#sql;
    const insert = add(batches);
    const byAccount = new Map<string, bigint>();
    for (const { accountId, reserved } of batches)
      byAccount.set(accountId, (byAccount.get(accountId) ?? 0n) + reserved);
    const accounts = inOrder(
      [...byAccount].map(([accountId, reserved]) => ({ accountId, reserved })),
    );
    await sql.run(insert.sql, insert.params);
    const changed = await sql.run(reserve, sums.bind(accounts));
    if (changed < accounts.length) throw new TypeError('a locked account has changed');
  }

  /**
   * Statements that store accepted batches, and take what they reserve. They change no row of an account
   * that has other terms now, has budgets, or has too little.
   */
  reservation(batches: readonly AcceptedBatch[], takes: readonly AccountTake[]): SpendReservation {
    const { add, take } = this.#sql;
    return { take: take(inOrder(takes)), rows: takes.length, insert: add(batches) };
  }

  /**
   * Moves what batches have reserved and charged without a read before, where they still change and no
   * report has said how they are billed. @returns whether all of them do
   */
  async moveOpen(sql: Sql, batches: readonly BatchMove[]): Promise<boolean> {
    if (batches.length === 0) return true;
    const { moveOpen } = this.#sql;
    const { sql: text, params } = moveOpen(inIdOrder(batches));
    return (await sql.run(text, params)) === batches.length;
  }

  /**
   * As {@link moveOpen}, {@link move} and the totals of the month, in two statements instead of one for
   * each table, where the server has such statements.
   * @returns balances that have passed an amount; `undefined`: not all batches fit, and they alone have moved
   */
  async charge(
    sql: Sql,
    { batches, accounts, month }: Charge,
  ): Promise<readonly Crossing[] | undefined> {
    const { account, chained } = this.#sql;
    if (!chained) throw new TypeError('the server has no such statement');
    const open = this.#sql.moveOpen(inIdOrder(batches));
    const rows = account.bind(inOrder(accounts));
    const locked = await sql.all(chained.open(open.sql), [...open.params, batches.length, ...rows]);
    if (locked.length < accounts.length) return undefined;
    // A statement of its own: it sees the thresholds as they are under the lock.
    const { sql: text, params } = month;
    return crossingsOf(await sql.all<CrossingRow>(chained.pay(text), [...rows, ...params]));
  }

  /** Whether {@link charge} is there. */
  get chains(): boolean {
    return this.#sql.chained !== undefined;
  }

  /** Batches that still change; locks them, in the order of their ids. */
  charged(sql: Sql, batches: readonly string[]): Promise<readonly ChargedBatch[]> {
    return this.#find(sql, this.#sql.charged, [...new Set(batches)].toSorted());
  }

  /** Batches that are charged, as they are. Free batches are not among them. */
  async find(
    batches: readonly string[],
    sql: Pick<Sql, 'all'> = this.#database,
  ): Promise<readonly ChargedBatch[]> {
    if (batches.length === 0) return [];
    return this.#find(sql, this.#sql.found, [...new Set(batches)]);
  }

  /** Batches by their ids, also ended ones. @param after the last one of the page before */
  async page(after: string, limit: number): Promise<readonly StoredBatch[]> {
    const rows = await this.#database.all<ChargedRow & { readonly closed: number }>(
      this.#sql.page,
      [after, limit],
    );
    return rows.map((row) => ({ ...chargedOf(row), isEnded: Number(row.closed) === 1 }));
  }

  #find(sql: Pick<Sql, 'all'>, statement: string, batches: readonly string[]) {
    return this.#read(sql, statement, this.#sql.ids.bind(batches));
  }

  async #read(sql: Pick<Sql, 'all'>, statement: string, params: readonly unknown[]) {
    return (await sql.all<ChargedRow>(statement, params)).map(chargedOf);
  }

  /** The rule of each account for reservations of messages whose end stays unknown. */
  async unsettled(sql: Sql, accounts: readonly string[]): Promise<ReadonlyMap<string, Unsettled>> {
    const { unsettled, ids } = this.#sql;
    const rows = await sql.all<{ accountId: string; unsettled: Unsettled }>(
      unsettled,
      ids.bind([...new Set(accounts)]),
    );
    return new Map(rows.map((row) => [row.accountId, row.unsettled]));
  }

  /** Moves money between reservations, charges and balances: one statement for each table. */
  async move(
    sql: Sql,
    batches: readonly BatchMove[],
    accounts: readonly AccountMove[],
  ): Promise<void> {
    const { moves, moveBatches, account, moveAccounts, insertEntries } = this.#sql;
    if (batches.length > 0) await sql.run(moveBatches, moves.bind(inIdOrder(batches)));
    if (accounts.length === 0) return;
    await this.#lockAll(sql, accounts);
    await sql.run(moveAccounts, account.bind(inOrder(accounts)));
    const paid = accounts.filter(({ amount }) => amount !== 0n);
    if (paid.length > 0) await sql.run(insertEntries, account.bind(paid));
  }

  /** The server may take the rows of one statement in another order. */
  async #lockAll(sql: Sql, accounts: readonly AccountMove[]): Promise<void> {
    if (accounts.length < 2) return;
    await this.lock(
      sql,
      accounts.map(({ accountId }) => accountId),
    );
  }

  /** No later report changes these batches. */
  async close(sql: Sql, batches: readonly string[]): Promise<void> {
    const { close, ids } = this.#sql;
    await sql.run(close, ids.bind(batches.toSorted()));
  }
}

function chargedOf(row: ChargedRow): ChargedBatch {
  return {
    ...row,
    units: Number(row.units),
    messages: Number(row.messages),
    reserved: BigInt(row.reserved),
    charged: BigInt(row.charged),
    acceptedAt: Number(row.acceptedAt),
  };
}

function kindOf(amount: bigint): EntryKind {
  return amount < 0n ? 'charge' : 'refund';
}

/** Every process locks accounts in this order. */
function inOrder<T extends { readonly accountId: string }>(accounts: readonly T[]): T[] {
  return accounts.toSorted((a, b) => (a.accountId < b.accountId ? -1 : 1));
}

function inIdOrder<T extends { readonly batch: string }>(batches: readonly T[]): T[] {
  return batches.toSorted((a, b) => (a.batch < b.batch ? -1 : 1));
}

const INTO_BATCHES = `INSERT INTO gateway_billing_batch (batch, account_id, channel, charge_at, units,
  currency, messages, rates, reserved, spender, accepted_at)`;

function statementsFor({ dialect }: QueueDatabase) {
  const ids = dialect.rows<string>({ v_id: ['key', (id) => id] });
  const inTurn = dialect.rows({ v_id: 'key', v_n: 'int' });
  const add = insertion<AcceptedBatch>(dialect, INTO_BATCHES, {
    v_batch: ['key', (one) => one.batch],
    v_account: ['key', ({ accountId }) => accountId],
    v_channel: ['key', ({ channel }) => channel],
    v_charge_at: ['key', ({ chargeAt }) => chargeAt],
    v_units: ['int', ({ units }) => units],
    v_currency: ['key', ({ currency }) => currency],
    v_messages: ['int', ({ messages }) => messages],
    v_rates: ['text', ({ rates }) => rates],
    v_reserved: ['bigint', ({ reserved }) => reserved.toString()],
    v_spender: ['key', ({ spender }) => spender],
    v_accepted_at: ['bigint', ({ acceptedAt }) => acceptedAt],
  });
  const sums = dialect.rows<{ readonly accountId: string; readonly reserved: bigint }>({
    v_account: ['key', ({ accountId }) => accountId],
    v_reserved: ['bigint', ({ reserved }) => reserved.toString()],
  });
  const moves = dialect.rows<BatchMove>({
    v_batch: ['key', (one) => one.batch],
    v_reserved: ['bigint', ({ reserved }) => reserved.toString()],
    v_charged: ['bigint', ({ charged }) => charged.toString()],
    v_reported: ['key', ({ reported }) => reported],
  });
  const account = dialect.rows<AccountMove>({
    v_account: ['key', ({ accountId }) => accountId],
    v_reserved: ['bigint', ({ reserved }) => reserved.toString()],
    v_amount: ['bigint', ({ amount }) => amount.toString()],
    v_entries: ['int', ({ amount }) => (amount === 0n ? 0 : 1)],
    v_kind: ['key', ({ amount }) => kindOf(amount)],
    v_reference: ['key', ({ reference }) => reference],
    v_note: ['key', ({ note }) => note],
    v_at: ['bigint', ({ at }) => at],
  });
  const primary = dialect.forceIndex('PRIMARY');
  const batches = `SELECT b.batch, b.account_id AS "accountId", b.channel, b.charge_at AS "chargeAt",
      b.units, b.messages, b.rates, b.reported, b.spender, b.accepted_at AS "acceptedAt",
      ${text('b.reserved')} AS reserved, ${text('b.charged')} AS charged`;
  const byId = `${ids.keyed} ${dialect.join} gateway_billing_batch b ${primary} ON b.batch = v_id`;
  const ofAccount = 'gateway_billing_account.account_id = v_account';
  const changed = `balance = balance + v_amount, reserved = reserved + v_reserved,
    entries = entries + v_entries`;
  const entry = `INSERT INTO gateway_billing_entry (account_id, sequence, kind, amount, balance_after,
      reference, note, user_id, created_at)
    SELECT a.account_id, a.entries, v_kind, v_amount, a.balance, v_reference, v_note, NULL, v_at`;
  return {
    ids,
    inTurn,
    add,
    sums,
    moves,
    account,
    known: `SELECT b.batch FROM ${ids.keyed} ${dialect.join} gateway_billing_batch b ${primary}
      ON b.batch = v_id`,
    lock: `SELECT a.account_id AS "accountId", a.mode, a.currency, a.card, a.charge_at AS "chargeAt",
        ${text('a.balance - a.reserved + a.credit_limit')} AS available, a.budgets
      FROM ${inTurn.keyed} ${dialect.join} gateway_billing_account a ${primary} ON a.account_id = v_id
      ORDER BY v_n ${dialect.forUpdate('a')}`,
    take: updateOf<AccountTake>(
      dialect,
      {
        v_account: ['key', ({ accountId }) => accountId],
        v_currency: ['key', ({ currency }) => currency],
        v_card: ['key', ({ card }) => card ?? ''],
        v_charge_at: ['key', ({ chargeAt }) => chargeAt],
        v_reserved: ['bigint', ({ reserved }) => reserved.toString()],
      },
      {
        table: 'gateway_billing_account',
        set: 'reserved = reserved + v_reserved',
        where: `${ofAccount} AND mode <> 'off' AND budgets = 0 AND currency = v_currency
          AND COALESCE(card, '') = v_card AND charge_at = v_charge_at
          AND balance - reserved - v_reserved + credit_limit >= 0`,
        lockedBy: 'account_id',
      },
    ),
    moveOpen: updateOf<BatchMove>(
      dialect,
      {
        v_batch: ['key', (one) => one.batch],
        v_reserved: ['bigint', ({ reserved }) => reserved.toString()],
        v_charged: ['bigint', ({ charged }) => charged.toString()],
      },
      {
        table: 'gateway_billing_batch',
        set: `reserved = gateway_billing_batch.reserved + v_reserved,
          charged = gateway_billing_batch.charged + v_charged`,
        where: 'gateway_billing_batch.batch = v_batch AND closed = 0 AND reported IS NULL',
      },
    ),
    reserve: dialect.updateFrom({
      table: 'gateway_billing_account',
      rows: sums,
      set: 'reserved = reserved + v_reserved',
      where: `${ofAccount} AND balance - reserved - v_reserved + credit_limit >= 0`,
    }),
    charged: `${batches}, b.currency FROM ${byId}
      WHERE b.closed = 0 ORDER BY b.batch ${dialect.forUpdate('b')}`,
    page: `${batches}, b.currency, b.closed FROM gateway_billing_batch b
      WHERE b.batch > ? ORDER BY b.batch LIMIT ?`,
    // A process of an earlier version stores batches without their currency.
    found: `${batches}, COALESCE(b.currency, a.currency) AS currency FROM ${byId}
      JOIN gateway_billing_account a ON a.account_id = b.account_id`,
    unsettled: `SELECT a.account_id AS "accountId", a.unsettled FROM ${ids.keyed}
      ${dialect.join} gateway_billing_account a ${primary} ON a.account_id = v_id`,
    moveBatches: dialect.updateFrom({
      table: 'gateway_billing_batch',
      rows: moves,
      set: `reserved = gateway_billing_batch.reserved + v_reserved,
        charged = gateway_billing_batch.charged + v_charged,
        reported = COALESCE(v_reported, gateway_billing_batch.reported)`,
      where: 'gateway_billing_batch.batch = v_batch',
    }),
    moveAccounts: dialect.updateFrom({
      table: 'gateway_billing_account',
      rows: account,
      set: changed,
      where: ofAccount,
    }),
    insertEntries: `${entry} FROM ${account.sql} JOIN gateway_billing_account a ON a.account_id = v_account`,
    chained: dialect.chains
      ? {
          open: (open: string) => `WITH opened AS (${open} RETURNING 1),
              fit AS (SELECT count(*) = ? AS is_fit FROM opened)
            SELECT a.account_id FROM fit, ${account.keyed}
            JOIN gateway_billing_account a ON a.account_id = v_account
            WHERE is_fit ORDER BY CAST(v_account AS text) COLLATE "C" ${dialect.forUpdate('a')}`,
          pay: (month: string) => `WITH a AS (${dialect.updateFrom({
            table: 'gateway_billing_account',
            rows: account,
            set: changed,
            where: ofAccount,
          })} RETURNING gateway_billing_account.*, v.*),
              entered AS (${entry} FROM a WHERE v_amount <> 0),
              added AS (${month})
            ${crossedSql('a')}`,
        }
      : undefined,
    close: dialect.updateFrom({
      table: 'gateway_billing_batch',
      rows: ids,
      set: 'closed = 1',
      where: 'gateway_billing_batch.batch = v_id',
    }),
  };
}
