import type { ChannelRegistry } from '../../message/channel-registry.js';
import type { VasProduct } from '../../message/vas.js';
import {
  type Columns,
  insertion,
  into,
  type RowSource,
  type StatementOf,
  updateOf,
} from '../../store/database/dialect.js';
import type { Sql, StoreDatabase } from '../../store/database/store-database.js';
import { BATCH_STATE } from '../../store/rows/batch-state.js';
import type { OwnRows } from '../../store/rows/new-batch.js';

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
  /** When the app gets the event of an order without an outcome. */
  readonly tellAt: number;
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
  readonly version: bigint;
}

/** Facts that decide on a tenant's new orders. */
export interface TenantLedger {
  allowance: StoredAllowance | undefined;
  /** By reference. */
  readonly known: Map<string, KnownOrder>;
  /** Those that failed are left out. */
  readonly recent: RecentOrder[];
}

/** A tenant whose allowance is as it was read. */
export interface NewTally {
  readonly tenant: string;
  readonly version: bigint;
  readonly tally: bigint;
}

const STATUS_JOINS = `LEFT JOIN messaging_batch b ON b.id = o.batch
  LEFT JOIN messaging_message m ON m.batch = o.batch AND m.position = 0`;

const NEW_ORDER: Columns<NewOrder> = {
  v_batch: ['uuid', ({ id }) => id],
  v_tenant: ['key', ({ tenant }) => tenant],
  v_reference: ['key', ({ reference }) => reference],
  v_fingerprint: ['key', ({ fingerprint }) => fingerprint],
  v_number_digest: ['key', ({ number }) => number],
  v_product: ['key', ({ product }) => product],
  v_type: ['key', ({ type }) => type],
  v_amount: ['bigint', ({ amount }) => amount.toString()],
  v_currency: ['key', ({ currency }) => currency],
  v_network: ['key', ({ network }) => network],
  v_created_at: ['bigint', ({ createdAt }) => createdAt * 1_000],
  v_tell_at: ['bigint', ({ tellAt }) => tellAt * 1_000],
};

const NEW_TALLY: Columns<NewTally> = {
  v_tenant: ['key', ({ tenant }) => tenant],
  v_version: ['bigint', ({ version }) => version.toString()],
  v_tally: ['bigint', ({ tally }) => tally.toString()],
};

type LedgerRow = { readonly tenant: string } & (
  | {
      readonly kind: 'known';
      readonly reference: string;
      readonly id: string;
      readonly fingerprint: string;
      readonly at: Big;
    }
  | {
      readonly kind: 'allowance';
      readonly currency: string;
      readonly amount: Big;
      readonly perNumber: Big;
      readonly tally: Big | null;
      readonly at: Big;
    }
  | {
      readonly kind: 'recent';
      readonly number: string;
      readonly product: string;
      readonly currency: string;
      readonly amount: Big;
      readonly at: Big;
    }
);

type Row<K extends LedgerRow['kind']> = Extract<LedgerRow, { readonly kind: K }>;

/** Statements on allowances, and on the orders under them. */
export class VasLedger {
  readonly #tenants: RowSource;
  readonly #references: RowSource;
  readonly #numbers: RowSource;
  readonly #read: string;
  readonly #insert: StatementOf<NewOrder>;
  readonly #setTallies: StatementOf<NewTally>;
  /** SQL: the order may have cost something, or may yet. */
  readonly #counts: string;

