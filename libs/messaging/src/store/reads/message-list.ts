import type { EmailLabels } from '../../message/email-content.js';
import type { MessageStatus } from '../../message/status.js';
import type { ListedMessage, MessageFilter, MessageView, Page } from '../../message/views.js';
import type { RowSource } from '../database/dialect.js';
import type { StoreDatabase } from '../database/store-database.js';
import { stateOf } from '../rows/batch-state.js';
import { type BatchScope, decodeCursor, encodeCursor } from '../rows/cursor.js';
import { CHUNK_SIZE } from '../schema/tables.js';
import { dateOf } from './report-list.js';

/** Batches, and recipients, that one page looks at in search of those that match its filter. */
const BATCHES = 1_000;
const WINDOW = 10_000;

const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Most milliseconds between the time of a batch and that in its id. */
const SLACK = 60_000;

type Big = string | number;

interface Head {
  readonly id: string;
  readonly channel: string;
  readonly sender: string;
  readonly state: number;
  readonly recipients: number;
  readonly createdAt: Big;
  readonly sendAt: Big | null;
}

/** Positions of a batch, `to` excluded. */
interface Range {
  readonly head: Head;
  readonly from: number;
  readonly to: number;
}

interface Located {
  readonly head: Head;
  readonly position: number;
  readonly recipient: string;
}

interface Started extends Pick<MessageView, 'position' | 'errorCode' | 'attempts'> {
  readonly batch: string;
  readonly status: number;
}

type Place = readonly [batch: string, position: number];

type Filter = Omit<MessageFilter, 'tenant'> & { readonly limit: number };

/**
 * Reads the messages of a tenant, one row for each recipient: the newest batch first, in a batch by
 * position. A page looks at a window of batches and recipients, so that it costs the same however
 * few of them match.
 */
export class MessageList {
  readonly #chunks: RowSource;
  readonly #places: RowSource;
  readonly #ids: RowSource;

  constructor(private readonly database: StoreDatabase) {
    const { dialect } = database;
    this.#chunks = dialect.rows({ v_batch: 'uuid', v_first: 'int', v_last: 'int' });
    this.#places = dialect.rows({ v_batch: 'uuid', v_position: 'int' });
    this.#ids = dialect.rows({ v_id: 'uuid' });
  }

  async page(scope: BatchScope, filter: Filter): Promise<Page<ListedMessage>> {
    const { to, status, limit } = filter;
    const after = filter.cursor === undefined ? undefined : placeOf(filter.cursor);
    const heads = await this.#heads(scope, filter, after);
    const isFiltered = to !== undefined || status !== undefined;
    const { ranges, end } = rangesOf(
      heads.filter((head) => matches(head, scope, filter)),
      after,
      isFiltered ? WINDOW : limit,
    );
    const last = heads.at(-1);
    const reached = end ?? (last && heads.length === BATCHES ? endOf(last) : undefined);
    const located = (await this.#located(ranges)).filter(
      ({ recipient }) => to === undefined || recipient === to,
    );
    const found = (await this.#messages(located)).filter(
      (message) => status === undefined || message.status === status,
    );
    const page = found.slice(0, limit);
    const data = await this.#described(page);
    const next = found.length > limit ? lastOf(page) : reached;
    return { data, nextCursor: next ? encodeCursor(next.join('.')) : null };
  }

