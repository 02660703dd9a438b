import type { Channel } from '../message/message.js';
import { STATUS_RANK } from '../message/status.js';
import type { IntendedRecipient } from './intent.js';
import type { LedgerDatabase } from './ledger-database.js';
import { CHUNK_SIZE, CLASS_ORDER } from './schema.js';
import { readContent, type StoredContent } from './stored-content.js';

/** A due batch with the recipients it would start next. */
export interface PlannedBatch extends StoredContent {
  readonly id: string;
  readonly tenant: string;
  readonly channel: Channel;
  readonly sender: string;
  readonly deliveryReport: boolean;
  readonly revision: number;
  readonly nextSubmission: number;
  /** Its time is over: nothing more of it may be sent. */
  readonly expired: boolean;
  /** Milliseconds until its time is over; `null`: never. */
  readonly validFor: number | null;
  /** Milliseconds since it was due. */
  readonly dueFor: number;
  readonly recipients: readonly (IntendedRecipient & { readonly attempts: number })[];
  /** Recipients are left beyond `recipients`, of those that are due. */
  readonly more: boolean;
  /** Messages set back to `queued` are among those beyond. */
  readonly moreRequeued: boolean;
  /** When the first of its deferred messages is due, epoch microseconds; `null`: there is none. */
  readonly deferredUntil: number | null;
}

/** A submission whose outcome nobody recorded. */
export interface OpenSubmission extends StoredContent {
  readonly batch: string;
  readonly n: number;
  readonly tenant: string;
  readonly channel: Channel;
  readonly sender: string;
  readonly deliveryReport: boolean;
  readonly transport: string;
  readonly firstPosition: number;
  readonly lastPosition: number;
  readonly attempt: number;
  readonly firstSentAt: Date;
  /** Milliseconds until its batch's time is over, less than 0 after it; `null`: never. */
  readonly validFor: number | null;
  /** Milliseconds since its batch was due. */
  readonly dueFor: number;
  readonly recipients: readonly { readonly position: number; readonly recipient: string }[];
}

interface BatchRow {
  readonly id: string;
  readonly tenant: string;
  readonly channel: Channel;
  readonly sender: string;
  readonly content: string;
  readonly delivery_report: number;
  readonly recipient_count: number;
  readonly requeued: number;
  readonly revision: number;
  readonly expired: number | boolean;
  readonly valid_for: string | number | null;
  readonly due_for: string | number;
  next: number;
  next_submission: number;
  chunk: string | null;
}

interface MessageRow {
  readonly batch: string;
  readonly position: number;
  readonly recipient: string;
  readonly attempt: number;
}

/** Reads what a lane has to do, in the order it must be done: class, available_at, id, position. */
export class LaneWork {
  readonly #plan: string;
  readonly #times: string;
  readonly #ids;
  readonly #requeued: string;
  readonly #deferred: string;