  constructor(
    private readonly database: StoreDatabase,
    channels: ChannelRegistry,
  ) {
    const { dialect } = database;
    this.#insert = insertion(dialect, into('vas_order', NEW_ORDER), NEW_ORDER);
    this.#setTallies = updateOf(dialect, NEW_TALLY, {
      table: 'messaging_vas_allowance',
      set: 'tally = v_tally, version = version + 1',
      where: 'tenant = v_tenant AND version = v_version',
      lockedBy: 'tenant',
    });
    const failed = channels.statusesOf('vas').filter(([, { failed: none }]) => none);
    const ranks = failed.map(([, { rank }]) => rank);
    this.#counts = `(m.status IS NULL OR m.status NOT IN (${ranks.join(', ')}))
      AND b.state <> ${BATCH_STATE.cancelled}`;
    this.#tenants = dialect.rows({ v_tenant: 'key' });
    this.#references = dialect.rows({ v_reference: 'key', v_tenant: 'key' });
    this.#numbers = dialect.rows({ v_number: 'key', v_tenant: 'key' });
    const { join } = dialect;
    const isOfTenant = dialect.residual('o.tenant = v_tenant');
    // One statement is one snapshot: an order that it does not see raises the version it reads.
    this.#read = `SELECT 'known' AS kind, o.tenant, o.reference, o.batch AS id, o.fingerprint,
        o.created_at AS at, NULL AS currency, NULL AS amount, NULL AS "perNumber", NULL AS tally,
        NULL AS product, NULL AS number
      FROM ${this.#references.keyed} ${join} messaging_vas_order o
        ${dialect.forceIndex('messaging_vas_order_reference')} ON o.reference = v_reference
      WHERE ${isOfTenant}
      UNION ALL SELECT 'allowance', a.tenant, NULL, NULL, NULL, a.version, a.currency, a.daily,
        a.per_number, a.tally, NULL, NULL
      FROM ${this.#tenants.keyed} ${join} messaging_vas_allowance a ON a.tenant = v_tenant
      UNION ALL SELECT 'recent', o.tenant, NULL, NULL, NULL, o.created_at, o.currency, o.amount,
        NULL, NULL, o.product, o.number_digest
      FROM ${this.#numbers.keyed} ${join} messaging_vas_order o
        ${dialect.forceIndex('messaging_vas_order_number')} ON o.number_digest = v_number
        ${STATUS_JOINS}
      WHERE ${isOfTenant} AND ${dialect.residual('o.created_at > ?')} AND ${this.#counts}`;
  }

  async allow(
    sql: Sql,
    tenant: string,
    allowance: Pick<StoredAllowance, 'currency' | 'daily' | 'perNumber'>,
    at: number,
  ): Promise<void> {
    const { currency, daily, perNumber } = allowance;
    const values = [currency, daily.toString(), perNumber.toString(), at * 1_000, tenant];
    const changed = await sql.run(
      `UPDATE messaging_vas_allowance SET currency = ?, daily = ?, per_number = ?, allowed_at = ?,
         tally = NULL, version = version + 1 WHERE tenant = ?`,
      values,
    );
    if (changed > 0) return;
    // No version of an allowance that was taken back before.
    await sql.run(
      `INSERT INTO messaging_vas_allowance (currency, daily, per_number, allowed_at, tenant, version)
       VALUES (?, ?, ?, ?, ?, ?)`,
      [...values, at * 1_000],
    );
  }

  async forbid(sql: Sql, tenant: string): Promise<boolean> {
    return (await sql.run('DELETE FROM messaging_vas_allowance WHERE tenant = ?', [tenant])) > 0;
  }

  /** Reads the rows that decide on orders of these tenants. */
  async read(
    orders: readonly Pick<NewOrder, 'tenant' | 'reference'>[],
    numbers: readonly Pick<NewOrder, 'tenant' | 'number'>[],
    since: number,
  ): Promise<ReadonlyMap<string, TenantLedger>> {
    const ledgers = new Map<string, TenantLedger>();
    for (const { tenant } of orders)
      if (!ledgers.has(tenant))
        ledgers.set(tenant, { allowance: undefined, known: new Map(), recent: [] });
    const rows = await this.database.all<LedgerRow>(this.#read, [
      ...this.#references.bind(orders.map(({ tenant, reference }) => [reference, tenant])),
      ...this.#tenants.bind([...ledgers.keys()].map((tenant) => [tenant])),
      ...this.#numbers.bind(numbers.map(({ tenant, number }) => [number, tenant])),
      since * 1_000,
    ]);
    for (const row of rows) {
      const own = ledgers.get(row.tenant)!;
      if (row.kind === 'allowance') own.allowance = allowanceOf(row);
      else if (row.kind === 'known') own.known.set(row.reference, knownOf(row));
      else own.recent.push(recentOf(row));
    }
    return ledgers;
  }

  /** `undefined`: the tenant may not order. */
  async allowance(tenant: string): Promise<StoredAllowance | undefined> {
    return (await this.read([{ tenant, reference: '' }], [], 0)).get(tenant)?.allowance;
  }

  async find(tenant: string, reference: string): Promise<KnownOrder | undefined> {
    return (await this.read([{ tenant, reference }], [], 0)).get(tenant)?.known.get(reference);
  }

  /** The sum of the tenant's orders since a time. */
  async spent(
    tenant: string,
    currency: string,
    since: number,
    which: 'all' | 'not failed',
  ): Promise<bigint> {
    const [row] = await this.database.all<{ amount: Big | null }>(
      `SELECT sum(o.amount) AS amount FROM messaging_vas_order o
       ${which === 'all' ? '' : STATUS_JOINS}
       WHERE o.tenant = ? AND o.created_at > ? AND o.currency = ?
         ${which === 'all' ? '' : `AND ${this.#counts}`}`,
      [tenant, since * 1_000, currency],
    );
    return BigInt(row?.amount ?? 0);
  }

  /** Stores new orders with their batches where the allowances have the versions that were read. */
  ownRows(tallies: readonly NewTally[], orders: readonly NewOrder[]): OwnRows {
    return {
      guard: { statement: this.#setTallies(tallies), rows: tallies.length },
      insert: this.#insert(orders),
    };
  }
}

function allowanceOf(row: Row<'allowance'>): StoredAllowance {
  const { currency, amount, perNumber, tally, at } = row;
  return {
    currency,
    daily: BigInt(amount),
    perNumber: BigInt(perNumber),
    tally: tally === null ? null : BigInt(tally),
    version: BigInt(at),
  };
}

function knownOf({ id, fingerprint, at }: Row<'known'>): KnownOrder {
  return { id, fingerprint, createdAt: new Date(millisecondsOf(at)) };
}

function recentOf({ number, product, currency, amount, at }: Row<'recent'>): RecentOrder {
  return { number, product, currency, amount: BigInt(amount), createdAt: millisecondsOf(at) };
}

function millisecondsOf(micros: Big): number {
  return Math.floor(Number(micros) / 1_000);
}
