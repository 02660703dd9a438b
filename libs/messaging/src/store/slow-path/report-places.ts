import type { Columns, Dialect } from '../database/dialect.js';
import type { MessagePlace, ReceivedReport } from '../rows/received-report.js';
import type { Sql, StoreDatabase } from '../database/store-database.js';

/** Number of recipients whose positions are cached. */
const CAPACITY = 200_000;

const SUBMISSION_ID = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-s(\d{1,9})$/;

type Reader = Pick<Sql, 'all'>;

/** The identification of a message in a report: reference and recipient, within a provider. */
interface ReportKey {
  readonly provider: string;
  readonly reference: string;
  /** `null`: the only recipient of its submission. */
  readonly recipient: string | null;
}

interface NamedKey {
  readonly index: number;
  readonly key: ReportKey;
  readonly name: string;
}

interface PlaceRow {
  readonly v_index: number;
  readonly batch: string;
  readonly position: number;
}

/**
 * Finds the messages of reports, within the provider of each report: by the polled submission; by
 * reference and recipient; by message id; by the reference, or an id that was the whole submit
 * response, where the submission had one recipient. Positions never change, so they may be read
 * before the transaction.
 */
export class ReportPlaces {
  readonly #sql: ReturnType<typeof statementsFor>;
  readonly #references: ReferenceIndex;

  constructor(database: StoreDatabase) {
    this.#sql = statementsFor(database.dialect);
    this.#references = new ReferenceIndex(database.dialect);
  }

  /** Positions by index of the report; reports without a match are left out. */
  async find(sql: Reader, reports: readonly ReceivedReport[]): Promise<Map<number, MessagePlace>> {
    const remembered = this.#remembered(reports);
    if (remembered) return remembered;
    const places = new Map<number, MessagePlace>();
    await this.#bySubmission(sql, reports, places);
    await this.#byReference(sql, reports, places, ({ reference }) => reference);
    await this.#byMessageId(sql, reports, places);
    await this.#byReference(sql, reports, places, ({ messageId }) => messageId);
    return places;
  }

  /**
   * Drops cached entries of the reports' references and ids: the provider may have reused one for
   * another submission.
   * @returns false where no entry was cached
   */
  forget(reports: readonly ReceivedReport[]): boolean {
    return this.#references.forget(reports);
  }

  /** `undefined` unless the cache has the message of every report. */
  #remembered(reports: readonly ReceivedReport[]): Map<number, MessagePlace> | undefined {
    const places = new Map<number, MessagePlace>();
    for (let index = 0; index < reports.length; index++) {
      const { submissionId, provider, reference, recipient } = reports[index] as ReceivedReport;
      if (submissionId !== undefined || reference === null) return undefined;
      const place = this.#references.remembered({ provider, reference, recipient });
      if (place?.position === undefined) return undefined;
      places.set(index, place);
    }
    return places;
  }

  async #bySubmission(
    sql: Reader,
    reports: readonly ReceivedReport[],
    places: Map<number, MessagePlace>,
  ): Promise<void> {
    const keyed: unknown[][] = [];
    for (const [index, { submissionId, recipient }] of reports.entries()) {
      const [, batch, n] = (submissionId && SUBMISSION_ID.exec(submissionId)) || [];
      if (batch === undefined) continue;
      places.set(index, { batch, position: undefined });
      if (recipient !== null) keyed.push([index, batch, Number(n), recipient]);
    }
    if (keyed.length === 0) return;
    const { bySubmission, submissions } = this.#sql;
    for (const { v_index, batch, position } of await sql.all<PlaceRow>(
      bySubmission,
      submissions.bind(keyed),
    ))
      places.set(Number(v_index), { batch, position });
  }

  async #byReference(
    sql: Reader,
    reports: readonly ReceivedReport[],
    places: Map<number, MessagePlace>,
    referenceOf: (report: ReceivedReport) => string | null,
  ): Promise<void> {
    const wanted = new Map<number, ReportKey>();
    for (const [index, report] of withoutMessage(reports, places)) {
      const reference = referenceOf(report);
      if (reference === null) continue;
      const { provider, recipient } = report;
      wanted.set(index, { provider, reference, recipient });
    }
    for (const [index, place] of await this.#references.find(sql, wanted))
      if (place.position !== undefined || !places.has(index)) places.set(index, place);
  }

  async #byMessageId(
    sql: Reader,
    reports: readonly ReceivedReport[],
    places: Map<number, MessagePlace>,
  ): Promise<void> {
    // A thousand recipients of one submission may share an id that belongs to no message: it is
    // looked up once.
    const wanted = new Map<string, { row: unknown[]; indexes: number[] }>();
    for (const [index, { provider, messageId, reference }] of withoutMessage(reports, places)) {
      const id = messageId ?? reference;
      if (id === null) continue;
      const same = wanted.get(`${provider}\n${id}`);
      if (same) same.indexes.push(index);
      else wanted.set(`${provider}\n${id}`, { row: [index, provider, id], indexes: [index] });
    }
    if (wanted.size === 0) return;
    const { byMessageId, messageIds } = this.#sql;
    const asked = [...wanted.values()];
    const rows = await sql.all<PlaceRow>(byMessageId, messageIds.bind(asked.map(({ row }) => row)));
    const indexes = new Map(asked.map((one) => [one.indexes[0], one.indexes]));
    for (const { v_index, batch, position } of rows)
      for (const index of indexes.get(Number(v_index)) ?? [])
        places.set(index, { batch, position });
  }
}

