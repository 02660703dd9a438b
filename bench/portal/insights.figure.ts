import { MessageHistory } from '@dundun/messaging/operations';
import { ChannelRegistry } from '@dundun/messaging/ports';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../harness/data.source.js';
import { type DatabaseKind, describeDatabase, makeDatabase } from '../harness/database.place.js';
import { startApp } from '../harness/messaging.app.js';
import type { ResultBook } from '../harness/result.book.js';
import { quantile } from '../harness/rounds.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const DAYS = 30;
/** Hours of which the counts are in rows of 5 minutes. */
const DETAILED = 3;
const TENANTS = 100;
/** Columns of the times until a message was sent, and delivered. */
const TIMES = ['sent', 'delivered'].flatMap((name) =>
  Array.from({ length: 14 }, (_, n) => `${name}_${n}`),
);
/** Milliseconds at the 95th percentile. */
const GOAL = 50;

export interface InsightsExtent {
  /** Messages of 30 days. */
  readonly messages: number;
  readonly calls: number;
}

/** W4: time of the figures of Insights, which the overview of operators has, over the counts of so many messages. */
export async function measureInsights(
  book: ResultBook,
  kind: DatabaseKind,
  { messages, calls }: InsightsExtent,
): Promise<void> {
  const place = await makeDatabase(kind);
  const app = await startApp({
    url: place.url,
    messaging: { store: { migrate: true, outcomes: true }, dispatch: { enabled: false } },
  });
  try {
    const registry = app.get(ChannelRegistry, { strict: false });
    const ranks = ['delivered', 'undelivered'].map((status) => registry.rankOf(status));
    const rows = await fill(place.url, messages, ranks);
    const history = app.get(MessageHistory, { strict: false });
    const name = await describeDatabase(kind);
    const of = `at ${messages.toLocaleString('en')} messages in ${rows.toLocaleString('en')} rows`;
    for (const [what, length, tenants, goal] of [
      ['24 hours of all accounts', DAY, 'all', true],
      ['24 hours of one account', DAY, ['tenant 1'], true],
      ['7 days of all accounts', 7 * DAY, 'all', false],
    ] as const) {
      const times: number[] = [];
      let cpu = process.cpuUsage();
      for (let n = 0; n < calls + 3; n++) {
        if (n === 3) cpu = process.cpuUsage();
        const start = performance.now();
        await history.outcomes({ tenants, since: new Date(Date.now() - length), by: 'provider' });
        if (n >= 3) times.push(performance.now() - start);
      }
      const { user, system } = process.cpuUsage(cpu);
      // SQLite works in this process, so its CPU time says more than the clock beside other programs.
      book.figure({
        id: 'W4',
        database: name,
        what: `${what}, CPU of this process ${of}`,
        value: (user + system) / 1_000 / calls,
        unit: ' ms',
      });
      book.figure({
        id: 'W4',
        database: name,
        what: `${what}, p95 ${of}`,
        value: quantile(times, 0.95),
        unit: ' ms',
        ...(goal && { goal: ['<=', GOAL] as const }),
      });
    }
  } finally {
    await app.close();
    await place.remove();
  }
}

/** Counts as the fold leaves them, of two carriers and two statuses for each account. @returns rows */
async function fill(
  url: string,
  messages: number,
  [delivered, undelivered]: readonly (number | undefined)[],
): Promise<number> {
  const source = await new DataSource(dataSourceOptions(url)).initialize();
  const now = Math.floor(Date.now() / HOUR) * HOUR;
  const slots = [
    ...Array.from({ length: DAYS * 24 - DETAILED }, (_, n) => [now - (n + DETAILED) * HOUR, 60]),
    ...Array.from({ length: DETAILED * 12 }, (_, n) => [now - (n + 1) * 5 * MINUTE, 5]),
  ] as [number, number][];
  const each = TENANTS * 2 * 2;
  const ofHour = messages / (DAYS * 24) / each;
  await source.transaction(async (manager) => {
    for (const [start, minutes] of slots) {
      const count = Math.max(1, Math.round((ofHour * minutes) / 60));
      const times = TIMES.map((name) => (/_[3-6]$/.test(name) ? Math.ceil(count / 4) : 0));
      await manager.query(
        `INSERT INTO messaging_outcome_hour (start, tenant, channel, provider, country, sender, tag, category, status,
           currency, cost_currency, minutes, messages, parts, price, cost, ${TIMES.join(', ')})
         WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < ${TENANTS})
         SELECT ${start * 1_000}, 'tenant ' || t.n, 'sms', p.name, 'NG', 'ACME ' || t.n, '', '', s.rank,
           'NGN', 'USD', ${minutes}, ${count}, ${count}, ${count * 4_500_000}, ${count * 3_000}, ${times.join(', ')}
         FROM t CROSS JOIN (SELECT 'a' AS name UNION ALL SELECT 'b') AS p
         CROSS JOIN (SELECT ${delivered} AS rank UNION ALL SELECT ${undelivered}) AS s`,
      );
    }
  });
  const key =
    'start, channel, provider, country, category, status, currency, cost_currency, minutes';
  const sums = ['messages', 'parts', 'price', 'cost', ...TIMES];
  await source.query(
    `INSERT INTO messaging_outcome_total (${key}, ${sums.join(', ')})
     SELECT ${key}, ${sums.map((name) => `sum(${name})`).join(', ')} FROM messaging_outcome_hour GROUP BY ${key}`,
  );
  await source.query('ANALYZE');
  await source.destroy();
  return slots.length * each;
}
