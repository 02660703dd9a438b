import type { ReportDetails } from '../../message/events.js';
import { messageIdOf } from '../../message/ids.js';
import type { Channel } from '../../message/message.js';
import { type ChannelStatus, STATUS_RANK } from '../../message/status.js';
import type { RowSource } from '../database/dialect.js';
import type { Sql } from '../database/sql.js';
import type { StoreDatabase } from '../database/store-database.js';
import { CHUNK_SIZE } from '../schema/tables.js';
import { notStartedStatus } from './batch-counts.js';

/** Recipients of batches that are read together; a larger batch is read by itself, in pages. */
const SMALL = 100;

/** A message in the form that the spend guard gets. */
export interface GuardedMessage {
  readonly batchId: string;
  /** `{batchId}-{position}`. */
  readonly messageId: string;
  readonly channel: Channel;
  /** Address key; an erased one is empty. */
  readonly recipient: string;
  readonly status: ChannelStatus;
  /** Number of the statuses that it has had, without events, where it is `expired`; else of its changes. */
  readonly statuses: number;
  /** Of its last submission; `null`: it has none. */
  readonly provider: string | null;
  /** Further data of the provider's answer, where that is about this message alone; `null`: none. */
  readonly answer: ReportDetails | null;
}

/** A report with further data. */
export interface DetailedReport {
  readonly batchId: string;
  /** `null`: no message of the batch matches. */
  readonly messageId: string | null;
  /** `null`: a status without a mapping, or an event. */
  readonly status: ChannelStatus | null;
  readonly details: ReportDetails;
}

interface Head {
  readonly id: string;
  readonly channel: string;
  readonly state: number;
  readonly recipients: number;
}

interface Row {
  readonly batch: string;
  readonly position: number;
  readonly recipient: string;
  readonly status: number;
  readonly statuses: number | string;
  readonly provider: string | null;
  readonly answer: string | null;
}

/** Reads the messages of batches in pages, also those that have not started. */
export class GuardedMessages {
  readonly #ids: RowSource<string>;

  constructor(private readonly database: StoreDatabase) {
    this.#ids = database.dialect.rows<string>({ v_id: ['uuid', (id) => id] });
  }

  /** Pages of at most some thousand messages; those of one batch follow each other. */
  async *of(
    batches: readonly string[],
    sql: Pick<Sql, 'all'> = this.database,
  ): AsyncGenerator<readonly GuardedMessage[]> {
    const { dialect } = this.database;
    const heads = await sql.all<Head>(
      `SELECT b.id, b.channel, b.state, b.recipient_count AS recipients FROM ${this.#ids.keyed}
       ${dialect.join} messaging_batch b ${dialect.forceIndex('PRIMARY')} ON b.id = v_id`,
      this.#ids.bind([...new Set(batches)]),
    );
    const small = heads.filter(({ recipients }) => Number(recipients) <= SMALL);
    if (small.length > 0) yield this.#together(small, sql);
    for (const head of heads) if (Number(head.recipients) > SMALL) yield* this.#inPages(head, sql);
  }

  /** Reports with further data, of all messages of the batches. */
  async details(
    batches: readonly string[],
    sql: Pick<Sql, 'all'> = this.database,
  ): Promise<readonly DetailedReport[]> {
    const { dialect } = this.database;
    const rows = await sql.all<{
      readonly batch: string;
      readonly position: number | null;
      readonly status: number | null;
      readonly details: string;
    }>(
      `SELECT r.batch, r.position, r.status, r.details FROM ${this.#ids.keyed}
       ${dialect.join} messaging_report r ${dialect.forceIndex('messaging_report_batch')} ON r.batch = v_id
       WHERE r.details IS NOT NULL`,
      this.#ids.bind([...new Set(batches)]),
    );
    return rows.map(({ batch, position, status, details }) => ({
      batchId: batch,
      messageId: position === null ? null : messageIdOf(batch, position),
      status: status === null ? null : this.database.channels.statusOf(status),
      details: JSON.parse(details) as ReportDetails,
    }));
  }

