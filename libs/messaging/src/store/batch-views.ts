import type { Channel } from '../message/message.js';
import type { BatchStatus, MessageStatus } from '../message/status.js';
import type { BatchView, StatusCounts } from '../message/views.js';
import type { StoreDatabase } from './store-database.js';
import { BATCH_PHASE } from './schema.js';
import { readContent } from './stored-content.js';

export interface BatchRow {
  readonly id: string;
  readonly tenant: string;
  readonly channel: Channel;
  readonly lane: string;
  readonly sender: string;
  readonly content: string | null;
  readonly delivery_report: number;
  readonly parts: number;
  readonly recipient_count: number;
  readonly created_at: string | number;
  readonly send_at: string | number | null;
  readonly available_at: string | number;
  readonly valid_until: string | number | null;
  readonly phase: number;
  readonly pending: number;
  readonly due: number | boolean;
}

/** The rows as callers see them. */
export async function viewsOf(
  database: StoreDatabase,
  rows: readonly BatchRow[],
): Promise<BatchView[]> {
  const counts = await countsOf(database, rows);
  return rows.map((row) => ({
    id: row.id,
    tenant: row.tenant,
    channel: row.channel,
    sender: row.sender,
    content: row.content === null ? null : readContent(row.content).content,
    deliveryReport: row.delivery_report === 1 ? 'yes' : 'none',
    status: statusOf(row),
    createdAt: dateOf(row.created_at),
    sendAt: row.send_at === null ? null : dateOf(row.send_at),
    validUntil: row.valid_until === null ? null : dateOf(row.valid_until),
    recipients: row.recipient_count,
    parts: row.parts,
    counts: counts.get(row.id) ?? {},
  }));
}

/** Counted from the messages; what no row records is queued, or cancelled with its batch. */
async function countsOf(
  database: StoreDatabase,
  rows: readonly BatchRow[],
): Promise<Map<string, StatusCounts>> {
  const counts = new Map<string, StatusCounts>();
  if (rows.length === 0) return counts;
  const { dialect, channels } = database;
  const ids = dialect.rows({ v_id: 'uuid' });
  const grouped = await database.all<{
    batch: string;
    status: number;
    messages: string | number;
  }>(
    `SELECT m.batch, m.status, count(*) AS messages FROM ${ids.few} ${dialect.join} messaging_message m ON m.batch = v_id
       GROUP BY m.batch, m.status`,
    ids.bind(rows.map(({ id }) => [id])),
  );
  for (const { id } of rows) counts.set(id, {});
  for (const { batch, status, messages } of grouped)
    (counts.get(batch) as StatusCounts)[channels.statusOf<MessageStatus>(status)] =
      Number(messages);
  for (const row of rows) {
    const own = counts.get(row.id) as StatusCounts;
    const begun = Object.values(own).reduce((sum, n) => sum + n, 0);
    const rest = row.phase === BATCH_PHASE.cancelled ? 'cancelled' : 'queued';
    if (begun < row.recipient_count) own[rest] = (own[rest] ?? 0) + row.recipient_count - begun;
  }
  return counts;
}

function statusOf({ phase, due }: BatchRow): BatchStatus {
  switch (phase) {
    case BATCH_PHASE.accepted:
      return Number(due) === 1 ? 'queued' : 'scheduled';
    case BATCH_PHASE.sending:
      return 'sending';
    case BATCH_PHASE.completed:
      return 'completed';
    default:
      return 'cancelled';
  }
}

function dateOf(micros: string | number): Date {
  return new Date(Math.floor(Number(micros) / 1_000));
}
