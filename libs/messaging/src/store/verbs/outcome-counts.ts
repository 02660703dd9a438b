import { addressOfKey } from '../../message/address.js';
import { submissionIdOf } from '../../message/ids.js';
import { countryOfNumber } from '../../message/phone-country.js';
import { STATUS_RANK } from '../../message/status.js';
import type { Clock } from '../../ports/clock.js';
import type { SpentAmount } from '../../ports/spend-guard.js';
import { BoundedCache } from '../database/bounded-cache.js';
import type { Dialect } from '../database/dialect.js';
import type { Sql, StoreDatabase, Transaction } from '../database/store-database.js';
import { latencyClassOf } from '../rows/latency.js';
import { isTaken, type OutcomeCosts } from '../rows/outcome-costs.js';
import type { LockedMessage, StatusChange } from '../rows/status.js';
import { OUTCOME_KEY, OUTCOME_SUMS, TOTAL_KEY } from '../schema/outcomes.js';
import {
  dueTime,
  FIVE_MINUTES,
  floored,
  histogramsBy,
  HOUR,
  labelsOf,
  LATENCY,
} from './outcome-sql.js';
import type { Spent } from './status-writer.js';

/** Rows of 5 minutes are kept for so long before they are folded into hours. */
const DETAILED = 3 * HOUR;

/** Groups of changes that one fold moves. */
const PARTS = 500;

/** Batches, and submissions, whose facts a process keeps. */
const MOST_KNOWN = 20_000;

/** What is counted of a batch. It does not change once one of its messages has started. */
interface BatchFacts {
  /** Acceptance, rounded down to 5 minutes; epoch microseconds. */
  readonly start: number;
  /** Epoch microseconds. */
  readonly due: number;
  readonly tenant: string;
  readonly channel: string;
  readonly sender: string;
  readonly tag: string;
  readonly category: string;
  readonly parts: number;
}

/** A message that leaves the counts of a status, or enters them. */
interface Counted {
  readonly change: StatusChange;
  readonly status: number;
  readonly messages: -1 | 1;
  readonly latency: (typeof LATENCY)[keyof typeof LATENCY];
  /** Number of the statuses that it has had then. */
  readonly statuses: number;
}

/** What changes are counted by. */
interface Facts {
  readonly batches: ReadonlyMap<string, BatchFacts>;
  /** By submission. */
  readonly providers: ReadonlyMap<string, string>;
}

/** Of one message. */
interface Place {
  /** Equal for messages that are counted together, but for status and currency of the price. */
  readonly key: string;
  readonly facts: BatchFacts;
  /** Of its submission; '': it has none. */
  readonly provider: string;
  readonly country: string;
  /** Of its price. */
  readonly currency: string;
  /** Once its provider has taken it. */
  readonly cost: SpentAmount | undefined;
}

interface Sum {
  readonly place: Place;
  readonly status: number;
  messages: number;
  parts: number;
  /** Millionths. */
  price: bigint;
  cost: bigint;
  /** Changes by histogram and class. */
  readonly bins: Map<string, Bin>;
}

interface Bin {
  readonly latency: number;
  readonly span: number;
  changes: number;
}

interface SumRow {
  readonly part: string;
  readonly n: number;
  readonly sum: Sum;
  /** The first row of a sum has its messages. */
  readonly isFirst: boolean;
  readonly bin: Bin | undefined;
}

