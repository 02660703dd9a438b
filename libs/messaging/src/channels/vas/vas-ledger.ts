import type { ChannelRegistry } from '../../message/channel-registry.js';
import type { VasProduct } from '../../message/vas.js';
import {
  type Columns,
  inserter,
  type RowSource,
  type RowWriter,
} from '../../store/database/dialect.js';
import type { Sql, StoreDatabase } from '../../store/database/store-database.js';
import { BATCH_STATE } from '../../store/rows/batch-state.js';

type Big = string | number;

/** Times in epoch milliseconds, amounts in ten-thousandths. */
export interface NewOrder {
  readonly id: string;
  readonly tenant: string;
  readonly reference: string;
  readonly fingerprint: string;
  readonly number: string;
  readonly product: string;
  readonly type: VasProduct['type'];
  readonly amount: bigint;
  readonly currency: string;
  readonly network: string | null;
  readonly createdAt: number;
}

export interface KnownOrder {
  readonly id: string;
  readonly fingerprint: string;
  readonly createdAt: Date;
}

export type RecentOrder = Pick<
  NewOrder,
  'number' | 'product' | 'amount' | 'currency' | 'createdAt'
>;

/** Caps in ten-thousandths. */
export interface StoredAllowance {
  readonly currency: string;
  readonly daily: bigint;
  readonly perNumber: bigint;
  /** The sum of the last day's orders or more; `null`: not known. */
  readonly tally: bigint | null;
}

const STATUS_JOINS = `LEFT JOIN messaging_batch b ON b.id = o.batch
  LEFT JOIN messaging_message m ON m.batch = o.batch AND m.position = 0`;

interface OrderToTell extends NewOrder {
  readonly tellAt: number;
}

const NEW_ORDER: Columns<OrderToTell> = {
  v_batch: ['uuid', ({ id }) => id],
  v_tenant: ['key', ({ tenant }) => tenant],
  v_reference: ['key', ({ reference }) => reference],
  v_fingerprint: ['key', ({ fingerprint }) => fingerprint],
  v_number: ['key', ({ number }) => number],
  v_product: ['key', ({ product }) => product],
  v_type: ['key', ({ type }) => type],
  v_amount: ['bigint', ({ amount }) => amount.toString()],
  v_currency: ['key', ({ currency }) => currency],
  v_network: ['key', ({ network }) => network],
  v_created_at: ['bigint', ({ createdAt }) => createdAt * 1_000],
  v_tell_at: ['bigint', ({ tellAt }) => tellAt * 1_000],
};

/** Statements on allowances, and on what was ordered under them. */
export class VasLedger {
  readonly #references: RowSource;
  readonly #numbers: RowSource;
  readonly #insert: RowWriter<OrderToTell>;
  /** SQL: the order may have cost something, or may yet. */
  readonly #counts: string;

