import { STATUS_RANK } from '../../message/status.js';
import { amountOf } from '../../message/money.js';
import type { VasProduct } from '../../message/vas.js';
import type { ReportDetails } from '../../message/events.js';
import type { ChannelRegistry } from '../../message/channel-registry.js';
import type { Sql, StoreDatabase } from '../../store/database/store-database.js';
import { BATCH_STATE } from '../../store/rows/batch-state.js';
import type { VasOrderView, VasSettlement } from './vas-order.js';

type Big = string | number;

export interface OpenOrder {
  readonly id: string;
  readonly tenant: string;
  readonly reference: string;
  readonly createdAt: Date;
}

interface OrderRow {
  readonly id: string;
  readonly tenant: string;
  readonly clientReference: string;
  readonly product: string;
  readonly type: VasProduct['type'];
  readonly amount: Big;
  readonly currency: string;
  readonly network: string | null;
  readonly createdAt: Big;
  readonly settledAt: Big | null;
  readonly settledAs: VasSettlement['as'] | null;
  readonly settledBy: string | null;
  readonly settledNote: string | null;
  readonly recipient: string | null;
  readonly planned: string | null;
  readonly status: number | null;
  readonly state: number | null;
  readonly errorCode: string | null;
  readonly details: string | null;
}

const COLUMNS = `o.batch AS id, o.tenant, o.reference AS "clientReference", o.product, o.type, o.amount,
  o.currency, o.network, o.created_at AS "createdAt", o.settled_at AS "settledAt",
  o.settled_as AS "settledAs", o.settled_by AS "settledBy", o.settled_note AS "settledNote",
  m.recipient, c.recipients AS planned, m.status, b.state, m.error_code AS "errorCode", s.details`;

const JOINS = `LEFT JOIN messaging_batch b ON b.id = o.batch
  LEFT JOIN messaging_batch_chunk c ON c.batch = o.batch AND c.n = 0
  LEFT JOIN messaging_message m ON m.batch = o.batch AND m.position = 0
  LEFT JOIN messaging_submission s ON s.batch = m.batch AND s.n = m.submission`;

/** Statements on orders under way and ended. */
export class VasOrders {
  readonly #pendingRanks: string;

  constructor(
    private readonly database: StoreDatabase,
    private readonly channels: ChannelRegistry,
  ) {
    this.#pendingRanks = [STATUS_RANK.unknown, channels.rankOf('processing')].join(', ');
  }

