import type { Dialect } from '../database/dialect.js';
import type { MessagePlace, ReceivedReport } from '../rows/received-report.js';
import type { Sql, StoreDatabase } from '../database/store-database.js';

/** Number of recipients whose positions are cached. */
const CAPACITY = 100_000;

const SUBMISSION_ID = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-s(\d{1,9})$/;

type Reader = Pick<Sql, 'all'>;
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

/**
 * Finds messages within the report's provider: by the polled submission; by reference and
 * recipient; by message id; by the reference, or an id that was the whole submit response, of a
 * submission with one recipient. Positions never change: they may be read before the transaction,
 * and those of wide references are cached, as a campaign's thousand reports read them once.
 */
export class ReportPlaces {
  readonly #sql: ReturnType<typeof statementsFor>;
  readonly #cache = new Map<string, Reference>();
  #cached = 0;

  constructor(database: StoreDatabase) {
    this.#sql = statementsFor(database.dialect);
  }

  /** By index of the report. `fresh` skips the cache: a provider may have reused a reference. */
  async find(sql: Reader, reports: readonly ReceivedReport[], fresh = false): Promise<Places> {
    const places: Places = new Map();
    await this.#bySubmission(sql, reports, places);
    await this.#byReference(sql, reports, places, 'reference', fresh);
    await this.#byMessageId(sql, reports, places);
    await this.#byReference(sql, reports, places, 'messageId', fresh);
    return places;
  }

  async #bySubmission(
    sql: Reader,
    reports: readonly ReceivedReport[],
    places: Places,
  ): Promise<void> {
    const asked: unknown[][] = [];
    for (const [index, { submissionId, recipient }] of reports.entries()) {
      const [, batch, n] = (submissionId && SUBMISSION_ID.exec(submissionId)) || [];
      if (batch === undefined) continue;
      places.set(index, { batch, position: undefined });
      if (recipient !== null) asked.push([index, batch, Number(n), recipient]);
    }
    if (asked.length === 0) return;
    const { bySubmission, submissions } = this.#sql;
    for (const { v_index, batch, position } of await sql.all<PlaceRow>(
      bySubmission,
      submissions.bind(asked),
    ))
      places.set(Number(v_index), { batch, position });
  }

  async #byReference(
    sql: Reader,
    reports: readonly ReceivedReport[],
    places: Places,
    column: 'reference' | 'messageId',
    fresh: boolean,
  ): Promise<void> {
    const asked: [index: number, name: string, recipient: string | null][] = [];
    const unknown = new Map<string, unknown[]>();
    for (const [index, report] of withoutMessage(reports, places)) {
      const { provider, recipient, [column]: reference } = report;
      if (reference === null) continue;
      const name = nameOf(provider, reference);
      asked.push([index, name, recipient]);
      if (fresh || !this.#cache.get(name)?.byRecipient.has(recipient))
        unknown.set(name, [provider, reference]);
    }
    const loaded = await this.#load(sql, [...unknown.values()]);
    for (const [index, name, recipient] of asked) {
      const found = loaded.get(name) ?? this.#cache.get(name);
      if (!found) continue;
      const { batch, only, byRecipient } = found;
      const place = byRecipient.get(recipient) ?? { batch, position: only };
      if (place.position !== undefined || !places.has(index)) places.set(index, place);
    }
  }

  async #byMessageId(
    sql: Reader,
    reports: readonly ReceivedReport[],
    places: Places,
  ): Promise<void> {
    // Many recipients of a submission may share an id that belongs to no message: looked up once.
    const asked = new Map<string, { row: unknown[]; indexes: number[] }>();
    for (const [index, { provider, messageId, reference }] of withoutMessage(reports, places)) {
      const id = messageId ?? reference;
      if (id === null) continue;
      const name = nameOf(provider, id);
      const same = asked.get(name);
      if (same) same.indexes.push(index);
      else asked.set(name, { row: [asked.size, provider, id], indexes: [index] });
    }
    if (asked.size === 0) return;
    const all = [...asked.values()];
    const { byMessageId, messageIds } = this.#sql;
    for (const { v_index, batch, position } of await sql.all<PlaceRow>(
      byMessageId,
      messageIds.bind(all.map(({ row }) => row)),
    ))
      for (const index of all[Number(v_index)]?.indexes ?? [])
        places.set(index, { batch, position });
  }

  async #load(sql: Reader, references: unknown[][]): Promise<Map<string, Reference>> {
    const loaded = new Map<string, Reference>();
    if (references.length === 0) return loaded;
    const rows = await sql.all<ReferenceRow>(
      this.#sql.byReference,
      this.#sql.references.bind(references),
    );
    for (const { provider, reference, batch, first, last, position, recipient } of rows) {
      const name = nameOf(provider, reference);
      let found = loaded.get(name);
      if (found) found.only = undefined;
      else {
        const only = first === last ? (position ?? undefined) : undefined;
        loaded.set(name, (found = { batch, only, byRecipient: new Map() }));
      }
      if (position !== null && !found.byRecipient.has(recipient))
        found.byRecipient.set(recipient, { batch, position });
    }
    for (const [name, reference] of loaded) this.#remember(name, reference);
    return loaded;
  }

  #remember(name: string, reference: Reference): void {
    this.#forget(name);
    if (reference.byRecipient.size <= 1) return;
    this.#cache.set(name, reference);
    this.#cached += reference.byRecipient.size;
    for (const oldest of this.#cache.keys()) {
      if (this.#cached <= CAPACITY) return;
      this.#forget(oldest);
    }
  }

  #forget(name: string): void {
    this.#cached -= this.#cache.get(name)?.byRecipient.size ?? 0;
    this.#cache.delete(name);
  }
}

function withoutMessage(
  reports: readonly ReceivedReport[],
  places: Places,
): [number, ReceivedReport][] {
  return [...reports.entries()].filter(([index]) => places.get(index)?.position === undefined);
}

function nameOf(provider: string, reference: string): string {
  return `${provider}\n${reference}`;
}

function statementsFor(dialect: Dialect) {
  const references = dialect.rows({ v_provider: 'key', v_reference: 'key' });
  const messageIds = dialect.rows({ v_index: 'int', v_provider: 'key', v_message_id: 'key' });
  const submissions = dialect.rows({
    v_index: 'int',
    v_batch: 'uuid',
    v_n: 'int',
    v_recipient: 'key',
  });
  const members = 'm.batch = s.batch AND m.position BETWEEN s.first_position AND s.last_position';
  return {
    references,
    messageIds,
    submissions,
    byReference: `SELECT s.provider, s.reference, s.batch, s.first_position AS first, s.last_position AS last,
        m.position, m.recipient
      FROM ${references.keyed} ${dialect.join} messaging_submission s
        ON s.reference = v_reference AND s.provider = v_provider
      LEFT JOIN messaging_message m ON ${members} ORDER BY s.batch, s.n`,
    byMessageId: `SELECT v_index, m.batch, m.position FROM ${messageIds.keyed}
      ${dialect.join} messaging_message m ${dialect.forceIndex('messaging_message_reference')} ON m.reference = v_message_id
      JOIN messaging_submission s ON s.batch = m.batch AND s.n = m.submission
        AND ${dialect.residual('s.provider = v_provider')}`,
    bySubmission: `SELECT v_index, m.batch, m.position FROM ${submissions.keyed}
      ${dialect.join} messaging_submission s ON s.batch = v_batch AND s.n = v_n
      JOIN messaging_message m ON ${members} AND m.recipient = v_recipient`,
  };
}