  constructor(
    private readonly database: StoreDatabase,
    channels: ChannelRegistry,
  ) {
    const { dialect } = database;
    this.#references = dialect.rows({ v_reference: 'key' });
    this.#numbers = dialect.rows({ v_number: 'key' });
    this.#insert = inserter(
      dialect,
      `INSERT INTO messaging_vas_order (batch, tenant, reference, fingerprint, number_digest,
         product, type, amount, currency, network, created_at, tell_at)`,
      NEW_ORDER,
    );
    const failed = channels.statusesOf('vas').filter(([, { failed: none }]) => none);
    const ranks = failed.map(([, { rank }]) => rank);
    this.#counts = `(m.status IS NULL OR m.status NOT IN (${ranks.join(', ')}))
      AND b.state <> ${BATCH_STATE.cancelled}`;
  }

  async allow(
    sql: Sql,
    tenant: string,
    allowance: Omit<StoredAllowance, 'tally'>,
    at: number,
  ): Promise<void> {
    const { currency, daily, perNumber } = allowance;
    const values = [currency, daily.toString(), perNumber.toString(), at * 1_000, tenant];
    // Not replaced by another row: orders that wait for its lock would find none.
    const changed = await sql.run(
      `UPDATE messaging_vas_allowance SET currency = ?, daily = ?, per_number = ?, allowed_at = ?,
         tally = NULL WHERE tenant = ?`,
      values,
    );
    if (changed > 0) return;
    await sql.run(
      `INSERT INTO messaging_vas_allowance (currency, daily, per_number, allowed_at, tenant)
       VALUES (?, ?, ?, ?, ?)`,
      values,
    );
  }

  async forbid(sql: Sql, tenant: string): Promise<boolean> {
    return (await sql.run('DELETE FROM messaging_vas_allowance WHERE tenant = ?', [tenant])) > 0;
  }

  /** With `lock`, orders of the tenant wait for one another. */
  async allowance(
    sql: Pick<Sql, 'all'>,
    tenant: string,
    lock = false,
  ): Promise<StoredAllowance | undefined> {
    const [row] = await sql.all<{
      currency: string;
      daily: Big;
      perNumber: Big;
      tally: Big | null;
    }>(
      `SELECT a.currency, a.daily, a.per_number AS "perNumber", a.tally FROM messaging_vas_allowance a
       WHERE a.tenant = ? ${lock ? this.database.dialect.forUpdate('a') : ''}`,
      [tenant],
    );
    if (!row) return undefined;
    const { currency, daily, perNumber, tally } = row;
    return {
      currency,
      daily: BigInt(daily),
      perNumber: BigInt(perNumber),
      tally: tally === null ? null : BigInt(tally),
    };
  }

  async setTally(sql: Sql, tenant: string, tally: bigint): Promise<void> {
    const values = [tally.toString(), tenant];
    await sql.run('UPDATE messaging_vas_allowance SET tally = ? WHERE tenant = ?', values);
  }

  async find(
    sql: Pick<Sql, 'all'>,
    tenant: string,
    reference: string,
  ): Promise<KnownOrder | undefined> {
    const [row] = await sql.all<{ id: string; fingerprint: string; createdAt: Big }>(
      `SELECT o.batch AS id, o.fingerprint, o.created_at AS "createdAt"
       FROM messaging_vas_order o
       WHERE o.reference = ? AND ${this.database.dialect.residual('o.tenant = ?')}`,
      [reference, tenant],
    );
    return row && { ...row, createdAt: dateOf(row.createdAt) };
  }

  /** By reference. PostgreSQL would read all orders of the tenant until it has statistics. */
  async findAll(
    sql: Pick<Sql, 'all'>,
    tenant: string,
    references: readonly string[],
  ): Promise<Map<string, KnownOrder>> {
    const source = this.#references;
    const { dialect } = this.database;
    const rows = await sql.all<{
      reference: string;
      id: string;
      fingerprint: string;
      createdAt: Big;
    }>(
      `SELECT o.reference, o.batch AS id, o.fingerprint, o.created_at AS "createdAt"
       FROM ${source.keyed} ${dialect.join} messaging_vas_order o
         ${dialect.forceIndex('messaging_vas_order_reference')} ON o.reference = v_reference
       WHERE ${dialect.residual('o.tenant = ?')}`,
      [...source.bind(references.map((one) => [one])), tenant],
    );
    return new Map(
      rows.map(({ reference, createdAt, ...row }) => [
        reference,
        { ...row, createdAt: dateOf(createdAt) },
      ]),
    );
  }

  /** Orders of some numbers, by their digests, since a time, without those that failed. */
  async recent(
    sql: Pick<Sql, 'all'>,
    tenant: string,
    numbers: readonly string[],
    since: number,
  ): Promise<RecentOrder[]> {
    const source = this.#numbers;
    const { dialect } = this.database;
    const rows = await sql.all<{
      number: string;
      product: string;
      amount: Big;
      currency: string;
      createdAt: Big;
    }>(
      `SELECT o.number_digest AS number, o.product, o.amount, o.currency, o.created_at AS "createdAt"
       FROM ${source.keyed} ${dialect.join} messaging_vas_order o
         ${dialect.forceIndex('messaging_vas_order_number')}
         ON o.number_digest = v_number
       ${STATUS_JOINS} WHERE ${dialect.residual('o.tenant = ? AND o.created_at > ?')} AND ${this.#counts}`,
      [...source.bind([...new Set(numbers)].map((one) => [one])), tenant, since * 1_000],
    );
    return rows.map(({ amount, createdAt, ...row }) => ({
      ...row,
      amount: BigInt(amount),
      createdAt: Number(createdAt) / 1_000,
    }));
  }

  /** The sum of the tenant's orders since a time. */
  async spent(
    sql: Pick<Sql, 'all'>,
    tenant: string,
    currency: string,
    since: number,
    which: 'all' | 'not failed',
  ): Promise<bigint> {
    const [row] = await sql.all<{ amount: Big | null }>(
      `SELECT sum(o.amount) AS amount FROM messaging_vas_order o
       ${which === 'all' ? '' : STATUS_JOINS}
       WHERE o.tenant = ? AND o.created_at > ? AND o.currency = ?
         ${which === 'all' ? '' : `AND ${this.#counts}`}`,
      [tenant, since * 1_000, currency],
    );
    return BigInt(row?.amount ?? 0);
  }

  /** @param tellAfter milliseconds after which the app gets the event of an order without an outcome */
  async insert(sql: Sql, orders: readonly NewOrder[], tellAfter: number): Promise<void> {
    await this.#insert(
      sql,
      orders.map((order) => ({ ...order, tellAt: order.createdAt + tellAfter })),
    );
  }
}

function dateOf(micros: Big): Date {
  return new Date(Math.floor(Number(micros) / 1_000));
}
