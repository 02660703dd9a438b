import type { OutcomeSpan, RecentOutcomes } from '../../message/outcomes.js';
import type { StoreDatabase } from '../database/store-database.js';
import { LATENCY_BOUNDS, percentilesOf } from '../rows/latency.js';
import { SUBMISSION_OUTCOME } from '../rows/outcome.js';
import { idAt, newestBatches } from './newest-batches.js';

const MINUTE = 60_000;

const DELIVERED = Array.from({ length: LATENCY_BOUNDS.length + 1 }, (_, n) => `delivered_${n}`);

/** Classes of times of up to half a second. */
const FAST = LATENCY_BOUNDS.findIndex((bound) => bound >= 500) + 1;

interface Row extends Readonly<Record<string, string | number>> {
  readonly provider: string;
  readonly channel: string;
  readonly country: string;
  /** Epoch microseconds. */
  readonly start: string | number;
  readonly minutes: number;
  readonly status: number;
  /** 1: one-time codes, which are often sent without asking for a report. */
  readonly codes: number;
  readonly messages: string | number;
}

/**
 * Outcomes by provider, channel and country, in spans of 5 minutes for the last three hours and of an
 * hour before, also those that no fold has moved yet. One-time codes count once a report decides.
 * @param since epoch milliseconds
 */
export async function recentOutcomes(
  database: StoreDatabase,
  since: number,
): Promise<readonly RecentOutcomes[]> {
  const key = 'provider, channel, country, start, minutes, status, codes';
  const sums = ['messages', ...DELIVERED];
  const of = (table: string, minutes: string) =>
    `SELECT provider, channel, country, start, ${minutes} AS minutes, status,
       CASE WHEN category = 'authentication' THEN 1 ELSE 0 END AS codes, ${sums.join(', ')}
     FROM messaging_${table} WHERE start >= ? AND provider <> ''`;
  const rows = await database.all<Row>(
    `SELECT ${key}, ${sums.map((name) => `sum(${name}) AS ${name}`).join(', ')}
     FROM (${of('outcome_hour', 'minutes')} UNION ALL ${of('outcome_change', '5')}) AS c
     GROUP BY ${key}`,
    [since * 1_000, since * 1_000],
  );
  const groups = grouped(rows, ({ provider, channel, country }) =>
    JSON.stringify([provider, channel, country]),
  );
  const { channels } = database;
  const [reached, failed] = [new Set(channels.reachedRanks), new Set(channels.failedRanks)];
  const spanOf = (own: readonly Row[]): OutcomeSpan => {
    const [first] = own as [Row];
    const start = Number(first.start) / 1_000;
    const count = (is: (row: Row) => boolean) =>
      own.reduce((sum, row) => sum + (is(row) ? Number(row.messages) : 0), 0);
    return {
      start,
      end: start + first.minutes * MINUTE,
      delivered: count(({ status }) => reached.has(status)),
      failed: count(({ status }) => failed.has(status)),
      open: count(
        ({ status, codes }) => Number(codes) === 0 && !reached.has(status) && !failed.has(status),
      ),
    };
  };
  return [...groups.values()].map((own) => {
    const [{ provider, channel, country }] = own as [Row];
    const histogram = DELIVERED.map((name) => own.reduce((sum, row) => sum + Number(row[name]), 0));
    const spans = grouped(own, ({ start, minutes }) => `${start} ${minutes}`);
    return {
      provider,
      channel,
      country,
      p95: percentilesOf(histogram)?.p95 ?? null,
      deliveries: histogram.reduce((sum, count) => sum + count, 0),
      fast: histogram.reduce((sum, count, n) => sum + (n < FAST ? count : 0), 0),
      spans: [...spans.values()].map(spanOf).toSorted((a, b) => b.start - a.start),
    };
  });
}

function grouped(rows: readonly Row[], keyOf: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const known = groups.get(key);
    if (known) known.push(row);
    else groups.set(key, [row]);
  }
  return groups;
}

/** Newest batches of the period that are looked at. */
const MOST = 500;

/** Names of the providers that accepted the first submission of the newest batches of a period. */
export async function recentProviders(
  database: StoreDatabase,
  { since, until }: { readonly since: Date; readonly until: Date },
): Promise<string[]> {
  const batches = await newestBatches<{ id: string }>(database, 'b.id', {
    tenants: 'all',
    earliest: idAt(since.getTime(), '0'),
    latest: idAt(until.getTime(), 'f'),
    limit: MOST,
  });
  if (batches.length === 0) return [];
  const { dialect } = database;
  const ids = dialect.rows({ v_id: 'uuid' });
  const rows = await database.all<{ provider: string }>(
    `SELECT DISTINCT s.provider FROM ${ids.keyed}
     ${dialect.join} messaging_submission s ON s.batch = v_id AND s.n = 0
     WHERE s.outcome = ?`,
    [...ids.bind(batches.map(({ id }) => [id])), SUBMISSION_OUTCOME.accepted],
  );
  return rows.map(({ provider }) => provider);
}
