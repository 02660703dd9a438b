import { messageIdOf } from '../../message/ids.js';
import type { ReportDetails } from '../../message/events.js';
import { storedFormsOf } from '../../message/phone-identity.js';
import type { ReportedStatus } from '../../message/status.js';
import type { MessageView, Page, ReportFilter, ReportView } from '../../message/views.js';
import type { Sql, StoreDatabase } from '../database/store-database.js';
import { type BatchScope, decodeCursor, encodeCursor } from '../rows/cursor.js';
import type { KeyedDigests } from '../rows/keyed-digests.js';

/** Reports that one page reads in search of those that match its filter. */
const WINDOW = 10_000;

/** Times its limit: rows that a page without a filter reads, of which some may be of other channels. */
const CHANNELS = 10;

/** More reports than a message has: of smaller batches, all reports fit into a window. */
const REPORTS_EACH = 10;

/** Most reports in a timeline; a message has a handful. */
const MOST_REPORTS = 100_000;

/** A 64-bit integer, as the driver returns it; times are epoch microseconds. */
type Big = string | number;

type ReportRow = Pick<
  ReportView,
  'batchId' | 'sender' | 'source' | 'rawStatus' | 'errorCode' | 'sequence'
> & {
  readonly id: Big;
  readonly position: number | null;
  readonly recipient: string | null;
  readonly status: number | null;
  readonly providerTime: Big;
  readonly receivedAt: Big;
  readonly details: string | null;
};

interface LogRow {
  readonly position: number;
  readonly rank: number | null;
  readonly rawStatus: string;
  readonly at: Big;
}

/** The place of a report in the order of a list. */
interface Place {
  readonly id: Big;
  readonly receivedAt: Big;
}

interface NamedBatch {
  readonly id: string;
  readonly recipients: number;
}

/** SQL, and the values of its placeholders. */
interface Clause {
  readonly sql: string;
  readonly params: readonly unknown[];
}

/** The reports of one index that come after a cursor, in its order. */
interface Range {
  readonly index: string;
  readonly after: Clause;
  readonly order: string;
  /** The last report of the window; `undefined`: the range ends within it. */
  readonly end: Place | undefined;
  readonly until: (end: Place) => Clause;
  readonly cursorOf: (last: Place) => string;
}

/** An entry of a message: a status, or an event of its channel. */
export interface LoggedEntry {
  readonly name: string;
  readonly at: Date;
  readonly details: ReportDetails | null;
}

type Filter = Omit<ReportFilter, 'tenant'> & { readonly limit: number };

/**
 * Reads reports, oldest first. A page reads a window of an index: the next reports of a tenant, or
 * of some batches. It ends at its limit or at the end of the window, so that it costs the same
 * however many reports there are, and however few of them match.
 */
export class ReportList {
  constructor(
    private readonly database: StoreDatabase,
    private readonly digests: KeyedDigests,
  ) {}

