import type { Attachment, AttachmentInfo, Personal } from '../../message/content/email-content.js';
import type { BatchLabels } from '../../message/labels.js';
import { BoundedCache } from '../database/bounded-cache.js';
import type { Sql, StoreDatabase } from '../database/store-database.js';
import { setImmediate as turn } from 'node:timers/promises';
import { personalOf, type TextRow, textsOf } from '../rows/batch-data.js';
import {
  longBytesOf,
  type ReadContent,
  readContent,
  type StoredContent,
} from '../rows/stored-content.js';
import { CHUNK_SIZE } from '../schema/tables.js';

/** Most bytes of each cache; an entry that is larger is still kept while it is the only one. */
const MOST = 32 * 1_024 * 1_024;

/** Most bytes of long texts that one query reads, unless those of one batch are more. */
const TEXTS = 4 * 1_024 * 1_024;

/** A content below this length is parsed in less time than it is found. */
const SHORT = 1_024;

/** A position in a batch, where the batch has names or variables of its recipients. */
export interface PersonalPlace {
  readonly batch: string;
  readonly position: number;
}

/** A content as its column has it. */
export interface ContentRow {
  readonly batch: string;
  readonly content: string;
}

/**
 * Reads the data that only some batches have: long texts, names and variables of recipients, and attachments.
 * The rows never change but by an erasure, so that the requests of a campaign share one read.
 */
export class BatchData {
  readonly #lines = new BoundedCache<readonly string[]>(MOST);
  readonly #attachments = new BoundedCache<readonly Buffer[]>(MOST);
  readonly #contents = new BoundedCache<StoredContent>(MOST);

  constructor(private readonly database: StoreDatabase) {}

  /**
   * The content of a batch: one object for all plans of the batch, so that what a transport makes
   * of it, such as the parts of an email, is made once.
   */
  content(json: string): StoredContent {
    if (json.length < SHORT) return readContent(json);
    const content = this.#contents.get(json) ?? readContent(json);
    this.#contents.set(json, content, 2 * json.length);
    return content;
  }

  /** Reads the long texts of the contents, of those that have any. @returns reads and decrypts their contents */
  async reader(rows: readonly ContentRow[]): Promise<ReadContent> {
    const read = await this.stored(rows);
    return (batch, json) => {
      const stored = read(batch, json);
      return stored && this.database.seals.open(batch, stored);
    };
  }

  /** As {@link reader}, without a decryption, for readers that show no codes. */
  async stored(rows: readonly ContentRow[]): Promise<ReadContent> {
    const whole = new Map<string, StoredContent>();
    const missing: (ContentRow & { readonly bytes: number })[] = [];
    for (const row of rows) {
      const bytes = longBytesOf(row.content);
      if (bytes === 0) continue;
      const key = keyOf(row.batch, row.content);
      const known = this.#contents.get(key);
      if (known) whole.set(key, known);
      else missing.push({ ...row, bytes });
    }
    let read = false;
    for (const group of groupsOf(missing)) {
      if (read) await turn();
      read = true;
      const texts = await this.#texts(group.map(({ batch }) => batch));
      for (const { batch, content, bytes } of group) {
        const own = texts.get(batch) ?? [];
        if (own.reduce((sum, row) => sum + row.bytes.byteLength, 0) !== bytes) continue;
        const stored = readContent(content, textsOf(own));
        this.#contents.set(keyOf(batch, content), stored, 2 * bytes);
        whole.set(keyOf(batch, content), stored);
      }
    }
    return (batch, json) =>
      longBytesOf(json) === 0 ? this.content(json) : whole.get(keyOf(batch, json));
  }