const SUM_ROW = {
  v_part: ['uuid', ({ part }: SumRow) => part],
  v_n: ['int', ({ n }: SumRow) => n],
  v_start: ['bigint', ({ sum }: SumRow) => sum.place.facts.start],
  v_tenant: ['key', ({ sum }: SumRow) => sum.place.facts.tenant],
  v_channel: ['key', ({ sum }: SumRow) => sum.place.facts.channel],
  v_provider: ['key', ({ sum }: SumRow) => sum.place.provider],
  v_country: ['key', ({ sum }: SumRow) => sum.place.country],
  v_sender: ['key', ({ sum }: SumRow) => sum.place.facts.sender],
  v_tag: ['key', ({ sum }: SumRow) => sum.place.facts.tag],
  v_category: ['key', ({ sum }: SumRow) => sum.place.facts.category],
  v_status: ['int', ({ sum }: SumRow) => sum.status],
  v_currency: ['key', ({ sum }: SumRow) => sum.place.currency],
  v_cost_currency: ['key', ({ sum }: SumRow) => sum.place.cost?.currency ?? ''],
  v_messages: ['int', ({ sum, isFirst }: SumRow) => (isFirst ? sum.messages : 0)],
  v_parts: ['int', ({ sum, isFirst }: SumRow) => (isFirst ? sum.parts : 0)],
  v_price: ['bigint', ({ sum, isFirst }: SumRow) => (isFirst ? String(sum.price) : '0')],
  v_cost: ['bigint', ({ sum, isFirst }: SumRow) => (isFirst ? String(sum.cost) : '0')],
  v_latency: ['int', ({ bin }: SumRow) => bin?.latency ?? LATENCY.none],
  v_span: ['int', ({ bin }: SumRow) => bin?.span ?? 0],
  v_changes: ['int', ({ bin }: SumRow) => bin?.changes ?? 0],
} as const;

interface SubmissionKey {
  readonly batch: string;
  readonly n: number;
}

/** Whether messages with the status are in the counts: those that have been submitted or refused. */
function isCountedRank(rank: number): boolean {
  return rank >= STATUS_RANK.unknown && rank !== STATUS_RANK.cancelled;
}

/**
 * Counts messages by their acceptance, provider, country, sender, tag, category and status in the
 * transaction that changes them, one statement for a group of changes, and one more for batches that
 * the process does not know yet:
 *
 * ```
 * changes ─▶ outcome_change ─fold─▶ outcome_hour, 5 minutes ─fold, after 3 h─▶ outcome_hour, an hour
 * ```
 *
 * The sum of both tables is exact after each commit. A fold keeps it, so it may run at any time, in
 * any process, and stop at any statement.
 */
export class OutcomeCounts {
  readonly #sql: ReturnType<typeof statementsFor>;
  readonly #reached: ReadonlySet<number>;
  readonly #batches = new BoundedCache<BatchFacts>(MOST_KNOWN);
  /** Providers of submissions. */
  readonly #providers = new BoundedCache<string>(MOST_KNOWN);

  constructor(
    private readonly database: StoreDatabase,
    private readonly clock: Clock,
    private readonly costs: OutcomeCosts,
  ) {
    this.#sql = statementsFor(database.dialect);
    this.#reached = new Set(database.channels.reachedRanks);
  }

  /**
   * Reads what is counted.
   * @param statuses of changes from and to `expired`
   * @returns a function that counts the changes with what the spend guard charged, in one statement
   */
  async of(
    tx: Transaction,
    changes: readonly StatusChange[],
    statuses: ReadonlyMap<StatusChange, number>,
  ): Promise<(spent: Spent) => Promise<void>> {
    const counted = changes.flatMap((change) => this.#countedBy(change, statuses.get(change)));
    const moved = new Set(counted.map(({ change }) => change));
    // A change that leaves the counts may move money, such as a report of how the platform bills.
    const read = changes.filter((one) => moved.has(one) || one.message.guarded === 1);
    const facts = {
      batches: await this.#batchesOf(tx, read),
      providers: await this.#providersOf(tx, read),
    };
    return (spent) => this.#add(tx, this.#sumsOf(counted, facts, spent));
  }

  async #add(tx: Transaction, sums: readonly Sum[]): Promise<void> {
    const part = this.clock.id();
    let n = 0;
    const rows = sums.flatMap((sum): SumRow[] => {
      const bins = sum.bins.size === 0 ? [undefined] : [...sum.bins.values()];
      return bins.map((bin, at) => ({ part, n: n++, sum, isFirst: at === 0, bin }));
    });
    if (rows.length > 0) await tx.run(this.#sql.add, this.#sql.rows.bind(rows));
  }

  /** Facts of the batches of changes. */
  async #batchesOf(
    tx: Sql,
    changes: readonly StatusChange[],
  ): Promise<ReadonlyMap<string, BatchFacts>> {
    const facts = new Map<string, BatchFacts>();
    const missing = new Set<string>();
    const started = new Set<string>();
    for (const change of changes) {
      const { batch } = change.message;
      if (change.submission !== null) started.add(batch);
      const known = facts.get(batch) ?? this.#batches.get(batch);
      if (known) facts.set(batch, known);
      else missing.add(batch);
    }
    if (missing.size === 0) return facts;
    const { batches, ids } = this.#sql;
    const rows = await tx.all<BatchFacts & { readonly id: string }>(
      batches,
      ids.bind([...missing]),
    );
    for (const { id, ...row } of rows) {
      const read = { ...row, start: Number(row.start), due: Number(row.due) };
      facts.set(id, read);
      // Until then its time may change.
      if (started.has(id)) this.#batches.set(id, read, 1);
    }
    return facts;
  }

