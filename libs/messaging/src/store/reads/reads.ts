import { isBatchId, messageIdOf, messagePlaceOf, submissionIdOf } from '../../message/ids.js';
import { BatchNotFoundError, MessageNotFoundError } from '../../message/errors.js';
import type { BatchStatus, ChannelStatus } from '../../message/status.js';
import type {
  BatchView,
  ListedBatch,
  MessageTimeline,
  MessageView,
  Page,
  ReportFilter,
  ReportView,
  StatusCounts,
  SubmittedMessage,
} from '../../message/views.js';
import { BATCH_STATE, stateOf } from '../rows/batch-state.js';
import {
  type BatchScope,
  decodeCursor,
  encodeCursor,
  type ListScope,
  pageOf,
  type PageRequest,
} from '../rows/cursor.js';
import type { BatchData } from './batch-data.js';
import {
  type BatchRow,
  batchesOf,
  batchStatusOf,
  type Big,
  progressOf,
  type Shown,
  shownOf,
  viewOf,
} from './batch-views.js';
import type { KeyedDigests } from '../rows/keyed-digests.js';
import { hasOtherChannels, LAST_ID, newestBatches } from './newest-batches.js';
import { dateOf, type LoggedEntry, ReportList } from './report-list.js';
import { errorTextOf, requestsOf } from './messages/message-requests.js';
import { resendLinks } from './messages/message-requests.js';
import { deferredUntilOf, reasonOf } from './deferrals.js';
import { BatchCounts, hasEnded, isLarge, notStartedStatus } from './batch-counts.js';
import { CHUNK_SIZE } from '../schema/tables.js';
import type { Sql, StoreDatabase } from '../database/store-database.js';
import type { Holds } from '../verbs/holds.js';

interface ShownRow {
  readonly batch: string;
  readonly content: string | null;
}

type BatchHead = Pick<BatchRow, 'id' | 'channel' | 'state' | 'recipients' | 'due' | 'waits'>;

type MessageRow = Pick<MessageView, 'position' | 'recipient' | 'errorCode' | 'attempts'> & {
  readonly status: number;
  readonly dueAt: Big | null;
};

/** The message's columns are null where it has no row yet. */
interface SubmittedRow {
  readonly state: number;
  readonly sender: string;
  readonly content: string | null;
  readonly createdAt: Big;
  readonly recipients: number;
  readonly recipient: string | null;
  readonly status: number | null;
  readonly attempts: number | null;
  readonly errorCode: string | null;
  readonly dueAt: Big | null;
  readonly provider: string | null;
  readonly providerId: string | null;
  readonly firstSentAt: Big | null;
  readonly details: string | null;
}

const REFERENCE = /^[^\p{Cc}\p{Cs}]{1,255}$/u;

const MESSAGE_COLUMNS =
  'm.recipient, m.status, m.attempt AS "attempts", m.error_code AS "errorCode", m.due_at AS "dueAt"';

/**
 * Most recipients of a page of batches whose messages are counted, as counts are stored for large
 * batches alone, at their end: after them a page ends before its limit.
 */
const MOST_COUNTED = 10_000;

/** Batches among which a page looks for those with its status, or of a channel of all tenants. */
const MOST_HEADS = 1_000;

export class Reads {
  readonly #batches: string;
  readonly #reports: ReportList;
  readonly #counts: BatchCounts;

  constructor(
    private readonly database: StoreDatabase,
    digests: KeyedDigests,
    private readonly data: BatchData,
    private readonly holds: Pick<Holds, 'index'>,
  ) {
    this.#reports = new ReportList(database, digests);
    this.#counts = new BatchCounts(database);
    this.#batches = batchesOf(database.dialect.now);
  }

