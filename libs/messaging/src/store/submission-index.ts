import type { Columns } from './dialect.js';
import type { StoreDatabase, Sql } from './store-database.js';
import type { ReceivedReport } from './received-report.js';

/** Recipients whose places are kept in memory. */
const CAPACITY = 200_000;

/** What a report names its message by. */
export interface ReportKey {
  readonly provider: string;
  readonly reference: string;
  /** `null`: the one recipient of a submission that has no other. */
  readonly recipient: string | null;
}

interface NamedKey {
  readonly index: number;
  readonly key: ReportKey;
  readonly name: string;
}

export interface MessagePlace {
  readonly batch: string;
  /** `undefined`: the reference is this batch's, but none of the submission's messages is meant. */
  readonly position: number | undefined;
}

interface IndexedSubmission {
  readonly batch: string;
  readonly first: number;
  readonly last: number;
  /** Position by recipient; not needed where there is one. */
  places: Map<string, number> | undefined;
}

interface SubmissionRow {
  readonly provider: string;
  readonly reference: string;
  readonly batch: string;
  readonly first: number;
  readonly last: number;
}

const REFERENCE = { v_provider: 'key', v_reference: 'key' } as const satisfies Columns;
const RANGE = {
  v_index: 'int',
  v_batch: 'uuid',
  v_first: 'int',
  v_last: 'int',
} as const satisfies Columns;

/**
 * Finds messages by (reference, recipient). Who was where in a submission never changes, so a campaign's
 * thousand reports read its recipients once. A provider may answer several submissions with one
 * reference; a recipient not found among those remembered is looked for afresh.
 */
export class SubmissionIndex {
  readonly #known = new Map<string, readonly IndexedSubmission[]>();
  #size = 0;
  readonly #references;
  readonly #ranges;

  constructor(private readonly database: StoreDatabase) {
    this.#references = database.dialect.rows(REFERENCE);
    this.#ranges = database.dialect.rows(RANGE);
  }

  /** The place of each key whose reference is known, by its index. */
  async find(
    sql: Pick<Sql, 'all'>,
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

  /** Remembers no more what the reports' references, or ids, led to. False: it remembered nothing of them. */
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

  /** The place of a key, as far as memory tells. */
  known(key: ReportKey): MessagePlace | undefined {
    return this.#place(nameOf(key), key.recipient);
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

  async #load(sql: Pick<Sql, 'all'>, keys: readonly NamedKey[]): Promise<void> {
    const names = new Map(keys.map(({ name, key }) => [name, [key.provider, key.reference]]));
    if (names.size === 0) return;
    const rows = await sql.all<SubmissionRow>(
      `SELECT s.provider, s.reference, s.batch, s.first_position AS first, s.last_position AS last
       FROM ${this.#references.keyed} ${this.database.dialect.join} messaging_submission s
         ON s.reference = v_reference AND s.provider = v_provider
       ORDER BY s.batch, s.n`,
      this.#references.bind([...names.values()]),
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

  async #loadPlaces(
    sql: Pick<Sql, 'all'>,
    submissions: readonly IndexedSubmission[],
  ): Promise<void> {
    const rows = await sql.all<{ v_index: number; position: number; recipient: string }>(
      `SELECT v_index, m.position, m.recipient FROM ${this.#ranges.keyed}
       ${this.database.dialect.join} messaging_message m ON m.batch = v_batch AND m.position BETWEEN v_first AND v_last`,
      this.#ranges.bind(
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