  async #together(heads: readonly Head[], sql: Pick<Sql, 'all'>): Promise<GuardedMessage[]> {
    const { dialect } = this.database;
    const index = dialect.forceIndex('PRIMARY');
    const rows = await sql.all<Row>(
      `SELECT ${COLUMNS} FROM ${this.#ids.keyed}
       ${dialect.join} messaging_message m ${index} ON m.batch = v_id ${SUBMISSION}`,
      this.#ids.bind(heads.map(({ id }) => id)),
    );
    const started = new Map<string, Row[]>(heads.map(({ id }) => [id, []]));
    for (const row of rows) started.get(row.batch)?.push(row);
    const waiting = heads.filter(({ id, recipients }) => started.get(id)!.length < recipients);
    const chunks =
      waiting.length === 0
        ? []
        : await sql.all<{ batch: string; recipients: string }>(
            `SELECT c.batch, c.recipients FROM ${this.#ids.keyed}
             ${dialect.join} messaging_batch_chunk c ${index} ON c.batch = v_id AND c.n = 0`,
            this.#ids.bind(waiting.map(({ id }) => id)),
          );
    const recipients = new Map(chunks.map((chunk) => [chunk.batch, chunk.recipients.split('\n')]));
    return heads.flatMap((head) => {
      const own = started.get(head.id)!;
      const rest = recipients.get(head.id)?.slice(own.length) ?? [];
      return [
        ...own.map((row) => this.#messageOf(head, row)),
        ...rest.map((one, n) => waitingOf(head, own.length + n, one)),
      ];
    });
  }

  async *#inPages(head: Head, sql: Pick<Sql, 'all'>): AsyncGenerator<GuardedMessage[]> {
    for (let from = 0; from < head.recipients; from += CHUNK_SIZE) {
      const rows = await sql.all<Row>(
        `SELECT ${COLUMNS} FROM messaging_message m ${SUBMISSION}
         WHERE m.batch = ? AND m.position >= ? AND m.position < ? ORDER BY m.position`,
        [head.id, from, from + CHUNK_SIZE],
      );
      const page = rows.map((row) => this.#messageOf(head, row));
      if (from + page.length < Math.min(head.recipients, from + CHUNK_SIZE)) {
        const [chunk] = await sql.all<{ recipients: string }>(
          'SELECT c.recipients FROM messaging_batch_chunk c WHERE c.batch = ? AND c.n = ?',
          [head.id, from / CHUNK_SIZE],
        );
        const rest = chunk?.recipients.split('\n').slice(page.length) ?? [];
        const at = from + page.length;
        page.push(...rest.map((one, n) => waitingOf(head, at + n, one)));
      }
      yield page;
    }
  }

  /** A message that waits for another try has its status as the negative rank. */
  #messageOf({ id, channel }: Head, row: Row): GuardedMessage {
    const { position, recipient, status, statuses, provider, answer } = row;
    const name = status < 0 ? 'queued' : this.database.channels.statusOf(status);
    return {
      batchId: id,
      messageId: messageIdOf(id, position),
      channel: channel as Channel,
      recipient,
      status: name,
      statuses: Number(statuses),
      provider,
      answer: answer === null ? null : (JSON.parse(answer) as ReportDetails),
    };
  }
}

const COLUMNS = `m.batch, m.position, m.recipient, m.status,
  CASE WHEN m.status = ${STATUS_RANK.expired} AND m.sequence > 1 THEN (
    SELECT count(*) FROM messaging_report r
    WHERE r.batch = m.batch AND r.position = m.position AND r.sequence > 0 AND r.status IS NOT NULL)
  ELSE m.sequence END AS statuses, s.provider,
  CASE WHEN s.first_position = s.last_position THEN s.details END AS answer`;

const SUBMISSION = 'LEFT JOIN messaging_submission s ON s.batch = m.batch AND s.n = m.submission';

function waitingOf(
  { id, channel, state }: Head,
  position: number,
  recipient: string,
): GuardedMessage {
  const status = notStartedStatus({ state });
  return {
    batchId: id,
    messageId: messageIdOf(id, position),
    channel: channel as Channel,
    recipient,
    status,
    statuses: 0,
    provider: null,
    answer: null,
  };
}