  /** @throws BatchNotFoundError */
  async batch(id: string, scope: BatchScope): Promise<BatchView> {
    const row = await this.batchRow(this.database, id, scope);
    const state = stateOf(row);
    const hasWork = row.state < BATCH_STATE.draining;
    const hold = hasWork ? (await this.holds.index()).of(row.lane) : undefined;
    const deferral = state === 'deferred' ? await reasonOf(this.database, id) : null;
    const counts = (await this.#counts.stored([row])).get(id);
    const shown = await this.#shown([{ batch: id, content: row.content }]);
    return {
      ...viewOf(row, counts ?? (await this.#counts.count([row])).get(id) ?? {}, shown),
      reason: deferral ?? hold?.reason ?? null,
      held: hold !== undefined,
    };
  }

  /**
   * Newest first; a large batch at work has no counts. A page may end before its limit: see
   * {@link MOST_COUNTED}.
   */
  async batches(
    { tenants, channel }: ListScope,
    { cursor, limit, status }: PageRequest & { readonly status?: BatchStatus | undefined },
  ): Promise<Page<ListedBatch>> {
    const isSearch = status !== undefined || hasOtherChannels({ tenants, channel });
    const window = isSearch ? MOST_HEADS : limit + 1;
    const heads = await newestBatches<BatchHead>(
      this.database,
      `b.id, b.channel, b.state, b.recipient_count AS recipients,
       ${progressOf(this.database.dialect.now)}`,
      {
        tenants,
        channel,
        latest: cursor === undefined ? LAST_ID : decodeCursor(cursor, 'uuid'),
        excluded: true,
        limit: window,
      },
    );
    const found = heads.filter(
      (head) =>
        (channel === undefined || head.channel === channel) &&
        (status === undefined || batchStatusOf(head) === status),
    );
    const stored = await this.#counts.stored(found.slice(0, limit + 1));
    let counted = 0;
    const beyond = found.findIndex((head, index) => {
      const isRead = !stored.has(head.id) && (!isLarge(head) || hasEnded(head));
      return isRead && (counted += head.recipients) > MOST_COUNTED && index > 0;
    });
    const { data, nextCursor } = pageOf(
      found,
      beyond < 0 ? limit : Math.min(limit, beyond),
      ({ id }) => id,
    );
    const last = heads.length === window ? heads.at(-1) : undefined;
    return {
      data: await this.#byId(
        data.map(({ id }) => id),
        stored,
      ),
      nextCursor: nextCursor ?? (last ? encodeCursor(last.id) : null),
    };
  }

  /** In the order given, without those that retention deleted meanwhile. */
  async #byId(
    ids: readonly string[],
    stored: ReadonlyMap<string, StatusCounts>,
  ): Promise<ListedBatch[]> {
    if (ids.length === 0) return [];
    const rows = await this.database.all<BatchRow>(
      `${this.#batches} WHERE b.id IN (${ids.map(() => '?').join(', ')}) ORDER BY b.id DESC`,
      ids,
    );
    const counted = await this.#counts.count(
      rows.filter((row) => !stored.has(row.id) && (!isLarge(row) || hasEnded(row))),
    );
    const shown = await this.#shown(rows.map(({ id, content }) => ({ batch: id, content })));
    return rows.map((row) => viewOf(row, stored.get(row.id) ?? counted.get(row.id) ?? null, shown));
  }

  /** Address keys in the order of the batch, started or not. @throws BatchNotFoundError */
  async recipients(
    id: string,
    scope: BatchScope,
    { cursor, limit }: PageRequest,
  ): Promise<Page<string>> {
    const row = await this.batchRow(this.database, id, scope);
    const { lines, nextCursor } = await this.#lines(row, cursor, limit);
    return { data: lines, nextCursor };
  }

  /** The messages of all recipients, started or not, in the order of the batch. @throws BatchNotFoundError */
  async deliveries(
    id: string,
    scope: BatchScope,
    { cursor, limit }: PageRequest,
  ): Promise<Page<MessageView>> {
    const row = await this.batchRow(this.database, id, scope);
    const { from, lines, nextCursor } = await this.#lines(row, cursor, limit);
    const started = await this.database.all<MessageRow>(
      `SELECT m.position, ${MESSAGE_COLUMNS} FROM messaging_message m
       WHERE m.batch = ? AND m.position >= ? AND m.position < ?`,
      [id, from, from + lines.length],
    );
    const messages = new Map(started.map((message) => [message.position, message]));
    const waits = {
      status: notStartedStatus(row),
      errorCode: null,
      attempts: 0,
      deferredUntil: null,
    };
    const data = lines.map((recipient, index): MessageView => {
      const position = from + index;
      const message = messages.get(position);
      const own = message ? this.#messageOf(message) : waits;
      return { ...own, id: messageIdOf(id, position), batchId: id, position, recipient };
    });
    return { data, nextCursor };
  }

