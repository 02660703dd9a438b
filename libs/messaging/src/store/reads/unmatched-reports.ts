import type { Page, UnmatchedReport } from '../../message/views.js';
import type { StoreDatabase } from '../database/store-database.js';
import { decodeCursor, encodeCursor } from '../rows/cursor.js';
import { dateOf } from './report-list.js';

/** A 64-bit integer, as the driver returns it; times are epoch microseconds. */
type Big = string | number;

/** Reports that one page looks at in search of those of its provider. */
const WINDOW = 10_000;

/** Most reports that are counted. */
const MOST = 100_000;

const FIRST = Number.MAX_SAFE_INTEGER;

/** Reports of the log that name no message of the store. */
export class UnmatchedReports {
  constructor(private readonly database: Pick<StoreDatabase, 'all' | 'channels'>) {}

  /** Newest first. */
  async page({
    provider,
    cursor,
    limit,
  }: {
    readonly provider: string | undefined;
    readonly cursor: string | undefined;
    readonly limit: number;
  }): Promise<Page<UnmatchedReport>> {
    const before = cursor === undefined ? FIRST : Number(decodeCursor(cursor, 'number'));
    const [end] = await this.database.all<{ id: Big }>(
      `SELECT r.id FROM messaging_report r WHERE r.batch IS NULL AND r.id < ?
       ORDER BY r.id DESC LIMIT 1 OFFSET ${WINDOW - 1}`,
      [before],
    );
    const rows = await this.database.all<{
      id: Big;
      provider: string;
      reference: string | null;
      messageId: string | null;
      recipient: string | null;
      status: number | null;
      rawStatus: string;
      errorCode: string | null;
      providerTime: Big | null;
      receivedAt: Big;
    }>(
      `SELECT r.id, r.provider, r.reference, r.message_id AS "messageId", r.recipient, r.status,
         r.raw_status AS "rawStatus", r.error_code AS "errorCode",
         r.provider_time AS "providerTime", r.received_at AS "receivedAt"
       FROM messaging_report r WHERE r.batch IS NULL AND r.id < ? AND r.id >= ?
         ${provider === undefined ? '' : 'AND r.provider = ?'}
       ORDER BY r.id DESC LIMIT ?`,
      [before, Number(end?.id ?? 0), ...(provider === undefined ? [] : [provider]), limit + 1],
    );
    const shown = rows.slice(0, limit);
    const next = rows.length > limit ? shown.at(-1)?.id : end?.id;
    const { channels } = this.database;
    return {
      data: shown.map(({ id: _id, status, providerTime, receivedAt, ...row }) => ({
        ...row,
        status: status === null ? null : channels.statusOf(status),
        providerTime: providerTime === null ? null : dateOf(providerTime),
        receivedAt: dateOf(receivedAt),
      })),
      nextCursor: next === undefined ? null : encodeCursor(String(next)),
    };
  }

  /** Number by provider; of more than {@link MOST} some are not counted. */
  async counts(): Promise<Map<string, number>> {
    const rows = await this.database.all<{ provider: string; n: Big }>(
      `SELECT u.provider, count(*) AS n FROM (
         SELECT r.provider FROM messaging_report r WHERE r.batch IS NULL LIMIT ${MOST}) AS u
       GROUP BY u.provider ORDER BY u.provider`,
    );
    return new Map(rows.map(({ provider, n }) => [provider, Number(n)]));
  }
}
