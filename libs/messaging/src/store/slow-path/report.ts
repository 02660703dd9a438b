import type { Dialect } from '../database/dialect.js';
import {
  logRow,
  type MessagePlace,
  raiseBy,
  type ReceivedReport,
} from '../rows/received-report.js';
import type { ReportPlaces } from '../verbs/report-places.js';
import { HELD_COLUMNS, type HeldMessage, type StatusChange } from '../rows/status.js';
import type { StatusWriter } from '../verbs/status-writer.js';
import type { StoreDatabase, Transaction } from '../database/store-database.js';
import { HAS_ERASED } from '../upkeep/erasure.js';

/** A locked message; or a batch, where the report concerns none of its messages. */
type ReportMatch =
  | { readonly message: HeldMessage }
  | {
      readonly message?: undefined;
      readonly batch: string;
      readonly tenant: string;
      /** A recipient was erased from the batch; the report may concern that recipient. */
      readonly erased: boolean;
    };

type Matches = Map<number, ReportMatch>;

/**
 * Records reports of every kind, on every database: locks their messages in a fixed order, raises
 * the statuses and appends the reports to the log.
 */
export class SlowReport {
  readonly #sql: ReturnType<typeof statementsFor>;

  constructor(
    database: StoreDatabase,
    private readonly writer: StatusWriter,
    private readonly places: ReportPlaces,
  ) {
    this.#sql = statementsFor(database.dialect);
  }

  /** @returns the changes, and for each report whether it has a message or a batch */
  async report(
    tx: Transaction,
    reports: readonly ReceivedReport[],
  ): Promise<{ changes: readonly StatusChange[]; matched: readonly boolean[] }> {
    const matches = await this.#match(tx, reports);
    const changes: StatusChange[] = [];
    const log = new Map<string, unknown[]>();
    reports.forEach((report, index) => {
      const match = matches.get(index);
      const change = match?.message && raiseBy(report, match.message);
      if (change) changes.push(change);
      if (report.waiting && !match) return;
      if (log.has(report.hash) && !change) return;
      const sequence = change && change.sequence > 0 ? change.sequence : null;
      log.set(report.hash, logRow(report, match?.message ?? match ?? {}, sequence));
    });
    await this.writer.log(tx, [...log.values()]);
    await this.writer.write(tx, changes);
    return { changes, matched: reports.map((_, index) => matches.has(index)) };
  }

  /** @param fresh without cached positions: one of them led to another message */
  async #match(
    tx: Transaction,
    reports: readonly ReceivedReport[],
    fresh = false,
  ): Promise<Matches> {
    const places = await this.places.find(tx, reports, fresh);
    const matches = await this.#lock(tx, reports, places);
    const rest = [...places].filter(([index]) => !matches.has(index));
    if (!fresh && rest.some(([, { position }]) => position !== undefined))
      return this.#match(tx, reports, true);
    for (const [index, match] of await this.#batches(tx, rest)) matches.set(index, match);
    return matches;
  }

  /** Locks the messages; reports of the same message share one object. */
  async #lock(
    tx: Transaction,
    reports: readonly ReceivedReport[],
    places: ReadonlyMap<number, MessagePlace>,
  ): Promise<Matches> {
    const asked = new Map<string, MessagePlace>();
    for (const place of places.values())
      if (place.position !== undefined) asked.set(keyOf(place), place);
    const matches: Matches = new Map();
    if (asked.size === 0) return matches;
    const rows = await tx.all<HeldMessage>(
      this.#sql.lockMessages,
      this.#sql.places.bind(
        [...asked.values()].sort(inLockOrder).map(({ batch, position }) => [batch, position]),
      ),
    );
    const held = new Map(rows.map((message) => [keyOf(message), message]));
    for (const [index, place] of places) {
      const message = held.get(keyOf(place));
      const recipient = reports[index]?.recipient ?? null;
      if (message && (recipient === null || recipient === message.recipient))
        matches.set(index, { message });
    }
    return matches;
  }

  /** The batches of reports without a message. An erased batch does not store a recipient again. */
  async #batches(
    tx: Transaction,
    rest: readonly (readonly [number, MessagePlace])[],
  ): Promise<Matches> {
    const matches: Matches = new Map();
    if (rest.length === 0) return matches;
    const ids = [...new Set(rest.map(([, { batch }]) => batch))].map((batch) => [batch]);
    const rows = await tx.all<{ id: string; tenant: string; erased: string | number }>(
      this.#sql.batches,
      this.#sql.ids.bind(ids),
    );
    const found = new Map(rows.map((row) => [row.id, row]));
    for (const [index, { batch }] of rest) {
      const { tenant, erased } = found.get(batch) ?? {};
      if (tenant !== undefined) matches.set(index, { batch, tenant, erased: Number(erased) === 1 });
    }
    return matches;
  }
}

function keyOf({ batch, position }: Pick<MessagePlace, 'batch' | 'position'>): string {
  return `${batch}-${position}`;
}

function inLockOrder(a: MessagePlace, b: MessagePlace): number {
  if (a.batch !== b.batch) return a.batch < b.batch ? -1 : 1;
  return (a.position ?? 0) - (b.position ?? 0);
}

function statementsFor(dialect: Dialect) {
  const ids = dialect.rows({ v_id: 'uuid' });
  const places = dialect.rows({ v_batch: 'uuid', v_position: 'int' });
  const key = dialect.forceIndex('PRIMARY');
  return {
    ids,
    places,
    batches: `SELECT b.id, b.tenant, ${HAS_ERASED} AS erased FROM ${ids.keyed}
      ${dialect.join} messaging_batch b ON b.id = v_id WHERE b.content IS NOT NULL`,
    lockMessages: `SELECT ${HELD_COLUMNS} FROM ${places.keyed}
      ${dialect.join} messaging_message m ${key} ON m.batch = v_batch AND m.position = v_position
      JOIN messaging_batch b ${key} ON b.id = m.batch
      ORDER BY m.batch, m.position ${dialect.forUpdate('m')}`,
  };
}