  async page({ tenant, channel }: BatchScope, filter: Filter): Promise<Page<ReportView>> {
    const { to, status, since, limit } = filter;
    const conditions: Clause[] = [];
    // A report of a message has no recipient or the message's: most rows need no look at it.
    if (to !== undefined) {
      const forms = storedFormsOf(to);
      const isOne = `IN (${forms.map(() => '?').join(', ')})`;
      conditions.push({
        sql: `(r.recipient ${isOne} OR r.recipient IS NULL) AND coalesce(m.recipient, r.recipient) ${isOne}`,
        params: [...forms, ...forms],
      });
    }
    if (status !== undefined) {
      const rank = this.database.channels.rankOf(status) ?? null;
      conditions.push({ sql: 'r.status = ?', params: [rank] });
    }
    const batches = await this.#batches({ tenant, channel }, filter);
    if (batches?.length === 0) return { data: [], nextCursor: null };
    if (batches && since)
      conditions.push({ sql: 'r.received_at >= ?', params: [since.getTime() * 1_000] });
    const isFiltered = conditions.length > 0;
    const range = batches
      ? await this.#ofBatches(batches, filter, isFiltered)
      : await this.#ofTenant(tenant, filter, isFiltered ? WINDOW : CHANNELS * limit);
    if (!batches) conditions.push({ sql: 'b.channel = ?', params: [channel] });
    if (range.end) conditions.push(range.until(range.end));
    const rows = await this.#rows(range, conditions, limit + 1);
    const data = rows.slice(0, limit);
    const last = rows.length > limit ? data.at(-1) : range.end;
    const nextCursor = last === undefined ? null : encodeCursor(range.cursorOf(last));
    return { data: data.map((row) => this.#viewOf(row)), nextCursor };
  }

  /** Every report of one message. */
  async ofMessage({ batchId, position }: Pick<MessageView, 'batchId' | 'position'>) {
    const range = this.#inBatches([batchId], 0);
    const conditions = [{ sql: 'r.position = ?', params: [position] }];
    const rows = await this.#rows(range, conditions, MOST_REPORTS);
    return rows.map((row) => this.#viewOf(row));
  }

  /** Events of each of the messages, oldest first; reads every report of their batches. */
  async logs(
    places: readonly { readonly id: string; readonly batch: string; readonly position: number }[],
    sql: Pick<Sql, 'all'>,
  ): Promise<ReadonlyMap<string, readonly LoggedEntry[]>> {
    const logs = new Map<string, LoggedEntry[]>(places.map(({ id }) => [id, []]));
    const batches = [...new Set(places.map(({ batch }) => batch))];
    if (batches.length === 0) return logs;
    const positions = [...new Set(places.map(({ position }) => position))];
    const marks = (values: readonly unknown[]) => values.map(() => '?').join(', ');
    const rows = await sql.all<Pick<ReportRow, 'batchId' | 'details'> & LogRow>(
      `SELECT r.batch AS "batchId", r.position, r.status AS "rank", r.raw_status AS "rawStatus",
         coalesce(r.provider_time, r.received_at) AS "at", r.details
       FROM ${this.#reports({ index: 'messaging_report_batch' })}
       WHERE r.batch IN (${marks(batches)}) AND r.position IN (${marks(positions)})
         AND r.sequence IS NOT NULL
       ORDER BY r.id`,
      [...batches, ...positions],
    );
    for (const { batchId, position, rank, rawStatus, at, details } of rows)
      logs.get(messageIdOf(batchId, position))?.push({
        name: rank === null ? rawStatus : this.database.channels.nameOf(rank),
        at: dateOf(at),
        details: details === null ? null : (JSON.parse(details) as ReportDetails),
      });
    return logs;
  }

  /** The batches that the filter names; `undefined`: it names none. */
  async #batches({ tenant, channel }: BatchScope, { batchIds, idempotencyKey }: Filter) {
    if (!batchIds && idempotencyKey === undefined) return undefined;
    const among = (column: string, values: readonly string[] | undefined) =>
      values ? `AND b.${column} IN (${values.map(() => '?').join(', ') || 'NULL'})` : '';
    const keys =
      idempotencyKey === undefined ? undefined : this.digests.ofIdempotencyKey(idempotencyKey);
    return this.database.all<NamedBatch>(
      `SELECT b.id, b.recipient_count AS recipients FROM messaging_batch b WHERE b.tenant = ? AND b.channel = ?
         ${among('id', batchIds)} ${among('idempotency_key', keys)}`,
      [tenant, channel, ...(batchIds ?? []), ...(keys ?? [])],
    );
  }

  async #ofTenant(tenant: string, { since, cursor }: Filter, window: number): Promise<Range> {
    const [time = '0', number = '0'] =
      cursor === undefined ? [] : decodeCursor(cursor, 'report').split('.');
    const earliest = since ? since.getTime() * 1_000 : 0;
    const at = Math.max(Number(time), earliest);
    const id = at > Number(time) ? 0 : Number(number);
    const range: Omit<Range, 'end'> = {
      index: 'messaging_report_list',
      // MariaDB finds no range of an index by a comparison of rows.
      after: {
        sql: 'r.tenant = ? AND r.received_at >= ? AND (r.received_at > ? OR r.id > ?)',
        params: [tenant, at, at, id],
      },
      order: 'r.received_at, r.id',
      until: ({ receivedAt, id: last }) => ({
        sql: 'r.received_at <= ? AND (r.received_at < ? OR r.id <= ?)',
        params: [receivedAt, receivedAt, last],
      }),
      cursorOf: (last) => `${last.receivedAt}.${last.id}`,
    };
    const [end] = await this.database.all<Place>(
      `SELECT r.received_at AS "receivedAt", r.id FROM ${this.#reports(range)}
       WHERE ${range.after.sql} ORDER BY ${range.order} LIMIT 1 OFFSET ?`,
      [...range.after.params, window - 1],
    );
    return { ...range, end: end && { receivedAt: Number(end.receivedAt), id: Number(end.id) } };
  }

  /** The window ends where the first batch has given its share of it. */
  async #ofBatches(
    batches: readonly NamedBatch[],
    { cursor, limit }: Filter,
    isFiltered: boolean,
  ): Promise<Range> {
    const after = cursor === undefined ? 0 : Number(decodeCursor(cursor, 'number'));
    const ids = batches.map(({ id }) => id);
    const range = this.#inBatches(ids, after);
    const most = Math.ceil(WINDOW / batches.length);
    const share = isFiltered ? most : Math.min(limit, most);
    const end = await this.#endOfShares(batches, after, share);
    if (isFiltered || batches.length === 1) return { ...range, end };
    // Finds the end of the page in the index, before other tables are read for the whole window.
    const [page] = await this.database.all<{ id: Big }>(
      `SELECT r.id FROM ${this.#reports(range)} WHERE ${range.after.sql} AND r.id <= ?
       ORDER BY r.id LIMIT 1 OFFSET ?`,
      [...range.after.params, end?.id ?? Number.MAX_SAFE_INTEGER, limit],
    );
    return { ...range, end: placeOf(page?.id) ?? end };
  }