  async one(tenant: string, id: string): Promise<VasOrderView | undefined> {
    return (await this.#read('o.tenant = ? AND o.batch = ?', [tenant, id], 1))[0];
  }

  async byReference(tenant: string, reference: string): Promise<VasOrderView | undefined> {
    const isOfTenant = this.database.dialect.residual('o.tenant = ?');
    return (await this.#read(`o.reference = ? AND ${isOfTenant}`, [reference, tenant], 1))[0];
  }

  /** Newest first. */
  list(tenant: string, before: string, limit: number): Promise<VasOrderView[]> {
    return this.#read('o.tenant = ? AND o.batch < ?', [tenant, before], limit);
  }

  /** Orders of all tenants that were submitted before a time and have no outcome, newest first. */
  open(submittedBefore: number, limit: number): Promise<VasOrderView[]> {
    // Polls end with the outcome, so the index of polls holds every open order.
    return this.#read(
      `b.poll_at IS NOT NULL AND b.channel = 'vas' AND m.status IN (${this.#pendingRanks})
       AND o.created_at < ?`,
      [submittedBefore * 1_000],
      limit,
    );
  }

  async countOpen(submittedBefore: number): Promise<number> {
    const [row] = await this.database.all<{ orders: Big }>(
      `SELECT count(*) AS orders FROM messaging_vas_order o ${JOINS}
       WHERE b.poll_at IS NOT NULL AND b.channel = 'vas' AND m.status IN (${this.#pendingRanks})
         AND o.created_at < ?`,
      [submittedBefore * 1_000],
    );
    return Number(row?.orders ?? 0);
  }

  /** Locks the order. @returns its status; `undefined`: there is no such order */
  async lockStatus(sql: Sql, tenant: string, id: string): Promise<string | undefined> {
    const { dialect } = this.database;
    const [order] = await sql.all(
      `SELECT o.batch FROM messaging_vas_order o WHERE o.tenant = ? AND o.batch = ? ${dialect.forUpdate('o')}`,
      [tenant, id],
    );
    if (!order) return undefined;
    const [message] = await sql.all<{ status: number }>(
      'SELECT m.status FROM messaging_message m WHERE m.batch = ? AND m.position = 0',
      [id],
    );
    return message ? this.channels.nameOf(message.status) : 'queued';
  }

  async settle(sql: Sql, id: string, { as, by, at, note }: VasSettlement): Promise<void> {
    await sql.run(
      `UPDATE messaging_vas_order SET settled_as = ?, settled_by = ?, settled_at = ?, settled_note = ?,
         tell_at = NULL WHERE batch = ?`,
      [as, by, at.getTime() * 1_000, note, id],
    );
  }

  /** Takes orders whose event is due, each once. @returns those that are still without an outcome */
  async takeUntold(sql: Sql, now: number, limit: number): Promise<OpenOrder[]> {
    const { dialect } = this.database;
    const due = await sql.all<{ id: string }>(
      `SELECT o.batch AS id FROM messaging_vas_order o WHERE o.tell_at IS NOT NULL AND o.tell_at <= ?
       ORDER BY o.tell_at LIMIT ? ${dialect.skipLocked('o')}`,
      [now * 1_000, limit],
    );
    if (due.length === 0) return [];
    const ids = due.map(({ id }) => id);
    await sql.run(
      `UPDATE messaging_vas_order SET tell_at = NULL WHERE batch IN (${placesFor(ids)})`,
      ids,
    );
    const open = await sql.all<{ id: string; tenant: string; reference: string; createdAt: Big }>(
      `SELECT o.batch AS id, o.tenant, o.reference, o.created_at AS "createdAt"
       FROM messaging_vas_order o ${JOINS}
       WHERE o.batch IN (${placesFor(ids)}) AND m.status IN (${this.#pendingRanks})`,
      ids,
    );
    return open.map((row) => ({ ...row, createdAt: dateOf(row.createdAt) }));
  }

  async byIds(sql: Pick<Sql, 'all'>, ids: readonly string[]): Promise<VasOrderView[]> {
    return this.#read(`o.batch IN (${placesFor(ids)})`, ids, ids.length, sql);
  }

  async #read(
    where: string,
    params: readonly unknown[],
    limit: number,
    sql: Pick<Sql, 'all'> = this.database,
  ): Promise<VasOrderView[]> {
    const rows = await sql.all<OrderRow>(
      `SELECT ${COLUMNS} FROM messaging_vas_order o ${JOINS} WHERE ${where}
       ORDER BY o.batch DESC LIMIT ?`,
      [...params, limit],
    );
    const facts = await this.#facts(
      sql,
      rows.map(({ id }) => id),
    );
    return rows.map((row) => this.#viewOf(row, facts.get(row.id) ?? {}));
  }

  /** The details of the orders' reports; a later report has the last word. */
  async #facts(
    sql: Pick<Sql, 'all'>,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, ReportDetails>> {
    const facts = new Map<string, ReportDetails>();
    if (ids.length === 0) return facts;
    const rows = await sql.all<{ batch: string; details: string }>(
      `SELECT r.batch, r.details FROM messaging_report r
       WHERE r.batch IN (${placesFor(ids)}) AND r.details IS NOT NULL ORDER BY r.batch, r.id`,
      ids,
    );
    for (const { batch, details } of rows)
      facts.set(batch, { ...facts.get(batch), ...(JSON.parse(details) as ReportDetails) });
    return facts;
  }

  #viewOf(row: OrderRow, reported: ReportDetails): VasOrderView {
    const { id, tenant, clientReference, type, product, currency, network, errorCode } = row;
    const answer = row.details === null ? {} : (JSON.parse(row.details) as ReportDetails);
    const fact = (name: string): string | null => {
      const value = reported[name] ?? answer[name] ?? null;
      return value === null ? null : String(value);
    };
    const notStarted = row.state === BATCH_STATE.cancelled ? 'cancelled' : 'queued';
    const status = row.status === null ? notStarted : this.channels.nameOf(row.status);
    const arrived = status === 'delivered' || status === 'reversed';
    const { settledAs, settledBy, settledAt, settledNote } = row;
    return {
      id,
      tenant,
      clientReference,
      to: row.recipient ?? row.planned ?? '',
      type,
      product,
      amount: amountOf(BigInt(row.amount)),
      currency,
      network,
      status,
      cost: arrived || status === 'processing' ? fact('cost') : null,
      deliveredAmount: arrived ? fact('delivered_amount') : null,
      operatorReference: fact('operator_reference'),
      errorCode,
      createdAt: dateOf(row.createdAt),
      settlement:
        settledAs === null || settledBy === null || settledAt === null
          ? null
          : { as: settledAs, by: settledBy, at: dateOf(settledAt), note: settledNote },
    };
  }
}

function placesFor(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}

function dateOf(micros: Big): Date {
  return new Date(Math.floor(Number(micros) / 1_000));
}