  /** Batches of every channel, newest first. */
  #heads(
    { tenant }: BatchScope,
    { tag, batchId, since, until }: Filter,
    after: Place | undefined,
  ): Promise<Head[]> {
    const latest = [after?.[0], batchId, until && idAt(until.getTime() + SLACK, 'f')];
    const earliest = [batchId, since && idAt(since.getTime() - SLACK, '0')];
    const bounds = [
      latest.filter((id) => id !== undefined).toSorted()[0] ?? LAST_ID,
      earliest
        .filter((id) => id !== undefined)
        .toSorted()
        .at(-1) ?? FIRST_ID,
    ];
    const columns = `b.id, b.channel, b.sender, b.state, b.recipient_count AS recipients,
      b.created_at AS "createdAt", b.send_at AS "sendAt"`;
    return tag === undefined
      ? this.database.all<Head>(
          `SELECT ${columns} FROM messaging_batch b
           WHERE b.tenant = ? AND b.id <= ? AND b.id >= ? ORDER BY b.id DESC LIMIT ?`,
          [tenant, ...bounds, BATCHES],
        )
      : this.database.all<Head>(
          `SELECT ${columns} FROM messaging_batch_label l
           ${this.database.dialect.join} messaging_batch b ON b.id = l.batch
           WHERE l.tenant = ? AND l.tag = ? AND l.batch <= ? AND l.batch >= ?
           ORDER BY l.batch DESC LIMIT ?`,
          [tenant, tag, ...bounds, BATCHES],
        );
  }

  /** The recipients, also of messages that have not started. */
  async #located(ranges: readonly Range[]): Promise<Located[]> {
    if (ranges.length === 0) return [];
    const { dialect } = this.database;
    const rows = await this.database.all<{ batch: string; n: number; recipients: string }>(
      `SELECT c.batch, c.n, c.recipients FROM ${this.#chunks.keyed} ${dialect.join}
         messaging_batch_chunk c ON c.batch = v_batch AND c.n >= v_first AND c.n <= v_last`,
      this.#chunks.bind(
        ranges.map(({ head, from, to }) => [head.id, chunkOf(from), chunkOf(to - 1)]),
      ),
    );
    const chunks = new Map(
      rows.map(({ batch, n, recipients }) => [`${batch} ${n}`, recipients.split('\n')]),
    );
    return ranges.flatMap(({ head, from, to }) =>
      Array.from({ length: to - from }, (_, index) => {
        const position = from + index;
        const lines = chunks.get(`${head.id} ${chunkOf(position)}`);
        return { head, position, recipient: lines?.[position % CHUNK_SIZE] ?? '' };
      }),
    );
  }

  async #messages(located: readonly Located[]): Promise<Omit<ListedMessage, 'subject' | 'tags'>[]> {
    if (located.length === 0) return [];
    const { dialect, channels } = this.database;
    const rows = await this.database.all<Started>(
      `SELECT m.batch, m.position, m.status, m.attempt AS "attempts", m.error_code AS "errorCode"
       FROM ${this.#places.keyed} ${dialect.join}
         messaging_message m ON m.batch = v_batch AND m.position = v_position`,
      this.#places.bind(located.map(({ head, position }) => [head.id, position])),
    );
    const started = new Map(rows.map((row) => [`${row.batch}-${row.position}`, row]));
    return located.map(({ head, position, recipient }) => {
      const id = `${head.id}-${position}`;
      const own = started.get(id);
      const waiting = stateOf(head) === 'cancelled' ? 'cancelled' : 'queued';
      return {
        id,
        batchId: head.id,
        position,
        recipient,
        status: own ? channels.statusOf<MessageStatus>(own.status) : waiting,
        errorCode: own?.errorCode ?? null,
        attempts: own?.attempts ?? 0,
        sender: head.sender,
        acceptedAt: dateOf(head.createdAt),
        sendAt: head.sendAt === null ? null : dateOf(head.sendAt),
      };
    });
  }

  async #described(page: readonly Omit<ListedMessage, 'subject' | 'tags'>[]) {
    if (page.length === 0) return [];
    const { dialect } = this.database;
    const batches = [...new Set(page.map(({ batchId }) => batchId))];
    // The server takes the subject from the content, which may have some megabytes.
    const rows = await this.database.all<{
      id: string;
      subject: string | null;
      labels: string | null;
    }>(
      `SELECT b.id, ${dialect.jsonText('b.content', 'subject')} AS subject, l.labels
       FROM ${this.#ids.keyed} ${dialect.join} messaging_batch b ON b.id = v_id
       LEFT JOIN messaging_batch_label l ON l.batch = b.id AND l.n = 0`,
      this.#ids.bind(batches.map((id) => [id])),
    );
    const described = new Map(rows.map(({ id, ...row }) => [id, row]));
    return page.map((message): ListedMessage => {
      const { subject = null, labels = null } = described.get(message.batchId) ?? {};
      return { ...message, subject, tags: readLabels(labels)?.tags ?? [] };
    });
  }
}

function readLabels(json: string | null): EmailLabels | undefined {
  return json === null ? undefined : (JSON.parse(json) as EmailLabels);
}

/** A UUIDv7 of this time in milliseconds, the lowest or the highest. */
export function idAt(time: number, fill: '0' | 'f'): string {
  const hex = Math.max(0, time).toString(16).padStart(12, '0');
  const [two, twelve] = [fill.repeat(4), fill.repeat(12)];
  return `${hex.slice(0, 8)}-${hex.slice(8)}-${two}-${two}-${twelve}`;
}

function matches(
  { channel, sender, createdAt }: Head,
  scope: BatchScope,
  { from, since, until }: Filter,
): boolean {
  const at = Number(createdAt) / 1_000;
  return (
    channel === scope.channel &&
    (from === undefined || sender === from) &&
    (since === undefined || at >= since.getTime()) &&
    (until === undefined || at < until.getTime())
  );
}

/** `end`: the last position, where `most` ended the ranges. */
function rangesOf(heads: readonly Head[], after: Place | undefined, most: number) {
  const ranges: Range[] = [];
  let left = most;
  for (const head of heads) {
    const from = head.id === after?.[0] ? after[1] + 1 : 0;
    const to = Math.min(head.recipients, from + left);
    if (to <= from) continue;
    ranges.push({ head, from, to });
    left -= to - from;
    if (left === 0) return { ranges, end: [head.id, to - 1] as const };
  }
  return { ranges, end: undefined };
}

function chunkOf(position: number): number {
  return Math.floor(position / CHUNK_SIZE);
}

function placeOf(cursor: string): Place {
  const [batch = '', position = ''] = decodeCursor(cursor, 'place').split('.');
  return [batch, Number(position)];
}

function endOf({ id, recipients }: Head): Place {
  return [id, recipients];
}

function lastOf(page: readonly Pick<MessageView, 'batchId' | 'position'>[]): Place | undefined {
  const last = page.at(-1);
  return last && [last.batchId, last.position];
}