  async #texts(batches: readonly string[]): Promise<ReadonlyMap<string, readonly TextRow[]>> {
    const { dialect } = this.database;
    const ids = dialect.rows({ v_id: 'uuid' });
    const rows = await this.database.all<TextRow>(
      `SELECT t.batch, t.n, t.bytes FROM ${ids.keyed} ${dialect.join} messaging_batch_text t
         ON t.batch = v_id ORDER BY t.batch, t.n, t.piece`,
      ids.bind([...new Set(batches)].map((id) => [id])),
    );
    const texts = new Map<string, TextRow[]>();
    for (const row of rows) {
      const own = texts.get(row.batch);
      if (own) own.push(row);
      else texts.set(row.batch, [row]);
    }
    return texts;
  }

  /** In the order of `places`. */
  async personal(places: readonly PersonalPlace[]): Promise<(Personal | undefined)[]> {
    const chunks = new Map<string, readonly string[] | undefined>();
    for (const place of places) chunks.set(chunkOf(place), this.#lines.get(chunkOf(place)));
    const missing = [...chunks].flatMap(([key, lines]) => (lines ? [] : [key]));
    for (const [key, lines] of await this.#read(missing)) {
      this.#lines.set(
        key,
        lines,
        lines.reduce((sum, line) => sum + line.length, 0),
      );
      chunks.set(key, lines);
    }
    return places.map((place) =>
      personalOf(chunks.get(chunkOf(place))?.[place.position % CHUNK_SIZE]),
    );
  }

  /** Tags and metadata of those batches that have any. */
  async labels(
    batches: Iterable<string>,
    sql: Pick<Sql, 'all'> = this.database,
  ): Promise<ReadonlyMap<string, BatchLabels>> {
    const { dialect } = this.database;
    const ids = dialect.rows({ v_id: 'uuid' });
    const rows = await sql.all<{ batch: string; labels: string }>(
      `SELECT l.batch, l.labels FROM ${ids.keyed} ${dialect.join} messaging_batch_label l
         ON l.batch = v_id AND l.n = 0`,
      ids.bind([...new Set(batches)].map((id) => [id])),
    );
    return new Map(rows.map(({ batch, labels }) => [batch, JSON.parse(labels) as BatchLabels]));
  }

  /** `undefined`: the batch does not have one of them. */
  async attachments(
    batch: string,
    infos: readonly AttachmentInfo[],
  ): Promise<Attachment[] | undefined> {
    const digests = [...new Set(infos.map(({ sha256 }) => sha256))];
    const key = [batch, ...digests].join(' ');
    const contents = this.#attachments.get(key) ?? (await this.#readAttachments(batch, digests));
    const isWhole = infos.every(
      (info) => contents[digests.indexOf(info.sha256)]?.length === info.size,
    );
    if (!isWhole) return undefined;
    const size = contents.reduce((sum, { length }) => sum + length, 0);
    this.#attachments.set(key, contents, size);
    return infos.map(({ filename, contentType, contentId, sha256 }) => ({
      filename,
      contentType,
      ...(contentId !== undefined && { contentId }),
      content: contents[digests.indexOf(sha256)] as Buffer,
    }));
  }

  async #read(keys: readonly string[]): Promise<[key: string, lines: readonly string[]][]> {
    if (keys.length === 0) return [];
    const { dialect } = this.database;
    const source = dialect.rows<readonly string[]>({
      v_batch: ['uuid', ([batch]) => batch],
      v_n: ['int', ([, n]) => Number(n)],
    });
    const rows = await this.database.all<{ batch: string; n: number; entries: string }>(
      `SELECT p.batch, p.n, p.entries FROM ${source.keyed}
         ${dialect.join} messaging_batch_personal p ON p.batch = v_batch AND p.n = v_n`,
      source.bind(keys.map((key) => key.split(' '))),
    );
    const found = new Map(
      rows.map(({ batch, n, entries }) => [`${batch} ${n}`, entries.split('\n')]),
    );
    return keys.map((key) => [key, found.get(key) ?? []]);
  }

  async #readAttachments(batch: string, digests: readonly string[]): Promise<Buffer[]> {
    const contents: Buffer[] = [];
    for (const digest of digests) {
      const pieces = await this.database.all<{ bytes: Uint8Array }>(
        'SELECT bytes FROM messaging_batch_attachment WHERE batch = ? AND digest = ? ORDER BY n',
        [batch, digest],
      );
      contents.push(Buffer.concat(pieces.map(({ bytes }) => bytes)));
    }
    return contents;
  }
}

function keyOf(batch: string, json: string): string {
  return `${batch} ${json}`;
}

/** Contents with at most {@link TEXTS} bytes together, or one of them. */
function groupsOf<T extends { readonly bytes: number }>(rows: readonly T[]): (readonly T[])[] {
  const groups: T[][] = [];
  let size = 0;
  for (const row of rows) {
    size += row.bytes;
    const last = groups.at(-1);
    if (last && size <= TEXTS) last.push(row);
    else {
      groups.push([row]);
      size = row.bytes;
    }
  }
  return groups;
}

function chunkOf({ batch, position }: PersonalPlace): string {
  return `${batch} ${Math.floor(position / CHUNK_SIZE)}`;
}
