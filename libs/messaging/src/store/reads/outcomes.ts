import type {
  OutcomeAmount,
  OutcomeFigures,
  OutcomeFilter,
  OutcomeGroup,
  Outcomes,
  OutcomesOfGroup,
} from '../../message/outcomes.js';
import { amountText } from '../../message/money.js';
import type { Tenants } from '../../message/views.js';
import type { StoreDatabase } from '../database/store-database.js';
import { LATENCY_BOUNDS, percentilesOf } from '../rows/latency.js';
import { OUTCOME_AMOUNTS, OUTCOME_SUMS, TOTAL_KEY } from '../schema/outcomes.js';
import type { Sql } from '../database/sql.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Longest period of which the hours are answered, in milliseconds. */
const BY_HOURS = 4 * DAY;

/** Epoch milliseconds, at whole hours. */
export interface OutcomesQuery {
  readonly tenants: Tenants;
  readonly since: number;
  readonly until: number;
  readonly by: OutcomeGroup;
  readonly where: OutcomeFilter;
  readonly limit: number;
}

type Sums = Readonly<Record<string, string | number>>;

interface GroupRow extends Sums {
  readonly name: string;
  readonly former: string | number;
  readonly status: number;
  readonly currency: string;
  readonly cost_currency: string;
}

/** Messages that were accepted in an hour, by its start in epoch microseconds. */
interface HourRow {
  readonly hour: string | number;
  readonly status: number;
  readonly messages: string | number;
}

/** A 64-bit integer in a row of any driver: a JavaScript number would round it. */
const exact = (name: string) => `CONCAT(sum(c.${name}), '') AS ${name}`;

/** Reads the counts of outcomes, also those that no fold has moved yet. */
export async function readOutcomes(
  database: StoreDatabase,
  query: OutcomesQuery,
): Promise<Outcomes> {
  const { since, until, by } = query;
  const length = until - since;
  const formerSince = since - length;
  const interval = length <= BY_HOURS ? 'hour' : 'day';
  const step = interval === 'hour' ? HOUR : DAY;
  const from = { ...query, since: formerSince };
  const sums = OUTCOME_SUMS.map((name) =>
    OUTCOME_AMOUNTS.has(name) ? exact(name) : `sum(c.${name}) AS ${name}`,
  );
  const former = 'CASE WHEN c.start < ? THEN 1 ELSE 0 END AS former';
  const key = [`c.${by} AS name`, former, 'c.status', 'c.currency', 'c.cost_currency'];
  const groupSums = summed(from, { key, params: [since * 1_000], sums });
  const rows = await database.all<GroupRow>(groupSums.sql, groupSums.params);
  const hourSums = summed(from, {
    key: [`c.start - c.start % ${HOUR * 1_000} AS hour`, 'c.status'],
    params: [],
    sums: ['sum(c.messages) AS messages'],
  });
  const hours = await database.all<HourRow>(hourSums.sql, hourSums.params);
  const reader = new FiguresReader(database);
  const byName = new Map<string, GroupRow[]>();
  for (const row of rows) {
    const own = byName.get(row.name);
    if (own) own.push(row);
    else byName.set(row.name, [row]);
  }
  const groups = [...byName]
    .map(([name, own]): OutcomesOfGroup => ({ name, ...reader.both(own) }))
    .toSorted(
      (one, other) =>
        other.current.messages - one.current.messages ||
        other.former.messages - one.former.messages ||
        (one.name < other.name ? -1 : 1),
    );
  const slotOf = reader.slots(hours, (at) =>
    at < since ? [1, Math.floor((at - formerSince) / step)] : [0, Math.floor((at - since) / step)],
  );
  return {
    since: new Date(since),
    until: new Date(until),
    formerSince: new Date(formerSince),
    interval,
    total: reader.both(rows),
    groups: groups.slice(0, query.limit),
    slots: Array.from({ length: Math.ceil(length / step) }, (_, n) => ({
      start: new Date(since + n * step),
      ...slotOf(0, n),
      former: slotOf(1, n),
    })),
  };
}

interface Summed {
  /** What the rows are grouped by, with its parameters. */
  readonly key: readonly string[];
  readonly params: readonly unknown[];
  readonly sums: readonly string[];
}

/**
 * Sums of both tables in a period. Each table is summed by itself: rows that are joined first would be
 * copied. Where nothing asks for tenants, senders or tags, their totals are read.
 */
