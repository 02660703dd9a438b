import type { Columns, Dialect } from '../database/dialect.js';
import type { MessagePlace, ReceivedReport } from '../rows/received-report.js';
import type { Sql, StoreDatabase } from '../database/store-database.js';

/** Number of cached references, each with up to a request's recipients. */
const CAPACITY = 100;

const SUBMISSION_ID = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-s(\d{1,9})$/;

type Reader = Pick<Sql, 'all'>;
type Reports = readonly ReceivedReport[];
type Places = Map<number, MessagePlace>;

interface PlaceRow {
  readonly v_index: number;
  readonly batch: string;
  readonly position: number;
}

/** A submission with the reference, and one of its messages, if any is left. */
interface ReferenceRow {
  readonly provider: string;
  readonly reference: string;
  readonly batch: string;
  readonly first: number;
  readonly last: number;
  readonly position: number | null;
  readonly recipient: string | null;
}

/** The messages of the submissions with one reference of a provider. */
interface Reference {
  readonly batch: string;
  /** The position of the only message. */
  only: number | undefined;
  readonly byRecipient: Map<string | null, MessagePlace>;
}

/** What a report is asked for by: a reference or an id of its provider, or a submission. */
interface Asked {
  readonly index: number;
  readonly provider: string;
  readonly name: string;
}

interface AskedSubmission {
  readonly index: number;
  readonly batch: string;
  readonly n: number;
  readonly recipient: string;
}

/**
 * Finds messages within the report's provider: by the polled submission; by reference and
 * recipient; by message id; by the reference, or an id that was the whole submit response, of a
 * submission with one recipient. Positions never change: they may be read before the transaction,
 * and those of wide references are cached, as a campaign's thousand reports read them once.
 */
export class ReportPlaces {
  readonly #sql: ReturnType<typeof statementsFor>;
  readonly #cache = new Map<string, Reference>();

  constructor(database: StoreDatabase) {
    this.#sql = statementsFor(database.dialect);
  }

  /** By index of the report. */
  async find(sql: Reader, reports: Reports): Promise<Places> {
    const places: Places = new Map();
    await this.#bySubmission(sql, reports, places);
    await this.#byReference(sql, reports, places, 'reference');
    await this.#byMessageId(sql, reports, places);
    await this.#byReference(sql, reports, places, 'messageId');
    return places;
  }

  forget(): void {
    this.#cache.clear();
  }