  /** By submission. */
  async #providersOf(
    tx: Sql,
    changes: readonly StatusChange[],
  ): Promise<ReadonlyMap<string, string>> {
    const providers = new Map<string, string>();
    const missing = new Map<string, SubmissionKey>();
    for (const change of changes) {
      if (change.submission === null) continue;
      const { batch } = change.message;
      const key = submissionIdOf(batch, change.submission);
      const known = providers.get(key) ?? this.#providers.get(key);
      if (known !== undefined) providers.set(key, known);
      else missing.set(key, { batch, n: change.submission });
    }
    if (missing.size === 0) return providers;
    const { submissions, keys } = this.#sql;
    const rows = await tx.all<SubmissionKey & { readonly provider: string | null }>(
      submissions,
      keys.bind([...missing.values()]),
    );
    for (const { batch, n, provider } of rows) {
      const key = submissionIdOf(batch, n);
      providers.set(key, provider ?? '');
      this.#providers.set(key, provider ?? '', 1);
    }
    return providers;
  }

  #sumsOf(counted: readonly Counted[], read: Facts, spent: Spent): readonly Sum[] {
    const sums = new Map<string, Sum>();
    const sumOf = (place: Place, status: number): Sum => {
      const key = `${status} ${place.currency} ${place.key}`;
      let sum = sums.get(key);
      if (!sum) {
        sum = { place, status, messages: 0, parts: 0, price: 0n, cost: 0n, bins: new Map() };
        sums.set(key, sum);
      }
      return sum;
    };
    const places = new Map<StatusChange, Place | undefined>();
    const placeOf = (change: StatusChange): Place | undefined => {
      if (!places.has(change)) {
        const { message, submission } = change;
        const id = submission === null ? undefined : submissionIdOf(message.batch, submission);
        const provider = (id === undefined ? undefined : read.providers.get(id)) ?? '';
        const facts = read.batches.get(message.batch);
        places.set(change, facts && this.#placeOf(message, facts, provider));
      }
      const place = places.get(change);
      const currency = spent.get(change)?.currency;
      return place && currency !== undefined ? { ...place, currency } : place;
    };
    for (const { change, status, messages, latency, statuses } of counted) {
      const place = placeOf(change);
      // Purged in the meantime.
      if (!place) continue;
      const { facts, provider, cost } = place;
      const sum = sumOf(place, status);
      sum.messages += messages;
      sum.parts += provider === '' ? 0 : messages * facts.parts;
      if (cost && isTaken(status, statuses)) sum.cost += BigInt(messages) * cost.amount;
      if (latency === LATENCY.none) continue;
      const span = latencyClassOf((change.receivedAt ?? change.at) - facts.due);
      const isOwn = change.provider === provider;
      const by = isOwn ? place : this.#placeOf(change.message, facts, change.provider ?? '');
      const { bins } = sumOf({ ...by, currency: place.currency }, status);
      const bin = bins.get(`${latency} ${span}`);
      if (bin) bin.changes++;
      else bins.set(`${latency} ${span}`, { latency, span, changes: 1 });
    }
    for (const [change, { amount }] of spent) {
      const place = amount === 0n ? undefined : placeOf(change);
      if (place) sumOf(place, change.status).price += amount;
    }
    return [...sums.values()].filter(
      ({ messages, parts, price, cost, bins }) =>
        messages !== 0 || parts !== 0 || price !== 0n || cost !== 0n || bins.size > 0,
    );
  }

  #placeOf({ recipient }: LockedMessage, facts: BatchFacts, provider: string): Place {
    const address = recipient === '' ? undefined : addressOfKey(recipient);
    const digits = address?.kind === 'phone' ? address.value : '';
    const country = digits === '' ? '' : countryOfNumber(digits);
    const cost = this.costs.of(provider, facts.channel, digits, facts.parts);
    const { start, tenant, channel, sender, tag, category } = facts;
    const own = [start, tenant, channel, provider, country, sender, tag, category, cost?.currency];
    return { key: own.join('\0'), facts, provider, country, currency: '', cost };
  }

  /** Runs one transaction. @returns false where nothing is left to fold, or another process folds */
  async fold(): Promise<boolean> {
    const { lock, parts, ids, forget, tables } = this.#sql;
    const edge = edgeOf(this.clock);
    return this.database.transaction(async (tx) => {
      if ((await tx.all(lock)).length === 0) return false;
      const found = await tx.all<{ part: string }>(parts, [PARTS]);
      if (found.length > 0) {
        const params = ids.bind(found.map(({ part }) => part));
        for (const { fold } of tables) await tx.run(fold, [edge, edge, ...params]);
        await tx.run(forget, params);
      }
      for (const { folded, forgetFolded } of tables) {
        await tx.run(folded, [edge]);
        await tx.run(forgetFolded, [edge]);
      }
      return found.length === PARTS;
    });
  }

  /**
   * Deletes the counts of the oldest hour, where its messages were accepted longer ago than the age.
   * @param age milliseconds @returns false where there is no such hour
   */
  async forgetOlder(age: number): Promise<boolean> {
    const { oldest, tables } = this.#sql;
    const [found] = await this.database.all<{ start: string | number | null }>(oldest);
    const start = Number(found?.start ?? Infinity);
    const hour = start - (start % HOUR);
    if (!(hour + HOUR <= (this.clock.now() - age) * 1_000)) return false;
    await this.database.transaction(async (tx) => {
      for (const { forgetHour } of tables) await tx.run(forgetHour, [hour, hour + HOUR]);
    });
    return true;
  }

  /** @param statuses those that the message has had with this one, where it is or was `expired` */
  #countedBy(change: StatusChange, statuses = 2): Counted[] {
    const { message, previous, status, event } = change;
    // Its country and labels are erased: the message stays where it is counted.
    if (message.recipient === '' || (event !== undefined && !change.isRedial)) return [];
    const counted: Counted[] = [];
    if (isCountedRank(previous))
      counted.push({
        change,
        status: previous,
        messages: -1,
        latency: LATENCY.none,
        statuses: statuses - 1,
      });
    if (isCountedRank(status) && !change.isRedial)
      counted.push({ change, status, messages: 1, latency: this.#latencyOf(change), statuses });
    return counted;
  }

  #latencyOf({ message, previous, status, provider }: StatusChange): Counted['latency'] {
    if (provider === undefined) return LATENCY.none;
    if (this.#reached.has(status) && !this.#reached.has(previous)) return LATENCY.delivered;
    return status === this.database.channels.acceptedRankOf(message.channel)
      ? LATENCY.sent
      : LATENCY.none;
  }
}

