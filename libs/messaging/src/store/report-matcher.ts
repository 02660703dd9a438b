import type { Columns, Dialect } from './dialect.js';
import type { StoreDatabase, Sql, Transaction } from './store-database.js';
import type { ReceivedReport } from './received-report.js';
import { HELD_COLUMNS, type HeldMessage } from './status.js';
import { type MessagePlace, type ReportKey, SubmissionIndex } from './submission-index.js';
import { HAS_ERASED } from './upkeep/erasure.js';

/**
 * Whom a report speaks of: a message, held; or a batch none of whose messages is meant, such as one
 * whose recipients only a group upstream knew.
 */
export type ReportMatch =
  | { readonly message: HeldMessage }
  | {
      readonly message?: undefined;
      readonly batch: string;
      readonly tenant: string;
      /** Somebody of the batch was erased, and this may be them: their number is not taken in again. */
      readonly nameless: boolean;
    };

const PLACE = { v_index: 'int', v_batch: 'uuid', v_position: 'int' } as const satisfies Columns;
const LOOKUP_ID = {
  v_index: 'int',
  v_provider: 'key',
  v_message_id: 'key',
} as const satisfies Columns;
const LOOKUP_KEY = {
  v_index: 'int',
  v_batch: 'uuid',
  v_n: 'int',
  v_recipient: 'key',
} as const satisfies Columns;

const SUBMISSION_ID = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-s(\d{1,9})$/;

interface PlaceRow {
  readonly v_index: number;
  readonly batch: string;
  readonly position: number;
}

/**
 * Finds the messages reports speak of, by what they have: the submission they were asked by; reference
 * and recipient; the message's id; the reference alone, or an id that was the submit's whole answer,
 * where the submission had one recipient. First all places are found, then they are locked at once, in
 * the order everybody locks in.
 */
export class ReportMatcher {
  readonly #sql: ReturnType<typeof statementsFor>;
  readonly #index: SubmissionIndex;

  constructor(database: StoreDatabase) {
    this.#sql = statementsFor(database.dialect);
    this.#index = new SubmissionIndex(database);
  }

  /** By index of the report; what matches nothing is left out. `places` as they were found; a doubtful one is looked for afresh. */
  async match(
    tx: Transaction,
    reports: readonly ReceivedReport[],
    places: Map<number, MessagePlace>,
  ): Promise<Map<number, ReportMatch>> {
    const matches = await this.#hold(tx, reports, places);
    await this.#lookAfresh(tx, reports, places, matches);
    const strangers = [...places].filter(([index]) => !matches.has(index));
    for (const [index, match] of await this.#batches(tx, strangers)) matches.set(index, match);
    return matches;
  }

  /** By index of the report: where its message is. That never changes, so it may be asked before the transaction. */
  async places(
    sql: Pick<Sql, 'all'>,
    reports: readonly ReceivedReport[],
  ): Promise<Map<number, MessagePlace>> {
    const { byKey, keys, byMessageId, messageIds } = this.#sql;
    const places = new Map<number, MessagePlace>();
    const found = (rows: readonly PlaceRow[]) => {
      for (const { v_index, batch, position } of rows)
        places.set(Number(v_index), { batch, position });
    };
    const open = () =>
      [...reports.entries()].filter(([i]) => places.get(i)?.position === undefined);
    const byReference = async (referenceOf: (report: ReceivedReport) => string | null) => {
      const wanted = new Map<number, ReportKey>();
      for (const [index, report] of open()) {
        const reference = referenceOf(report);
        if (reference === null) continue;
        const { provider, recipient } = report;
        wanted.set(index, { provider, reference, recipient });
      }
      for (const [index, place] of await this.#index.find(sql, wanted))
        if (place.position !== undefined || !places.has(index)) places.set(index, place);
    };

    const known = this.#known(reports);
    if (known) return known;
    const keyed: unknown[][] = [];
    for (const [index, { submissionId, recipient }] of reports.entries()) {
      const [, batch, n] = (submissionId && SUBMISSION_ID.exec(submissionId)) || [];
      if (batch === undefined) continue;
      places.set(index, { batch, position: undefined });
      if (recipient !== null) keyed.push([index, batch, Number(n), recipient]);
    }
    if (keyed.length > 0) found(await sql.all<PlaceRow>(byKey, keys.bind(keyed)));
    await byReference(({ reference }) => reference);
    // A thousand recipients of one submission may share an id that is no message's: it is asked for once.
    const identified = new Map<string, { row: unknown[]; indexes: number[] }>();
    for (const [index, { provider, messageId, reference }] of open()) {
      const id = messageId ?? reference;
      if (id === null) continue;
      const same = identified.get(`${provider}\n${id}`);
      if (same) same.indexes.push(index);
      else identified.set(`${provider}\n${id}`, { row: [index, provider, id], indexes: [index] });
    }
    if (identified.size > 0) {
      const asked = [...identified.values()];
      const rows = await sql.all<PlaceRow>(
        byMessageId,
        messageIds.bind(asked.map(({ row }) => row)),
      );
      const indexes = new Map(asked.map((one) => [one.indexes[0], one.indexes]));
      for (const { v_index, batch, position } of rows)
        for (const index of indexes.get(Number(v_index)) ?? [])
          places.set(index, { batch, position });
    }
    await byReference(({ messageId }) => messageId);
    return places;
  }

  /** Where memory alone tells the message of every report, by its reference. */
  #known(reports: readonly ReceivedReport[]): Map<number, MessagePlace> | undefined {
    const places = new Map<number, MessagePlace>();
    for (let index = 0; index < reports.length; index++) {
      const { submissionId, provider, reference, recipient } = reports[index] as ReceivedReport;
      if (submissionId !== undefined || reference === null) return undefined;
      const place = this.#index.known({ provider, reference, recipient });
      if (place?.position === undefined) return undefined;
      places.set(index, place);
    }
    return places;
  }

  /** The messages at the places, locked; one object each, however many reports name it. */
  async #hold(
    tx: Transaction,
    reports: readonly ReceivedReport[],
    places: ReadonlyMap<number, MessagePlace>,
  ): Promise<Map<number, ReportMatch>> {
    const wanted = [...places].filter(isMessage).sort(([, a], [, b]) => inLockOrder(a, b));
    const matches = new Map<number, ReportMatch>();
    if (wanted.length === 0) return matches;
    const asked: unknown[][] = [];
    let last: MessagePlace | undefined;
    const rowOf = wanted.map(([, place]) => {
      if (!last || inLockOrder(last, place) !== 0)
        asked.push([asked.length, place.batch, place.position]);
      last = place;
      return asked.length - 1;
    });
    const rows = await tx.all<HeldMessage & { v_index: number }>(
      this.#sql.byPlace,
      this.#sql.places.bind(asked),
    );
    const held: HeldMessage[] = [];
    for (const { v_index, ...message } of rows) held[Number(v_index)] = message;
    for (const [n, [index]] of wanted.entries()) {
      const message = held[rowOf[n] as number];
      const recipient = reports[index]?.recipient ?? null;
      if (message && (recipient === null || recipient === message.recipient))
        matches.set(index, { message });
    }
    return matches;
  }