  constructor(private readonly database: LedgerDatabase) {
    const { dialect } = database;
    this.#times = `b.valid_until - ${dialect.now} AS valid_for, ${dialect.now} - b.available_at AS due_for`;
    const due = (of: number) => `SELECT * FROM (
        SELECT b.id, b.class, b.available_at, b.recipient_count, b.phase, b.denied FROM messaging_batch b
        WHERE b.pending = 1 AND b.lane = ? AND b.class = ${of} AND b.available_at <= ${dialect.now}
          AND b.parked_until <= ${dialect.now}
        ORDER BY b.available_at, b.id LIMIT ?) AS class_${of}`;
    // Only as many batches as the slice can hold: `ahead` counts the recipients before each.
    this.#plan = `SELECT b.id, b.tenant, b.channel, b.sender, b.content, b.delivery_report, b.recipient_count,
        b.requeued, b.revision, p.next, p.next_submission, c.recipients AS chunk,
        CASE WHEN b.valid_until IS NOT NULL AND b.valid_until <= ${dialect.now} THEN 1 ELSE 0 END AS expired,
        ${this.#times}
      FROM (
        SELECT d.*,
          CASE WHEN d.phase = 0 THEN d.denied ELSE coalesce(
            (SELECT max(m.position) + 1 FROM messaging_message m WHERE m.batch = d.id), 0) END AS next,
          CASE WHEN d.phase = 0 THEN 0 ELSE coalesce(
            (SELECT max(s.n) + 1 FROM messaging_submission s WHERE s.batch = d.id), 0) END AS next_submission
        FROM (
          SELECT q.*, sum(q.recipient_count) OVER (ORDER BY q.class, q.available_at, q.id) - q.recipient_count AS ahead
          FROM (${due(CLASS_ORDER.high)} UNION ALL ${due(CLASS_ORDER.normal)}) AS q) AS d
        WHERE d.ahead < ?) AS p
      JOIN messaging_batch b ON b.id = p.id
      LEFT JOIN messaging_batch_chunk c ON c.batch = p.id
        AND c.n BETWEEN ${dialect.div('p.next', String(CHUNK_SIZE))} AND ${dialect.div('(p.next + ?)', String(CHUNK_SIZE))}
      ORDER BY p.class, p.available_at, p.id, c.n`;
    this.#ids = dialect.rows({ v_id: 'uuid' });
    this.#requeued = `SELECT m.batch, m.position, m.recipient, m.attempt FROM ${this.#ids.sql}
      ${dialect.join} messaging_message m ON m.batch = v_id AND m.status = ${STATUS_RANK.queued}
        AND (m.due_at IS NULL OR m.due_at <= ${dialect.now})
      ORDER BY m.batch, m.position`;
    this.#deferred = `SELECT m.batch, min(m.due_at) AS due_at FROM ${this.#ids.sql}
      ${dialect.join} messaging_message m ON m.batch = v_id AND m.status = ${STATUS_RANK.queued}
        AND m.due_at > ${dialect.now} GROUP BY m.batch`;
  }

  /** The lane's next due messages, at most `limit` of them. */
  async plan(lane: string, limit: number): Promise<PlannedBatch[]> {
    const rows = mergeChunks(
      await this.database.all<BatchRow>(this.#plan, [lane, limit, lane, limit, limit, limit]),
    );
    const again = rows.filter((row) => row.requeued === 1);
    const requeued = await this.#requeuedOf(again);
    const deferred = await this.#deferredOf(again);
    let room = limit;
    const planned: PlannedBatch[] = [];
    for (const row of rows) {
      if (room <= 0) break;
      const recipients = (requeued.get(row.id) ?? []).slice(0, room);
      const fresh = freshOf(row, room - recipients.length);
      const taken = recipients.length === 0 ? fresh : [...recipients, ...fresh];
      room -= taken.length;
      planned.push({
        ...headOf(row),
        id: row.id,
        revision: row.revision,
        nextSubmission: row.next_submission,
        expired: Number(row.expired) === 1,
        ...timesOf(row),
        recipients: taken,
        deferredUntil: deferred.get(row.id) ?? null,
        moreRequeued: recipients.length < (requeued.get(row.id)?.length ?? 0),
        more: taken.length < (requeued.get(row.id)?.length ?? 0) + row.recipient_count - row.next,
      });
    }
    return planned;
  }

  /** When the lane has something to do next, in milliseconds from now; `undefined`: nothing is known. */
  async nextDue(lane: string): Promise<number | undefined> {
    const { now } = this.database.dialect;
    const rows = await this.database.all<{ due_in: string | number | null }>(
      `SELECT min(${this.database.dialect.greatest('available_at', 'parked_until')}) - ${now} AS due_in
       FROM messaging_batch WHERE pending = 1 AND lane = ?`,
      [lane],
    );
    const dueIn = rows[0]?.due_in;
    return dueIn === null || dueIn === undefined ? undefined : Number(dueIn) / 1_000;
  }

  /** What a former holder of the lane left open, oldest first. */
  async open(lane: string): Promise<OpenSubmission[]> {
    const rows = await this.database.all<
      Omit<BatchRow, 'id'> &
        MessageRow & {
          n: number;
          transport: string;
          first: number;
          last: number;
          tries: number;
          first_sent_at: string | number;
        }
    >(
      `SELECT s.batch, s.n, s.transport, s.first_position AS first, s.last_position AS last, s.attempt AS tries,
         s.first_sent_at,
         b.tenant, b.channel, b.sender, coalesce(s.content, b.content) AS content, b.delivery_report,
         m.position, m.recipient, ${this.#times}
       FROM messaging_submission s ${this.database.dialect.join} messaging_batch b ON b.id = s.batch
       JOIN messaging_message m ON m.batch = s.batch AND m.position BETWEEN s.first_position AND s.last_position
         AND m.submission = s.n
       WHERE s.outcome IS NULL AND b.lane = ?
       ORDER BY b.class, b.available_at, s.batch, s.n, m.position`,
      [lane],
    );
    const open = new Map<
      string,
      OpenSubmission & { recipients: { position: number; recipient: string }[] }
    >();
    for (const row of rows) {
      const key = `${row.batch}-s${row.n}`;
      const { position, recipient } = row;
      const known = open.get(key);
      if (known) known.recipients.push({ position, recipient });
      else
        open.set(key, {
          ...headOf(row),
          batch: row.batch,
          n: row.n,
          transport: row.transport,
          firstPosition: row.first,
          lastPosition: row.last,
          attempt: row.tries,
          firstSentAt: new Date(Number(row.first_sent_at) / 1_000),
          ...timesOf(row),
          recipients: [{ position, recipient }],
        });
    }
    return [...open.values()];
  }

  async #deferredOf(rows: readonly BatchRow[]): Promise<Map<string, number>> {
    if (rows.length === 0) return new Map();
    const deferred = await this.database.all<{ batch: string; due_at: string | number }>(
      this.#deferred,
      this.#ids.bind(rows.map(({ id }) => [id])),
    );
    return new Map(deferred.map(({ batch, due_at }) => [batch, Number(due_at)]));
  }

  async #requeuedOf(
    rows: readonly BatchRow[],
  ): Promise<Map<string, PlannedBatch['recipients'][number][]>> {
    const byBatch = new Map<string, PlannedBatch['recipients'][number][]>();
    if (rows.length === 0) return byBatch;
    const messages = await this.database.all<MessageRow>(
      this.#requeued,
      this.#ids.bind(rows.map(({ id }) => [id])),
    );
    for (const { batch, position, recipient, attempt } of messages) {
      const list = byBatch.get(batch) ?? [];
      list.push({ position, recipient, requeued: true, attempts: attempt });
      byBatch.set(batch, list);
    }
    return byBatch;
  }
}

/** One row per batch, its chunks joined as they follow each other. */
function mergeChunks(rows: readonly BatchRow[]): BatchRow[] {
  const merged = new Map<string, BatchRow>();
  for (const row of rows) {
    const known = merged.get(row.id);
    if (known) {
      known.chunk += `\n${row.chunk}`;
      continue;
    }
    // Sums and maxima are BIGINT, which drivers give as text.
    row.next = Number(row.next);
    row.next_submission = Number(row.next_submission);
    merged.set(row.id, row);
  }
  return [...merged.values()];
}

function freshOf({ next, chunk }: BatchRow, most: number): PlannedBatch['recipients'] {
  if (!chunk || most <= 0) return [];
  const from = next % CHUNK_SIZE;
  return chunk
    .split('\n')
    .slice(from, from + most)
    .map((recipient, index) => ({
      position: next + index,
      recipient,
      requeued: false,
      attempts: 0,
    }));
}

function timesOf({ valid_for, due_for }: Pick<BatchRow, 'valid_for' | 'due_for'>) {
  return {
    validFor: valid_for === null ? null : Number(valid_for) / 1_000,
    dueFor: Number(due_for) / 1_000,
  };
}

function headOf(
  row: Pick<BatchRow, 'tenant' | 'channel' | 'sender' | 'content' | 'delivery_report'>,
) {
  return {
    tenant: row.tenant,
    channel: row.channel,
    sender: row.sender,
    ...readContent(row.content),
    deliveryReport: row.delivery_report === 1,
  };
}
