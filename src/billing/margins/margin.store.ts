import { type QueueDatabase, type Sql, WorkQueues } from '@dundun/messaging/queue';
import { Injectable } from '@nestjs/common';
import type { ChargedBatch } from '../charging/charge.store.js';
import type { Margin } from './margin-sums.js';

/** A batch whose messages have prices. */
export type PricedBatch = Pick<
  ChargedBatch,
  | 'batch'
  | 'accountId'
  | 'channel'
  | 'chargeAt'
  | 'units'
  | 'messages'
  | 'rates'
  | 'currency'
  | 'charged'
  | 'acceptedAt'
>;

/** Batches by their ids, and by the time of their acceptance in epoch milliseconds. */
export interface BatchRange {
  /** The last one of the page before. */
  readonly after: string;
  readonly until: string;
  readonly bounds: readonly [start: number, end: number];
}

/** A 64-bit integer in a row of any driver: a JavaScript number would round it. */
const text = (column: string) => `CONCAT(${column}, '')`;

/** Statements over what messages bring and cost. */
@Injectable()
export class MarginStore {
  readonly #database: QueueDatabase;
  readonly #sql: ReturnType<typeof statementsFor>;

  constructor({ database }: WorkQueues) {
    this.#database = database;
    this.#sql = statementsFor(database);
  }

  /** Adds to the sums of ended batches. */
  async add(sql: Sql, margins: readonly Margin[]): Promise<void> {
    if (margins.length === 0) return;
    const { add, rows } = this.#sql;
    await sql.run(add, rows.bind(margins));
  }

  /** The sums of ended batches of a month. */
  async ended(month: string): Promise<readonly Margin[]> {
    const rows = await this.#database.all<Record<keyof Margin, string>>(
      `SELECT month, account_id AS "accountId", channel, carrier, country, currency,
          cost_currency AS "costCurrency", ${text('messages')} AS messages,
          ${text('parts')} AS parts, ${text('price')} AS price, ${text('cost')} AS cost
        FROM gateway_billing_margin WHERE month = ?`,
      [month],
    );
    return rows.map(({ messages, parts, price, cost, ...key }) => ({
      ...key,
      messages: Number(messages),
      parts: Number(parts),
      price: BigInt(price),
      cost: BigInt(cost),
    }));
  }

  /** Batches that have not ended, by their ids. */
  async open({ after, until, bounds }: BatchRange, limit: number): Promise<readonly PricedBatch[]> {
    const rows = await this.#database.all<Record<keyof PricedBatch, string>>(
      `SELECT b.batch, b.account_id AS "accountId", b.channel, b.charge_at AS "chargeAt", b.units,
          b.messages, b.rates, b.accepted_at AS "acceptedAt", ${text('b.charged')} AS charged,
          COALESCE(b.currency, a.currency) AS currency
        FROM gateway_billing_batch b
        JOIN gateway_billing_account a ON a.account_id = b.account_id
        WHERE b.closed = 0 AND b.batch > ? AND b.batch <= ?
          AND b.accepted_at >= ? AND b.accepted_at < ?
        ORDER BY b.batch LIMIT ?`,
      [after, until, ...bounds, limit],
    );
    return rows.map(({ chargeAt, units, messages, charged, acceptedAt, ...row }) => ({
      ...row,
      chargeAt: chargeAt as PricedBatch['chargeAt'],
      units: Number(units),
      messages: Number(messages),
      charged: BigInt(charged),
      acceptedAt: Number(acceptedAt),
    }));
  }

  async names(accounts: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (accounts.length === 0) return new Map();
    const { names, ids } = this.#sql;
    const rows = await this.#database.all<{ id: string; name: string }>(names, ids.bind(accounts));
    return new Map(rows.map(({ id, name }) => [id, name]));
  }
}

function statementsFor({ dialect }: QueueDatabase) {
  const ids = dialect.rows<string>({ v_id: ['key', (id) => id] });
  const rows = dialect.rows<Margin>({
    v_month: ['key', ({ month }) => month],
    v_account: ['key', ({ accountId }) => accountId],
    v_channel: ['key', ({ channel }) => channel],
    v_carrier: ['key', ({ carrier }) => carrier],
    v_country: ['key', ({ country }) => country],
    v_currency: ['key', ({ currency }) => currency],
    v_cost_currency: ['key', ({ costCurrency }) => costCurrency],
    v_messages: ['bigint', ({ messages }) => messages],
    v_parts: ['bigint', ({ parts }) => parts],
    v_price: ['bigint', ({ price }) => price.toString()],
    v_cost: ['bigint', ({ cost }) => cost.toString()],
  });
  const key = 'month, account_id, channel, carrier, country, currency, cost_currency';
  const sums = ['messages', 'parts', 'price', 'cost'];
  return {
    ids,
    rows,
    add: `INSERT INTO gateway_billing_margin (${key}, ${sums.join(', ')})
      SELECT ${rows.names.join(', ')} FROM ${rows.sql} WHERE 1 = 1
      ${dialect.onConflict(
        key,
        sums.map((name) => `${name} = gateway_billing_margin.${name} + new.${name}`).join(', '),
      )}`,
    names: `SELECT a.id, a.name FROM ${ids.keyed}
      ${dialect.join} gateway_account a ${dialect.forceIndex('PRIMARY')} ON a.id = v_id`,
  };
}
