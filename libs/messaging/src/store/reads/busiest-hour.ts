import type { Sql } from '../database/sql.js';

const HOUR = 3_600_000;
const DAYS = 14;

/** The most messages of a tenant in one of the whole hours of the last 14 days, by the counts of outcomes. */
export async function busiestHour(
  sql: Pick<Sql, 'all'>,
  tenant: string,
  now: number,
): Promise<number> {
  const hour = now - (now % HOUR);
  const rows = await sql.all<{ start: string | number; messages: string | number }>(
    `SELECT h.start, sum(h.messages) AS messages FROM messaging_outcome_hour h
     WHERE h.tenant = ? AND h.start >= ? AND h.start < ? GROUP BY h.start`,
    [tenant, (hour - DAYS * 24 * HOUR) * 1_000, hour * 1_000],
  );
  const hours = new Map<number, number>();
  for (const { start, messages } of rows) {
    const at = Math.floor(Number(start) / (HOUR * 1_000));
    hours.set(at, (hours.get(at) ?? 0) + Number(messages));
  }
  return Math.max(0, ...hours.values());
}
