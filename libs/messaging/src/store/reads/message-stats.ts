import type { MessageStats, StatsOptions } from '../../message/views.js';
import type { StoreDatabase } from '../database/store-database.js';
import type { BatchScope } from '../rows/cursor.js';
import { idAt } from './message-list.js';

type Big = string | number;

const MILLISECONDS = { hour: 3_600_000, day: 86_400_000 } as const;

/** More than between the time of a batch and that in its id, in milliseconds. */
const SLACK = 60_000;

/** Counts the messages of a tenant by the hour or day of their acceptance, with empty ones. */
export async function messageStats(
  database: StoreDatabase,
  { tenant, channel }: BatchScope,
  { since, until, interval, tag, domain }: Omit<StatsOptions, 'tenant'>,
): Promise<MessageStats[]> {
  const { dialect, channels } = database;
  const step = MILLISECONDS[interval];
  const [from, to] = [since.getTime(), until.getTime()];
  const slot = dialect.div('b.created_at', String(step * 1_000));
  const conditions = [
    'b.tenant = ? AND b.id >= ? AND b.id <= ? AND b.channel = ? AND b.created_at >= ? AND b.created_at < ?',
    tag !== undefined &&
      'EXISTS (SELECT 1 FROM messaging_batch_label l WHERE l.batch = b.id AND l.tag = ?)',
    domain !== undefined && "b.sender LIKE ? ESCAPE '!'",
  ].filter((one) => one !== false);
  const params = [
    tenant,
    idAt(from - SLACK, '0'),
    idAt(to + SLACK, 'f'),
    channel,
    from * 1_000,
    to * 1_000,
    ...(tag === undefined ? [] : [tag]),
    ...(domain === undefined ? [] : [`%@${domain.replaceAll(/[!%_]/g, '!$&')}`]),
  ];
  const accepted = await database.all<{ slot: Big; messages: Big }>(
    `SELECT ${slot} AS slot, sum(b.recipient_count) AS messages FROM messaging_batch b
     WHERE ${conditions.join(' AND ')} GROUP BY ${slot}`,
    params,
  );
  const events = channels.find(channel)?.events ?? [];
  const isEvent = events.map(() => 'r.raw_status = ?').join(' OR ') || '1 = 0';
  const logged = await database.all<{
    slot: Big;
    status: number | null;
    event: string | null;
    messages: Big;
  }>(
    `SELECT slot, status, event, count(*) AS messages FROM (
       SELECT DISTINCT ${slot} AS slot, r.batch, r.position, r.status,
         CASE WHEN r.status IS NULL THEN r.raw_status END AS event
       FROM messaging_batch b ${dialect.join} messaging_report r
         ${dialect.forceIndex('messaging_report_batch')} ON r.batch = b.id
       WHERE ${conditions.join(' AND ')} AND r.position IS NOT NULL
         AND (r.status IS NOT NULL OR ${isEvent})) AS logged
     GROUP BY slot, status, event`,
    [...params, ...events],
  );
  const slots = new Map<number, { accepted: number; counts: Record<string, number> }>();
  for (let at = Math.floor(from / step); at * step < to; at++)
    slots.set(at, { accepted: 0, counts: {} });
  for (const row of accepted) {
    const own = slots.get(Number(row.slot));
    if (own) own.accepted = Number(row.messages);
  }
  for (const row of logged) {
    const own = slots.get(Number(row.slot));
    const name = row.status === null ? row.event : channels.statusOf(row.status);
    if (own && name !== null) own.counts[name] = Number(row.messages);
  }
  return [...slots].map(([at, own]) => ({ start: new Date(at * step), ...own }));
}