  /** Address keys of the next recipients, the first at the position `from`. */
  async #lines({ id, recipients }: BatchRow, cursor: string | undefined, limit: number) {
    const from = cursor === undefined ? 0 : Number(decodeCursor(cursor, 'position')) + 1;
    const end = Math.min(from + limit, recipients);
    const first = Math.floor(from / CHUNK_SIZE);
    const chunks = await this.database.all<{ recipients: string }>(
      'SELECT recipients FROM messaging_batch_chunk WHERE batch = ? AND n BETWEEN ? AND ? ORDER BY n',
      [id, first, Math.floor((end - 1) / CHUNK_SIZE)],
    );
    const lines = chunks.flatMap((chunk) => chunk.recipients.split('\n'));
    const skipped = first * CHUNK_SIZE;
    return {
      from,
      lines: lines.slice(from - skipped, end - skipped),
      nextCursor: end < recipients ? encodeCursor(String(end - 1)) : null,
    };
  }

  /** The messages that have started, in the order of the batch. @throws BatchNotFoundError */
  async messages(
    id: string,
    scope: BatchScope,
    { cursor, limit }: PageRequest,
  ): Promise<Page<MessageView>> {
    await this.batchRow(this.database, id, scope);
    const after = cursor === undefined ? -1 : Number(decodeCursor(cursor, 'position'));
    const rows = await this.database.all<MessageRow>(
      `SELECT m.position, ${MESSAGE_COLUMNS} FROM messaging_message m
       WHERE m.batch = ? AND m.position > ? ORDER BY m.position LIMIT ?`,
      [id, after, limit + 1],
    );
    const { data, nextCursor } = pageOf(rows, limit, ({ position }) => position);
    const views = data.map((row) => ({
      ...this.#messageOf(row),
      id: messageIdOf(id, row.position),
      batchId: id,
    }));
    return { data: views, nextCursor };
  }

  #messageOf({ dueAt, ...row }: MessageRow) {
    const deferredUntil = deferredUntilOf(row.status, dueAt);
    return { ...row, status: this.#statusOf(row.status), deferredUntil };
  }

  /** One message by `{batchId}-{position}` or the provider's id. @throws MessageNotFoundError */
  async message(id: string, scope: BatchScope): Promise<SubmittedMessage> {
    const place = messagePlaceOf(id) ?? (await this.#placeOf(id, scope));
    const row = place && (await this.#submitted(place.batch, place.position, scope));
    if (!row || place.position >= row.recipients) throw new MessageNotFoundError(id);
    const { batch, position } = place;
    const shown = await this.#shown([{ batch, content: row.content }]);
    return {
      ...answerOf(row),
      id: messageIdOf(batch, position),
      batchId: batch,
      position,
      recipient: row.recipient ?? (await this.#plannedRecipient(batch, position)),
      ...shown(batch, row.content),
      status: row.status === null ? notStartedStatus(row) : this.#statusOf(row.status),
      errorCode: row.errorCode,
      errorText:
        row.errorCode && (await errorTextOf(this.database, batch, position, row.errorCode)),
      attempts: row.attempts ?? 0,
      deferredUntil: deferredUntilOf(row.status, row.dueAt),
      provider: row.provider,
      providerId: row.providerId,
      acceptedAt: dateOf(row.createdAt),
      sentAt: row.firstSentAt === null ? null : dateOf(row.firstSentAt),
    };
  }

  /** The submission of a message that was submitted. @throws MessageNotFoundError */
  async submissionOf(
    id: string,
    { tenant, channel }: BatchScope,
  ): Promise<{ submissionId: string; provider: string; recipient: string }> {
    const place = messagePlaceOf(id);
    const [row] = !place
      ? []
      : await this.database.all<{ n: number; provider: string; recipient: string }>(
          `SELECT s.n, s.provider, m.recipient FROM messaging_message m
              JOIN messaging_batch b ON b.id = m.batch AND b.tenant = ? AND b.channel = ?
              JOIN messaging_submission s ON s.batch = m.batch AND s.n = m.submission
              WHERE m.batch = ? AND m.position = ? AND m.recipient <> ''`,
          [tenant, channel, place.batch, place.position],
        );
    if (!place || !row) throw new MessageNotFoundError(id);
    const { n, provider, recipient } = row;
    return { submissionId: submissionIdOf(place.batch, n), provider, recipient };
  }

  /** @throws MessageNotFoundError */
  async timeline(id: string, scope: BatchScope): Promise<MessageTimeline> {
    const message = await this.message(id, scope);
    const { batchId, position } = message;
    const links = await resendLinks(this.database, batchId, position);
    const submissions = await requestsOf(this.database, batchId, position);
    return { ...message, reports: await this.#reports.ofMessage(message), submissions, ...links };
  }

  /** The reports and events of messages by their ids, oldest first. */
  logs(
    ids: readonly string[],
    sql: Pick<Sql, 'all'> = this.database,
  ): Promise<ReadonlyMap<string, readonly LoggedEntry[]>> {
    const places = ids.flatMap((id) => {
      const place = messagePlaceOf(id);
      return place ? [{ id, ...place }] : [];
    });
    return this.#reports.logs(places, sql);
  }

  reports(
    scope: BatchScope,
    filter: ReportFilter & { readonly limit: number },
  ): Promise<Page<ReportView>> {
    return this.#reports.page(scope, filter);
  }

  /** @throws BatchNotFoundError */
  async batchRow(
    sql: Pick<Sql, 'all'>,
    id: string,
    { tenant, channel }: BatchScope,
    lock = false,
  ): Promise<BatchRow> {
    if (!isBatchId(id)) throw new BatchNotFoundError(String(id).slice(0, 36));
    const [row] = await sql.all<BatchRow>(
      `${this.#batches} WHERE b.id = ? AND b.tenant = ? AND b.channel = ? ${lock ? this.database.dialect.forUpdate('b') : ''}`,
      [id, tenant, channel],
    );
    if (!row) throw new BatchNotFoundError(id);
    return row;
  }

  /** Those of the batches that are the tenant's on the channel, locked in the order of their ids. */
  batchRows(
    tx: Pick<Sql, 'all'>,
    ids: readonly string[],
    { tenant, channel }: BatchScope,
  ): Promise<BatchRow[]> {
    return tx.all<BatchRow>(
      `${this.#batches} WHERE b.id IN (${ids.map(() => '?').join(', ')}) AND b.tenant = ? AND b.channel = ?
       ORDER BY b.id ${this.database.dialect.forUpdate('b')}`,
      [...ids, tenant, channel],
    );
  }

  #statusOf(rank: number): ChannelStatus {
    return this.database.channels.nameOf(rank);
  }

  /** Reads the long texts of the contents. @returns the part of a content that views show */
  async #shown(rows: readonly ShownRow[]): Promise<Shown> {
    const read = await this.data.stored(
      rows.flatMap(({ batch, content }) => (content === null ? [] : [{ batch, content }])),
    );
    return (batch, json) => shownOf(json === null ? undefined : read(batch, json));
  }

  async #submitted(
    batch: string,
    position: number,
    { tenant, channel }: BatchScope,
  ): Promise<SubmittedRow | undefined> {
    const [row] = await this.database.all<SubmittedRow>(
      `SELECT b.state, b.sender, coalesce(s.content, b.content) AS content,
         b.created_at AS "createdAt", b.recipient_count AS "recipients", ${MESSAGE_COLUMNS},
         m.reference AS "providerId", s.provider, s.first_sent_at AS "firstSentAt", s.details
       FROM messaging_batch b
       LEFT JOIN messaging_message m ON m.batch = b.id AND m.position = ?
       LEFT JOIN messaging_submission s ON s.batch = m.batch AND s.n = m.submission
       WHERE b.id = ? AND b.tenant = ? AND b.channel = ?`,
      [position, batch, tenant, channel],
    );
    return row;
  }

  async #placeOf(reference: string, { tenant, channel }: BatchScope) {
    if (!REFERENCE.test(reference)) return undefined;
    const [place] = await this.database.all<{ batch: string; position: number }>(
      `SELECT m.batch, m.position FROM messaging_message m
       JOIN messaging_batch b ON b.id = m.batch AND b.tenant = ? AND b.channel = ?
       WHERE m.reference = ?`,
      [tenant, channel, reference],
    );
    return place;
  }

  /** Recipient of a message that has no row yet. */
  async #plannedRecipient(batch: string, position: number): Promise<string> {
    const [chunk] = await this.database.all<{ recipients: string }>(
      'SELECT recipients FROM messaging_batch_chunk WHERE batch = ? AND n = ?',
      [batch, Math.floor(position / CHUNK_SIZE)],
    );
    return chunk?.recipients.split('\n')[position % CHUNK_SIZE] ?? '';
  }
}

/** The requested sender where the provider's response has none. */
function answerOf({ details, sender }: SubmittedRow) {
  const answer = (details === null ? {} : JSON.parse(details)) as Record<string, unknown>;
  const text = (value: unknown) =>
    typeof value === 'string' || typeof value === 'number' ? String(value) : null;
  return {
    sender: text(answer['sender']) ?? sender,
    category: text(answer['category']),
    cost: text(answer['cost']),
    currency: text(answer['currency']),
  };
}