function withoutMessage(
  reports: readonly ReceivedReport[],
  places: ReadonlyMap<number, MessagePlace>,
): [number, ReceivedReport][] {
  return [...reports.entries()].filter(([index]) => places.get(index)?.position === undefined);
}

interface IndexedSubmission {
  readonly batch: string;
  readonly first: number;
  readonly last: number;
  /** Position by recipient; `undefined` for a single recipient. */
  places: Map<string, number> | undefined;
}

interface SubmissionRow {
  readonly provider: string;
  readonly reference: string;
  readonly batch: string;
  readonly first: number;
  readonly last: number;
}

/**
 * Caches messages by (provider, reference, recipient): a campaign's thousand reports read its
 * recipients once. A provider may use one reference for several submissions, so a recipient that is
 * not cached is looked up again.
 */
class ReferenceIndex {
  readonly #known = new Map<string, readonly IndexedSubmission[]>();
  #size = 0;
  readonly #sql: ReturnType<typeof indexStatementsFor>;

  constructor(dialect: Dialect) {
    this.#sql = indexStatementsFor(dialect);
  }

  /** Positions by index of the key; keys with an unknown reference are left out. */
  async find(
    sql: Reader,
    keys: ReadonlyMap<number, ReportKey>,
  ): Promise<Map<number, MessagePlace>> {
    const places = new Map<number, MessagePlace>();
    if (keys.size === 0) return places;
    const asked = [...keys].map(([index, key]) => ({ index, key, name: nameOf(key) }));
    const unknown = asked.filter(({ name }) => !this.#known.has(name));
    const loaded = new Set(unknown.map(({ name }) => name));
    await this.#load(sql, unknown);
    const find = (wanted: readonly NamedKey[]): NamedKey[] =>
      wanted.filter(({ index, key, name }) => {
        const place = this.#place(name, key.recipient);
        if (place) places.set(index, place);
        return place && place.position === undefined && !loaded.has(name);
      });
    const stale = find(asked);
    if (stale.length > 0) {
      await this.#load(sql, stale);
      find(asked);
    }
    this.#evict();
    return places;
  }

  remembered(key: ReportKey): MessagePlace | undefined {
    return this.#place(nameOf(key), key.recipient);
  }

  forget(reports: readonly ReceivedReport[]): boolean {
    let remembered = false;
    for (const { provider, reference, messageId } of reports)
      for (const id of [reference, messageId]) {
        if (id === null) continue;
        const name = nameOf({ provider, reference: id });
        remembered ||= this.#known.has(name);
        this.#forget(name);
      }
    return remembered;
  }

  #place(name: string, recipient: string | null): MessagePlace | undefined {
    const submissions = this.#known.get(name);
    const only = submissions?.length === 1 ? submissions[0] : undefined;
    if (only && only.first === only.last) return { batch: only.batch, position: only.first };
    for (const { batch, places } of submissions ?? []) {
      const position = recipient === null ? undefined : places?.get(recipient);
      if (position !== undefined) return { batch, position };
    }
    const [some] = submissions ?? [];
    return some && { batch: some.batch, position: undefined };
  }