  /** One query in the text for each batch: MariaDB reads a joined batch from its first report. */
  async #endOfShares(batches: readonly NamedBatch[], after: number, share: number) {
    const large = batches.filter(({ recipients }) => recipients * REPORTS_EACH > share);
    if (large.length === 0) return undefined;
    const end = `SELECT * FROM (SELECT r.id FROM ${this.#reports({ index: 'messaging_report_batch' })}
      WHERE r.batch = ? AND r.id > ? ORDER BY r.id LIMIT 1 OFFSET ?) AS e`;
    const [first] = await this.database.all<{ id: Big | null }>(
      `SELECT min(ends.id) AS id FROM (${large.map(() => end).join(' UNION ALL ')}) AS ends`,
      large.flatMap(({ id }) => [id, after, share]),
    );
    return placeOf(first?.id);
  }

  #inBatches(batches: readonly string[], after: number): Range {
    return {
      index: 'messaging_report_batch',
      after: {
        sql: `r.batch IN (${batches.map(() => '?').join(', ')}) AND r.id > ?`,
        params: [...batches, after],
      },
      order: 'r.id',
      end: undefined,
      until: ({ id }) => ({ sql: 'r.id <= ?', params: [id] }),
      cursorOf: ({ id }) => String(id),
    };
  }

  #reports({ index }: Pick<Range, 'index'>): string {
    return `messaging_report r ${this.database.dialect.forceIndex(index)}`;
  }

  #rows(range: Range, conditions: readonly Clause[], limit: number): Promise<ReportRow[]> {
    const where = [range.after, ...conditions];
    return this.database.all<ReportRow>(
      `SELECT r.id, r.batch AS "batchId", r.position, b.sender, r.provider AS "source",
         coalesce(m.recipient, r.recipient) AS recipient, r.status, r.raw_status AS "rawStatus",
         r.error_code AS "errorCode", coalesce(r.provider_time, r.received_at) AS "providerTime",
         r.received_at AS "receivedAt", r.sequence, r.details
       FROM ${this.#reports(range)} ${this.database.dialect.join} messaging_batch b ON b.id = r.batch
       LEFT JOIN messaging_message m ON m.batch = r.batch AND m.position = r.position
       WHERE ${where.map(({ sql }) => sql).join(' AND ')} ORDER BY ${range.order} LIMIT ?`,
      [...where.flatMap(({ params }) => params), limit],
    );
  }

  #viewOf({ id: _id, position, ...row }: ReportRow): ReportView {
    return {
      ...row,
      messageId: position === null ? null : messageIdOf(row.batchId, position),
      recipient: row.recipient ?? '',
      status:
        row.status === null ? null : this.database.channels.statusOf<ReportedStatus>(row.status),
      providerTime: dateOf(row.providerTime),
      receivedAt: dateOf(row.receivedAt),
      details: row.details === null ? null : (JSON.parse(row.details) as ReportDetails),
    };
  }
}

function placeOf(id: Big | null | undefined): Place | undefined {
  return id === null || id === undefined ? undefined : { id: Number(id), receivedAt: 0 };
}

export function dateOf(microseconds: Big): Date {
  return new Date(Math.floor(Number(microseconds) / 1_000));
}