/** Epoch microseconds of the first hour that has rows of 5 minutes. */
export function edgeOf(clock: Clock): number {
  const edge = clock.now() * 1_000 - DETAILED;
  return edge - (edge % HOUR);
}

function statementsFor(dialect: Dialect) {
  const rows = dialect.rows<SumRow>(SUM_ROW);
  const keyed = dialect.rows<SubmissionKey>({
    v_batch: ['uuid', ({ batch }) => batch],
    v_n: ['int', ({ n }) => n],
  });
  const ids = dialect.rows<string>({ v_id: ['uuid', (id) => id] });
  const primary = dialect.forceIndex('PRIMARY');
  const [keys, sums] = [OUTCOME_KEY.join(', '), OUTCOME_SUMS.join(', ')];
  const total = OUTCOME_SUMS.map((name) => `sum(${name}) AS ${name}`).join(', ');
  const { tag, category } = labelsOf(dialect);
  const tableOf = (table: string, key: readonly string[]) => {
    const own = key.filter((name) => name !== 'start').join(', ');
    const unique = `${key.join(', ')}, minutes`;
    const into = (from: string) => `INSERT INTO ${table} (${unique}, ${sums})
      SELECT slot, ${own}, width, ${total} FROM (${from}) AS c GROUP BY slot, ${own}, width
      ${dialect.onConflict(
        unique,
        OUTCOME_SUMS.map((name) => `${name} = ${table}.${name} + new.${name}`).join(', '),
      )}`;
    return {
      fold: into(`SELECT c.*, CASE WHEN c.start < ${dialect.bigint} THEN ${floored('c.start', HOUR)} ELSE c.start END AS slot,
          CASE WHEN c.start < ${dialect.bigint} THEN 60 ELSE 5 END AS width
        FROM ${ids.keyed} ${dialect.join} messaging_outcome_change c ${primary} ON c.part = v_id WHERE 1 = 1`),
      folded: into(`SELECT h.*, ${floored('h.start', HOUR)} AS slot, 60 AS width
        FROM ${table} h WHERE h.minutes = 5 AND h.start < ?`),
      forgetFolded: `DELETE FROM ${table} WHERE minutes = 5 AND start < ?`,
      forgetHour: `DELETE FROM ${table} WHERE start >= ? AND start < ?`,
    };
  };
  return {
    rows,
    ids,
    keys: keyed,
    batches: `SELECT b.id, ${floored('b.created_at', FIVE_MINUTES)} AS start, ${dueTime(dialect)} AS due, b.tenant,
        b.channel, b.sender, ${tag} AS tag, ${category} AS category, b.parts
      FROM ${ids.keyed} ${dialect.join} messaging_batch b ${primary} ON b.id = v_id
      LEFT JOIN messaging_batch_label l ON l.batch = b.id AND l.n = 0`,
    submissions: `SELECT s.batch, s.n, s.provider FROM ${keyed.keyed}
      ${dialect.join} messaging_submission s ${primary} ON s.batch = v_batch AND s.n = v_n`,
    add: `INSERT INTO messaging_outcome_change (part, n, ${keys}, ${sums})
      SELECT v_part, v_n, ${OUTCOME_KEY.map((name) => `v_${name}`).join(', ')}, v_messages, v_parts, v_price, v_cost,
        ${histogramsBy((latency, span) => `CASE WHEN v_latency = ${latency} AND v_span = ${span} THEN v_changes ELSE 0 END`)}
      FROM ${rows.sql}`,
    lock: `SELECT o.id FROM messaging_outcome_state o WHERE o.id = 0 ${dialect.skipLocked('o')}`,
    parts: 'SELECT DISTINCT c.part FROM messaging_outcome_change c ORDER BY c.part LIMIT ?',
    forget: dialect.deleteFrom('messaging_outcome_change', 'part', ids),
    oldest: 'SELECT min(start) AS start FROM messaging_outcome_hour',
    tables: [
      tableOf('messaging_outcome_hour', OUTCOME_KEY),
      tableOf('messaging_outcome_total', TOTAL_KEY),
    ],
  };
}