  async #load(sql: Reader, keys: readonly NamedKey[]): Promise<void> {
    const names = new Map(keys.map(({ name, key }) => [name, [key.provider, key.reference]]));
    if (names.size === 0) return;
    const rows = await sql.all<SubmissionRow>(
      this.#sql.submissions,
      this.#sql.references.bind([...names.values()]),
    );
    const found = new Map<string, IndexedSubmission[]>();
    for (const row of rows) {
      const { batch, first, last } = row;
      const others = found.get(nameOf(row)) ?? [];
      found.set(nameOf(row), [...others, { batch, first, last, places: undefined }]);
    }
    for (const name of names.keys()) this.#forget(name);
    const wide: IndexedSubmission[] = [];
    for (const [name, submissions] of found) {
      this.#known.set(name, submissions);
      this.#size += sizeOf(submissions);
      if (sizeOf(submissions) > 1) wide.push(...submissions);
    }
    if (wide.length > 0) await this.#loadPlaces(sql, wide);
  }

  async #loadPlaces(sql: Reader, submissions: readonly IndexedSubmission[]): Promise<void> {
    const rows = await sql.all<{ v_index: number; position: number; recipient: string }>(
      this.#sql.recipients,
      this.#sql.ranges.bind(
        submissions.map(({ batch, first, last }, index) => [index, batch, first, last]),
      ),
    );
    for (const submission of submissions) submission.places = new Map();
    for (const { v_index, position, recipient } of rows)
      submissions[Number(v_index)]?.places?.set(recipient, position);
  }

  #forget(name: string): void {
    this.#size -= sizeOf(this.#known.get(name) ?? []);
    this.#known.delete(name);
  }

  #evict(): void {
    for (const name of this.#known.keys()) {
      if (this.#size <= CAPACITY) return;
      this.#forget(name);
    }
  }
}

function sizeOf(submissions: readonly IndexedSubmission[]): number {
  return submissions.reduce((sum, { first, last }) => sum + last - first + 1, 0);
}

function nameOf({ provider, reference }: { provider: string; reference: string }): string {
  return `${provider}\n${reference}`;
}

const BY_ID = {
  v_index: 'int',
  v_provider: 'key',
  v_message_id: 'key',
} as const satisfies Columns;
const BY_SUBMISSION = {
  v_index: 'int',
  v_batch: 'uuid',
  v_n: 'int',
  v_recipient: 'key',
} as const satisfies Columns;

function statementsFor(dialect: Dialect) {
  const messageIds = dialect.rows(BY_ID);
  const submissions = dialect.rows(BY_SUBMISSION);
  return {
    messageIds,
    submissions,
    byMessageId: `SELECT v_index, m.batch, m.position FROM ${messageIds.keyed}
      ${dialect.join} messaging_message m ${dialect.forceIndex('messaging_message_reference')} ON m.reference = v_message_id
      JOIN messaging_submission s ON s.batch = m.batch AND s.n = m.submission
        AND ${dialect.residual('s.provider = v_provider')}`,
    bySubmission: `SELECT v_index, m.batch, m.position FROM ${submissions.keyed}
      ${dialect.join} messaging_submission s ON s.batch = v_batch AND s.n = v_n
      JOIN messaging_message m ON m.batch = s.batch AND m.position BETWEEN s.first_position AND s.last_position
        AND m.recipient = v_recipient`,
  };
}

const REFERENCE = { v_provider: 'key', v_reference: 'key' } as const satisfies Columns;
const RANGE = {
  v_index: 'int',
  v_batch: 'uuid',
  v_first: 'int',
  v_last: 'int',
} as const satisfies Columns;

function indexStatementsFor(dialect: Dialect) {
  const references = dialect.rows(REFERENCE);
  const ranges = dialect.rows(RANGE);
  return {
    references,
    ranges,
    submissions: `SELECT s.provider, s.reference, s.batch, s.first_position AS first, s.last_position AS last
      FROM ${references.keyed} ${dialect.join} messaging_submission s
        ON s.reference = v_reference AND s.provider = v_provider
      ORDER BY s.batch, s.n`,
    recipients: `SELECT v_index, m.position, m.recipient FROM ${ranges.keyed}
      ${dialect.join} messaging_message m ON m.batch = v_batch AND m.position BETWEEN v_first AND v_last`,
  };
}
