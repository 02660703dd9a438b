import type {
  OutcomeFigures,
  OutcomeFilter,
  OutcomeGroup,
  Outcomes,
  OutcomesOfGroup,
} from '../../message/outcomes.js';
import type { Tenants } from '../../message/views.js';
import type { StoreDatabase } from '../database/store-database.js';
import { LATENCY_BOUNDS, percentilesOf } from '../rows/latency.js';
import { OUTCOME_SUMS } from '../schema/outcomes.js';

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
}

interface SlotRow {
  readonly former: string | number;
  readonly slot: string | number;
  readonly status: number;
  readonly messages: string | number;
}

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
  const { dialect } = database;
  const source = sourceOf(query, formerSince);
  // Integers on every database, where SQLite would bind a number as a floating-point value.
  const edges = dialect.rows({ v_since: 'bigint', v_former: 'bigint' });
  const params = [...edges.bind([[since * 1_000, formerSince * 1_000]]), ...source.params];
  const from = `FROM ${edges.sql} JOIN (${source.sql}) AS c ON 1 = 1`;
  const former = 'CASE WHEN c.start < v_since THEN 1 ELSE 0 END AS former';
  const sums = OUTCOME_SUMS.map((name) => `sum(${name}) AS ${name}`).join(', ');
  const rows = await database.all<GroupRow>(
    `SELECT ${by} AS name, former, status, ${sums} FROM (SELECT c.*, ${former} ${from}) AS f
     GROUP BY ${by}, former, status`,
    params,
  );
  const begin = 'CASE WHEN c.start < v_since THEN v_former ELSE v_since END';
  const slots = await database.all<SlotRow>(
    `SELECT former, slot, status, sum(messages) AS messages FROM (
       SELECT ${former}, ${dialect.div(`(c.start - ${begin})`, String(step * 1_000))} AS slot, c.status, c.messages
       ${from}) AS s GROUP BY former, slot, status`,
    params,
  );
  const reader = new FiguresReader(database);
  const byName = new Map<string, GroupRow[]>();
  for (const row of rows) byName.set(row.name, [...(byName.get(row.name) ?? []), row]);
  const groups = [...byName]
    .map(([name, own]): OutcomesOfGroup => ({ name, ...reader.both(own) }))
    .toSorted(
      (one, other) =>
        other.current.messages - one.current.messages ||
        other.former.messages - one.former.messages ||
        (one.name < other.name ? -1 : 1),
    );
  const slotOf = reader.slots(slots);
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

/** Rows of both tables in the period and the one before it. */
function sourceOf({ tenants, until, where }: OutcomesQuery, formerSince: number) {
  const filter = Object.entries(where).filter((entry) => entry[1] !== undefined);
  const listed = tenants === 'all' ? [] : tenants;
  const conditions = [
    'start >= ? AND start < ?',
    ...(tenants === 'all' ? [] : [`tenant IN (${listed.map(() => '?').join(', ') || 'NULL'})`]),
    ...filter.map(([name]) => `${name} = ?`),
  ].join(' AND ');
  const columns = [
    'start, tenant, channel, provider, country, sender, tag, category, status',
    ...OUTCOME_SUMS,
  ].join(', ');
  const of = (table: string) => `SELECT ${columns} FROM messaging_${table} WHERE ${conditions}`;
  const params = [
    formerSince * 1_000,
    until * 1_000,
    ...listed,
    ...filter.map(([, value]) => value),
  ];
  return {
    sql: `${of('outcome_hour')} UNION ALL ${of('outcome_change')}`,
    params: [...params, ...params],
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

  slots(
    rows: readonly SlotRow[],
  ): (former: number, slot: number) => { messages: number; delivered: number } {
    const counts = new Map<string, { messages: number; delivered: number }>();
    for (const { former, slot, status, messages } of rows) {
      const key = `${Number(former)} ${Number(slot)}`;
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
      toSent: percentilesOf(histogram('sent')),
      toDelivered: percentilesOf(histogram('delivered')),
    };
  }
}
