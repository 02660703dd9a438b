import type {
  DeliveredCount,
  DeliveredShare,
  DeliveredSharesOptions,
  OutcomeFilter,
} from '../../message/outcomes.js';
import type { Tenants } from '../../message/views.js';
import type { StoreDatabase } from '../database/store-database.js';
import { LATENCY_BOUNDS } from '../rows/latency.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Epoch milliseconds, at whole 5 minutes. */
export interface DeliveredSharesQuery {
  readonly tenants: Tenants;
  readonly since: number;
  readonly until: number;
  readonly within: number;
  readonly days: number;
  readonly where: NonNullable<DeliveredSharesOptions['where']>;
}

interface CountRow {
  readonly provider: string;
  readonly country: string;
  readonly day: string | number;
  readonly messages: string | number;
  readonly delivered: string | number;
}

/**
 * Reads the counts of the period and of the same hours of days before. All are of messages delivered within the
 * same time, so that messages which are still on the way lower none of them.
 */
export async function readDeliveredShares(
  database: StoreDatabase,
  query: DeliveredSharesQuery,
): Promise<DeliveredShare[]> {
  const { since, until, days, within } = query;
  const { dialect } = database;
  const [first, end] = [Math.floor(since / HOUR) * HOUR, Math.ceil(until / HOUR) * HOUR];
  const before = Array.from({ length: days }, (_, n) => (n + 1) * DAY);
  const periods = [[since, until], ...before.map((ago) => [first - ago, end - ago])];
  const source = sourceOf(query, periods);
  const edge = dialect.rows({ v_last: 'bigint' });
  const classes = LATENCY_BOUNDS.filter((bound) => bound <= within).map((_, n) => `delivered_${n}`);
  const day = dialect.div('(v_last - c.start)', String(DAY * 1_000));
  const rows = await database.all<CountRow>(
    `SELECT provider, country, day, sum(messages) AS messages, sum(delivered) AS delivered FROM (
       SELECT c.provider, c.country, ${day} AS day, c.messages,
         ${classes.map((name) => `c.${name}`).join(' + ') || '0'} AS delivered
       FROM ${edge.sql} JOIN (${source.sql}) AS c ON 1 = 1) AS s
     GROUP BY provider, country, day`,
    [...edge.bind([[end * 1_000 - 1]]), ...source.params],
  );
  const shares = new Map<string, { provider: string; country: string; counts: DeliveredCount[] }>();
  for (const { provider, country, day: ago, messages, delivered } of rows) {
    const key = `${provider} ${country}`;
    const share = shares.get(key) ?? { provider, country, counts: [] };
    share.counts[Number(ago)] = { messages: Number(messages), delivered: Number(delivered) };
    shares.set(key, share);
  }
  const none: DeliveredCount = { messages: 0, delivered: 0 };
  return [...shares.values()].map(({ provider, country, counts }) => ({
    provider,
    country,
    ...(counts[0] ?? none),
    days: Array.from({ length: days }, (_, n) => counts[n + 1] ?? none),
  }));
}

/** Rows of both tables in the periods, of messages that were submitted. */
function sourceOf(
  { tenants, where }: DeliveredSharesQuery,
  periods: readonly (readonly number[])[],
): { readonly sql: string; readonly params: unknown[] } {
  const filter = Object.entries(where satisfies OutcomeFilter).filter(
    (entry) => entry[1] !== undefined,
  );
  const listed = tenants === 'all' ? [] : tenants;
  const conditions = [
    `(${periods.map(() => 'start >= ? AND start < ?').join(' OR ')})`,
    "provider <> ''",
    ...(tenants === 'all' ? [] : [`tenant IN (${listed.map(() => '?').join(', ') || 'NULL'})`]),
    ...filter.map(([name]) => `${name} = ?`),
  ].join(' AND ');
  const delivered = LATENCY_BOUNDS.map((_, n) => `delivered_${n}`).join(', ');
  const of = (table: string) =>
    `SELECT start, provider, country, messages, ${delivered} FROM messaging_${table} WHERE ${conditions}`;
  const params = [
    ...periods.flat().map((time) => time * 1_000),
    ...listed,
    ...filter.map(([, value]) => value),
  ];
  return {
    sql: `${of('outcome_hour')} UNION ALL ${of('outcome_change')}`,
    params: [...params, ...params],
  };
}