function summed(
  { tenants, since, until, by, where }: OutcomesQuery,
  { key, params, sums }: Summed,
) {
  const filter = Object.entries(where).filter((entry) => entry[1] !== undefined);
  const listed = tenants === 'all' ? [] : tenants;
  const conditions = [
    'c.start >= ? AND c.start < ?',
    ...(tenants === 'all' ? [] : [`c.tenant IN (${listed.map(() => '?').join(', ') || 'NULL'})`]),
    ...filter.map(([name]) => `c.${name} = ?`),
  ].join(' AND ');
  const asked = [by, ...filter.map(([name]) => name)];
  const isTotal = tenants === 'all' && asked.every((name) => TOTAL_KEY.includes(name));
  const values = filter.map(([, value]) => value);
  const all = [...params, since * 1_000, until * 1_000, ...listed, ...values];
  const of = (table: string) =>
    `SELECT ${[...key, ...sums].join(', ')} FROM messaging_${table} c
     WHERE ${conditions} GROUP BY ${key.map((_, n) => n + 1).join(', ')}`;
  return {
    sql: `${of(isTotal ? 'outcome_total' : 'outcome_hour')} UNION ALL ${of('outcome_change')}`,
    params: [...all, ...all],
  };
}

class FiguresReader {
  readonly #reached: ReadonlySet<number>;
  readonly #failed: ReadonlySet<number>;

  constructor(private readonly database: StoreDatabase) {
    const { channels } = database;
    this.#reached = new Set(channels.reachedRanks);
    this.#failed = new Set(channels.failedRanks);
  }

  both(rows: readonly GroupRow[]): Omit<OutcomesOfGroup, 'name'> {
    return {
      current: this.#figures(rows.filter(({ former }) => Number(former) === 0)),
      former: this.#figures(rows.filter(({ former }) => Number(former) === 1)),
    };
  }

  /** @param placeOf period and slot of a time in epoch milliseconds */
  slots(
    rows: readonly HourRow[],
    placeOf: (at: number) => readonly [former: number, slot: number],
  ): (former: number, slot: number) => { messages: number; delivered: number } {
    const counts = new Map<string, { messages: number; delivered: number }>();
    for (const { hour, status, messages } of rows) {
      const key = placeOf(Number(hour) / 1_000).join(' ');
      const own = counts.get(key) ?? { messages: 0, delivered: 0 };
      own.messages += Number(messages);
      if (this.#reached.has(status)) own.delivered += Number(messages);
      counts.set(key, own);
    }
    return (former, slot) => counts.get(`${former} ${slot}`) ?? { messages: 0, delivered: 0 };
  }

  #figures(rows: readonly GroupRow[]): OutcomeFigures {
    const statuses: Record<string, number> = {};
    let [messages, delivered, failed, parts] = [0, 0, 0, 0];
    for (const row of rows) {
      const own = Number(row['messages']);
      messages += own;
      parts += Number(row['parts']);
      if (this.#reached.has(row.status)) delivered += own;
      if (this.#failed.has(row.status)) failed += own;
      const name = this.database.channels.nameOf(row.status);
      if (own !== 0) statuses[name] = (statuses[name] ?? 0) + own;
    }
    const [prices, costs] = [new Amounts(), new Amounts()];
    for (const { currency, cost_currency: costCurrency, ...row } of rows) {
      prices.add(currency, row['price']);
      costs.add(costCurrency, row['cost']);
    }
    const histogram = (name: string) =>
      Array.from({ length: LATENCY_BOUNDS.length + 1 }, (_, n) =>
        rows.reduce((sum, row) => sum + Number(row[`${name}_${n}`]), 0),
      );
    return {
      messages,
      delivered,
      failed,
      parts,
      statuses,
      prices: prices.all,
      costs: costs.all,
      toSent: percentilesOf(histogram('sent')),
      toDelivered: percentilesOf(histogram('delivered')),
    };
  }
}

/** Sums by currency, without those that are zero. */
class Amounts {
  readonly #sums = new Map<string, bigint>();

  add(currency: string, amount: string | number | undefined): void {
    this.#sums.set(currency, (this.#sums.get(currency) ?? 0n) + BigInt(amount ?? 0));
  }

  get all(): readonly OutcomeAmount[] {
    return [...this.#sums]
      .filter(([, amount]) => amount !== 0n)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([currency, amount]) => ({ amount: amountText(amount), currency }));
  }
}

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
