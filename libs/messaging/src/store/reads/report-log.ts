import type { ReportedStatus } from '../../message/status.js';
import type { Page, ReportFilter, ReportView } from '../../message/views.js';
import type { StoreDatabase } from '../database/store-database.js';
import { type BatchScope, decodeCursor, encodeCursor } from '../rows/cursor.js';

interface ReportRow {
  readonly id: string | number;
  readonly batch: string;
  readonly position: number | null;
  readonly sender: string;
  readonly recipient: string | null;
  readonly status: number | null;
  readonly raw_status: string;
  readonly error_code: string | null;
  readonly provider_time: string | number | null;
  readonly received_at: string | number;
  readonly sequence: number | null;
}

/** Reads the report log, oldest first. */
export class ReportLog {
  constructor(private readonly database: StoreDatabase) {}

  /** @param position restricts the reports to one message of the batch */
  async find(
    scope: BatchScope,
    filter: ReportFilter & { readonly limit: number },
    position?: number,
  ): Promise<Page<ReportView>> {
    const { conditions, params } = this.#conditionsOf(scope, filter);
    if (position !== undefined) {
      conditions.push('r.position = ?');
      params.push(position);
    }
    const rows = await this.database.all<ReportRow>(
      `SELECT r.id, r.batch, r.position, b.sender,
         coalesce(m.recipient, r.recipient) AS recipient, r.status, r.raw_status, r.error_code,
         r.provider_time, r.received_at, r.sequence
       FROM messaging_report r
       JOIN messaging_batch b ON b.id = r.batch
       LEFT JOIN messaging_message m ON m.batch = r.batch AND m.position = r.position
       WHERE ${conditions.join(' AND ')} ORDER BY r.id LIMIT ?`,
      [...params, filter.limit + 1],
    );
    const page = rows.slice(0, filter.limit);
    return {
      data: page.map((row) => this.#viewOf(row)),
      nextCursor:
        rows.length > filter.limit ? encodeCursor(String((page.at(-1) as ReportRow).id)) : null,
    };
  }

  #conditionsOf(
    { tenant, channel }: BatchScope,
    { batchIds, idempotencyKey, to, status, since, cursor }: ReportFilter,
  ): { conditions: string[]; params: unknown[] } {
    const conditions = ['r.tenant = ?', 'b.channel = ?'];
    const params: unknown[] = [tenant, channel];
    const add = (condition: string, ...values: unknown[]) => {
      conditions.push(condition);
      params.push(...values);
    };
    if (batchIds) add(`r.batch IN (${batchIds.map(() => '?').join(', ') || 'NULL'})`, ...batchIds);
    if (idempotencyKey !== undefined)
      add(
        'r.batch = (SELECT k.id FROM messaging_batch k WHERE k.tenant = ? AND k.channel = ? AND k.idempotency_key = ?)',
        tenant,
        channel,
        idempotencyKey,
      );
    if (to !== undefined) add('coalesce(m.recipient, r.recipient) = ?', to);
    if (status !== undefined) add('r.status = ?', this.database.channels.rankOf(status) ?? null);
    if (since) add('r.received_at >= ?', since.getTime() * 1_000);
    if (cursor !== undefined) add('r.id > ?', Number(decodeCursor(cursor, 'number')));
    return { conditions, params };
  }

  #viewOf(row: ReportRow): ReportView {
    return {
      batchId: row.batch,
      messageId: row.position === null ? null : `${row.batch}-${row.position}`,
      sender: row.sender,
      recipient: row.recipient ?? '',
      status:
        row.status === null ? null : this.database.channels.statusOf<ReportedStatus>(row.status),
      rawStatus: row.raw_status,
      errorCode: row.error_code,
      providerTime: new Date(Math.floor(Number(row.provider_time ?? row.received_at) / 1_000)),
      receivedAt: new Date(Math.floor(Number(row.received_at) / 1_000)),
      sequence: row.sequence,
    };
  }
}