  async #bySubmission(sql: Reader, reports: Reports, places: Places): Promise<void> {
    const asked: AskedSubmission[] = [];
    for (const [index, { submissionId, recipient }] of reports.entries()) {
      const [, batch, n] = (submissionId && SUBMISSION_ID.exec(submissionId)) || [];
      if (batch === undefined) continue;
      places.set(index, { batch, position: undefined });
      if (recipient !== null) asked.push({ index, batch, n: Number(n), recipient });
    }
    if (asked.length === 0) return;
    const { bySubmission, submissions } = this.#sql;
    const rows = await sql.all<PlaceRow>(bySubmission, submissions.bind(asked));
    for (const { v_index, batch, position } of rows) places.set(v_index, { batch, position });
  }

  async #byReference(
    sql: Reader,
    reports: Reports,
    places: Places,
    column: 'reference' | 'messageId',
  ): Promise<void> {
    const known = new Map<string, Reference | undefined>();
    const unknown = new Map<string, Asked>();
    const asked = withoutMessage(reports, places).flatMap(([index, report]) => {
      const { provider, recipient, [column]: name } = report;
      if (name === null) return [];
      const key = keyOf(provider, name);
      known.set(key, this.#cache.get(key));
      if (!known.get(key)?.byRecipient.has(recipient)) unknown.set(key, { index, provider, name });
      return [{ index, key, recipient }];
    });
    for (const [key, reference] of await this.#load(sql, [...unknown.values()]))
      known.set(key, reference);
    for (const { index, key, recipient } of asked) {
      const found = known.get(key);
      if (!found) continue;
      const { batch, only, byRecipient } = found;
      const place = byRecipient.get(recipient) ?? { batch, position: only };
      if (place.position !== undefined || !places.has(index)) places.set(index, place);
    }
  }

  async #byMessageId(sql: Reader, reports: Reports, places: Places): Promise<void> {
    // Many recipients of a submission may share an id that belongs to no message: looked up once.
    const asked = new Map<string, Asked & { readonly indexes: number[] }>();
    for (const [index, { provider, messageId, reference }] of withoutMessage(reports, places)) {
      const name = messageId ?? reference;
      if (name === null) continue;
      const key = keyOf(provider, name);
      const same = asked.get(key);
      if (same) same.indexes.push(index);
      else asked.set(key, { index: asked.size, provider, name, indexes: [index] });
    }
    if (asked.size === 0) return;
    const all = [...asked.values()];
    const rows = await sql.all<PlaceRow>(this.#sql.byMessageId, this.#sql.messageIds.bind(all));
    for (const { v_index, batch, position } of rows)
      for (const index of all[v_index]!.indexes) places.set(index, { batch, position });
  }

  async #load(sql: Reader, asked: readonly Asked[]): Promise<Map<string, Reference>> {
    const loaded = new Map<string, Reference>();
    if (asked.length === 0) return loaded;
    const { byReference, references } = this.#sql;
    const rows = await sql.all<ReferenceRow>(byReference, references.bind(asked));
    for (const { provider, reference, batch, first, last, position, recipient } of rows) {
      const key = keyOf(provider, reference);
      let found = loaded.get(key);
      if (found) found.only = undefined;
      else {
        const only = first === last ? (position ?? undefined) : undefined;
        loaded.set(key, (found = { batch, only, byRecipient: new Map() }));
      }
      if (position !== null && !found.byRecipient.has(recipient))
        found.byRecipient.set(recipient, { batch, position });
    }
    for (const [key, reference] of loaded) this.#remember(key, reference);
    return loaded;
  }

  #remember(key: string, reference: Reference): void {
    this.#cache.delete(key);
    if (reference.byRecipient.size > 1) this.#cache.set(key, reference);
    const [oldest] = this.#cache.keys();
    if (oldest !== undefined && this.#cache.size > CAPACITY) this.#cache.delete(oldest);
  }
}

function withoutMessage(reports: Reports, places: Places): [number, ReceivedReport][] {
  return [...reports.entries()].filter(([index]) => places.get(index)?.position === undefined);
}

function keyOf(provider: string, name: string): string {
  return `${provider}\n${name}`;
}

function statementsFor(dialect: Dialect) {
  const asked = {
    v_index: ['int', ({ index }) => index],
    v_provider: ['key', ({ provider }) => provider],
    v_name: ['key', ({ name }) => name],
  } satisfies Columns<Asked>;
  const { v_provider, v_name } = asked;
  const references = dialect.rows({ v_provider, v_name });
  const messageIds = dialect.rows(asked);
  const submissions = dialect.rows<AskedSubmission>({
    v_index: ['int', ({ index }) => index],
    v_batch: ['uuid', ({ batch }) => batch],
    v_n: ['int', ({ n }) => n],
    v_recipient: ['key', ({ recipient }) => recipient],
  });
  const members = 'm.batch = s.batch AND m.position BETWEEN s.first_position AND s.last_position';
  return {
    references,
    messageIds,
    submissions,
    byReference: `SELECT s.provider, s.reference, s.batch, s.first_position AS first, s.last_position AS last,
        m.position, m.recipient
      FROM ${references.keyed} ${dialect.join} messaging_submission s
        ON s.reference = v_name AND s.provider = v_provider
      LEFT JOIN messaging_message m ON ${members} ORDER BY s.batch, s.n`,
    byMessageId: `SELECT v_index, m.batch, m.position FROM ${messageIds.keyed}
      ${dialect.join} messaging_message m ${dialect.forceIndex('messaging_message_reference')} ON m.reference = v_name
      JOIN messaging_submission s ON s.batch = m.batch AND s.n = m.submission
        AND ${dialect.residual('s.provider = v_provider')}`,
    bySubmission: `SELECT v_index, m.batch, m.position FROM ${submissions.keyed}
      ${dialect.join} messaging_submission s ON s.batch = v_batch AND s.n = v_n
      JOIN messaging_message m ON ${members} AND m.recipient = v_recipient`,
  };
}