  /** A reference that led to somebody else may have been given again since it was remembered. */
  async #lookAfresh(
    tx: Transaction,
    reports: readonly ReceivedReport[],
    places: Map<number, MessagePlace>,
    matches: Map<number, ReportMatch>,
  ): Promise<void> {
    const doubtful = [...places]
      .filter((place) => isMessage(place) && !matches.has(place[0]))
      .map(([index]) => index);
    if (doubtful.length === 0) return;
    const asked = doubtful.map((index) => reports[index] as ReceivedReport);
    if (!this.#index.forget(asked)) return;
    const afresh = new Map<number, MessagePlace>();
    for (const [n, place] of await this.places(tx, asked)) afresh.set(doubtful[n] as number, place);
    for (const [index, place] of afresh) places.set(index, place);
    for (const [index, match] of await this.#hold(tx, reports, afresh)) matches.set(index, match);
  }

  /** The batches of strangers; one that retention erased takes no more phone numbers in. */
  async #batches(
    tx: Transaction,
    strangers: readonly (readonly [number, MessagePlace])[],
  ): Promise<Map<number, ReportMatch>> {
    const matches = new Map<number, ReportMatch>();
    if (strangers.length === 0) return matches;
    const ids = [...new Set(strangers.map(([, { batch }]) => batch))].map((batch) => [batch]);
    const rows = await tx.all<{ id: string; tenant: string; erased: string | number }>(
      this.#sql.tenants,
      this.#sql.ids.bind(ids),
    );
    const found = new Map(rows.map((row) => [row.id, row]));
    for (const [index, { batch }] of strangers) {
      const { tenant, erased } = found.get(batch) ?? {};
      if (tenant !== undefined)
        matches.set(index, { batch, tenant, nameless: Number(erased) === 1 });
    }
    return matches;
  }
}

function isMessage([, { position }]: [number, MessagePlace]): boolean {
  return position !== undefined;
}

function inLockOrder(a: MessagePlace, b: MessagePlace): number {
  if (a.batch !== b.batch) return a.batch < b.batch ? -1 : 1;
  return (a.position ?? 0) - (b.position ?? 0);
}

function statementsFor(dialect: Dialect) {
  const ids = dialect.rows({ v_id: 'uuid' });
  const places = dialect.rows(PLACE);
  const messageIds = dialect.rows(LOOKUP_ID);
  const keys = dialect.rows(LOOKUP_KEY);
  return {
    ids,
    places,
    messageIds,
    keys,
    tenants: `SELECT b.id, b.tenant, ${HAS_ERASED} AS erased FROM ${ids.keyed} ${dialect.join} messaging_batch b ON b.id = v_id
      WHERE b.content IS NOT NULL`,
    byPlace: `SELECT v_index, ${HELD_COLUMNS} FROM ${places.keyed}
      ${dialect.join} messaging_message m ${dialect.forceIndex('PRIMARY')} ON m.batch = v_batch AND m.position = v_position
      JOIN messaging_batch b ${dialect.forceIndex('PRIMARY')} ON b.id = m.batch ORDER BY m.batch, m.position ${dialect.forUpdate('m')}`,
    byMessageId: `SELECT v_index, m.batch, m.position FROM ${messageIds.keyed}
      ${dialect.join} messaging_message m ${dialect.forceIndex('messaging_message_reference')} ON m.reference = v_message_id
      JOIN messaging_submission s ON s.batch = m.batch AND s.n = m.submission
        AND ${dialect.residual('s.provider = v_provider')}`,
    byKey: `SELECT v_index, m.batch, m.position FROM ${keys.keyed}
      ${dialect.join} messaging_submission s ON s.batch = v_batch AND s.n = v_n
      JOIN messaging_message m ON m.batch = s.batch AND m.position BETWEEN s.first_position AND s.last_position
        AND m.recipient = v_recipient`,
  };
}
