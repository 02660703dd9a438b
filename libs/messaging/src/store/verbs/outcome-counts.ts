import { addressOfKey } from '../../message/address.js';
import { submissionIdOf } from '../../message/ids.js';
import { countryOfNumber } from '../../message/phone-country.js';
import { STATUS_RANK } from '../../message/status.js';
import type { Clock } from '../../ports/clock.js';
import { BoundedCache } from '../database/bounded-cache.js';
import type { Dialect } from '../database/dialect.js';
import type { Sql, StoreDatabase, Transaction } from '../database/store-database.js';
import { LATENCY_BOUNDS, latencyClassOf } from '../rows/latency.js';
import type { StatusChange } from '../rows/status.js';
import { OUTCOME_KEY, OUTCOME_SUMS } from '../schema/outcomes.js';
import { StatusWriter } from './status-writer.js';

/** Microseconds. */
export const FIVE_MINUTES = 300_000_000;
export const HOUR = 3_600_000_000;

/** Rows of 5 minutes are kept for so long before they are folded into hours. */
const DETAILED = 3 * HOUR;

/** Groups of changes that one fold moves. */
const PARTS = 500;

/** Which of the histograms a change is counted in. */
const LATENCY = { none: 0, sent: 1, delivered: 2 } as const;

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

interface Counted {
  readonly change: StatusChange;
  readonly status: number;
  readonly messages: -1 | 1;
  readonly latency: (typeof LATENCY)[keyof typeof LATENCY];
}

interface Sum {
  readonly facts: BatchFacts;
  readonly provider: string;
  readonly country: string;
  readonly status: number;
  messages: number;
  parts: number;
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
  v_start: ['bigint', ({ sum }: SumRow) => sum.facts.start],
  v_tenant: ['key', ({ sum }: SumRow) => sum.facts.tenant],
  v_channel: ['key', ({ sum }: SumRow) => sum.facts.channel],
  v_provider: ['key', ({ sum }: SumRow) => sum.provider],
  v_country: ['key', ({ sum }: SumRow) => sum.country],
  v_sender: ['key', ({ sum }: SumRow) => sum.facts.sender],
  v_tag: ['key', ({ sum }: SumRow) => sum.facts.tag],
  v_category: ['key', ({ sum }: SumRow) => sum.facts.category],
  v_status: ['int', ({ sum }: SumRow) => sum.status],
  v_messages: ['int', ({ sum, isFirst }: SumRow) => (isFirst ? sum.messages : 0)],
  v_parts: ['int', ({ sum, isFirst }: SumRow) => (isFirst ? sum.parts : 0)],
  v_latency: ['int', ({ bin }: SumRow) => bin?.latency ?? LATENCY.none],
  v_span: ['int', ({ bin }: SumRow) => bin?.span ?? 0],
  v_changes: ['int', ({ bin }: SumRow) => bin?.changes ?? 0],
} as const;

interface SubmissionKey {
  readonly batch: string;
  readonly n: number;
}

/** SQL of a time rounded down. */
function floored(time: string, to: number): string {
  return `${time} - ${time} % ${to}`;
}

/** SQL: when a message of the batch `b` was due; it no longer changes once the batch has started. */
export function dueTime(dialect: Dialect): string {
  return dialect.greatest('b.created_at', 'coalesce(b.send_at, 0)');
}

/**
 * SQL: tag and category of the batch `b` with its first label `l`. The content of a one-time code is
 * erased while its reports still come: it has the same two values before and after.
 */
export function labelsOf(dialect: Dialect): { readonly tag: string; readonly category: string } {
  const isCode = `(b.content IS NULL OR ${dialect.jsonText('b.content', 'secret')} IS NOT NULL)`;
  const kind = dialect.jsonText('b.content', 'kind');
  const template = `CASE WHEN (${kind}) = 'template' THEN ${dialect.jsonText('b.content', 'template')} END`;
  return {
    tag: `CASE WHEN ${isCode} THEN '' ELSE substr(coalesce(${template}, l.tag, ''), 1, 64) END`,
    category: `CASE WHEN ${isCode} THEN 'authentication'
      ELSE substr(coalesce(${dialect.jsonText('b.content', 'category')}, ''), 1, 32) END`,
  };
}

/** SQL: for each class of the histograms, by its name. */
function histogramsBy(column: (latency: number, span: number, name: string) => string): string {
  return (['sent', 'delivered'] as const)
    .flatMap((name) =>
      Array.from({ length: LATENCY_BOUNDS.length + 1 }, (_, span) =>
        column(LATENCY[name], span, `${name}_${span}`),
      ),
    )
    .join(', ');
}

/** SQL: the histograms of rows with a `latency` kind and its class `span`. */
export function histograms(): string {
  return histogramsBy(
    (latency, span, name) =>
      `sum(CASE WHEN latency = ${latency} AND span = ${span} THEN 1 ELSE 0 END) AS ${name}`,
  );
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
  ) {
    this.#sql = statementsFor(database.dialect);
    this.#reached = new Set(database.channels.reachedRanks);
  }

  async add(tx: Transaction, changes: readonly StatusChange[]): Promise<void> {
    const counted = changes.flatMap((change) => this.#countedBy(change));
    if (counted.length === 0) return;
    const sums = this.#sumsOf(
      counted,
      await this.#factsOf(tx, counted),
      await this.#providersOf(tx, counted),
    );
    const part = this.clock.id();
    let n = 0;
    const rows = sums.flatMap((sum): SumRow[] => {
      const bins = sum.bins.size === 0 ? [undefined] : [...sum.bins.values()];
      return bins.map((bin, at) => ({ part, n: n++, sum, isFirst: at === 0, bin }));
    });
    if (rows.length > 0) await tx.run(this.#sql.add, this.#sql.rows.bind(rows));
  }

  async #factsOf(tx: Sql, counted: readonly Counted[]): Promise<ReadonlyMap<string, BatchFacts>> {
    const facts = new Map<string, BatchFacts>();
    const missing = new Set<string>();
    const started = new Set<string>();
    for (const { change } of counted) {
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
  async #providersOf(tx: Sql, counted: readonly Counted[]): Promise<ReadonlyMap<string, string>> {
    const providers = new Map<string, string>();
    const missing = new Map<string, SubmissionKey>();
    for (const { change } of counted) {
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

  #sumsOf(
    counted: readonly Counted[],
    facts: ReadonlyMap<string, BatchFacts>,
    providers: ReadonlyMap<string, string>,
  ): readonly Sum[] {
    const sums = new Map<string, Sum>();
    const sumOf = (of: BatchFacts, provider: string, country: string, status: number): Sum => {
      const { start, tenant, channel, sender, tag, category } = of;
      const key = [start, tenant, channel, provider, country, sender, tag, category, status].join(
        '\0',
      );
      let sum = sums.get(key);
      if (!sum) {
        sum = { facts: of, provider, country, status, messages: 0, parts: 0, bins: new Map() };
        sums.set(key, sum);
      }
      return sum;
    };
    for (const { change, status, messages, latency } of counted) {
      const { message, submission } = change;
      const of = facts.get(message.batch);
      // Purged in the meantime.
      if (!of) continue;
      const address = addressOfKey(message.recipient);
      const country = address.kind === 'phone' ? countryOfNumber(address.value) : '';
      const holder =
        submission === null ? '' : (providers.get(submissionIdOf(message.batch, submission)) ?? '');
      const sum = sumOf(of, holder, country, status);
      sum.messages += messages;
      sum.parts += holder === '' ? 0 : messages * of.parts;
      if (latency === LATENCY.none) continue;
      const span = latencyClassOf((change.receivedAt ?? change.at) - of.due);
      const { bins } = sumOf(of, change.provider ?? '', country, status);
      const bin = bins.get(`${latency} ${span}`);
      if (bin) bin.changes++;
      else bins.set(`${latency} ${span}`, { latency, span, changes: 1 });
    }
    return [...sums.values()].filter(
      (sum) => sum.messages !== 0 || sum.parts !== 0 || sum.bins.size > 0,
    );
  }

  /** Runs one transaction. @returns false where nothing is left to fold, or another process folds */
  async fold(): Promise<boolean> {
    const { lock, parts, ids, fold, forget, folded, forgetFolded } = this.#sql;
    const edge = edgeOf(this.clock);
    return this.database.transaction(async (tx) => {
      if ((await tx.all(lock)).length === 0) return false;
      const found = await tx.all<{ part: string }>(parts, [PARTS]);
      if (found.length > 0) {
        const params = ids.bind(found.map(({ part }) => part));
        await tx.run(fold, [edge, edge, ...params]);
        await tx.run(forget, params);
      }
      await tx.run(folded, [edge]);
      await tx.run(forgetFolded, [edge]);
      return found.length === PARTS;
    });
  }

  /**
   * Deletes the counts of the oldest hour, where its messages were accepted longer ago than the age.
   * @param age milliseconds @returns false where there is no such hour
   */
  async forgetOlder(age: number): Promise<boolean> {
    const { oldest, forgetHour } = this.#sql;
    const [found] = await this.database.all<{ start: string | number | null }>(oldest);
    const start = Number(found?.start ?? Infinity);
    const hour = start - (start % HOUR);
    if (!(hour + HOUR <= (this.clock.now() - age) * 1_000)) return false;
    await this.database.transaction((tx) => tx.run(forgetHour, [hour, hour + HOUR]));
    return true;
  }

  #countedBy(change: StatusChange): Counted[] {
    const { message, previous, status, event } = change;
    // Its country and labels are erased: the message stays where it is counted.
    if (message.recipient === '' || (event !== undefined && !change.isRedial)) return [];
    const counted: Counted[] = [];
    if (isCountedRank(previous))
      counted.push({ change, status: previous, messages: -1, latency: LATENCY.none });
    if (isCountedRank(status) && !change.isRedial)
      counted.push({ change, status, messages: 1, latency: this.#latencyOf(change) });
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

/** Has each group of changes counted in its transaction. */
export class CountingStatusWriter extends StatusWriter {
  readonly #database: StoreDatabase;
  readonly #counts: OutcomeCounts;

  constructor(counts: OutcomeCounts, ...others: ConstructorParameters<typeof StatusWriter>) {
    super(...others);
    this.#counts = counts;
    [this.#database] = others;
  }

  override run<R>(work: (sql: Sql, tx?: Transaction) => Promise<R>): Promise<R> {
    return this.#database.transaction((tx) => work(tx, tx));
  }

  override async notify(tx: Transaction, changes: readonly StatusChange[]): Promise<void> {
    await super.notify(tx, changes);
    await this.#counts.add(tx, changes);
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
  const own = OUTCOME_KEY.filter((name) => name !== 'start').join(', ');
  const total = OUTCOME_SUMS.map((name) => `sum(${name}) AS ${name}`).join(', ');
  const { tag, category } = labelsOf(dialect);
  const intoHour = (from: string) => `INSERT INTO messaging_outcome_hour (${keys}, minutes, ${sums})
    SELECT slot, ${own}, width, ${total} FROM (${from}) AS c GROUP BY slot, ${own}, width
    ${dialect.onConflict(
      `${keys}, minutes`,
      OUTCOME_SUMS.map((name) => `${name} = messaging_outcome_hour.${name} + new.${name}`).join(
        ', ',
      ),
    )}`;
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
      SELECT v_part, v_n, ${OUTCOME_KEY.map((name) => `v_${name}`).join(', ')}, v_messages, v_parts,
        ${histogramsBy((latency, span) => `CASE WHEN v_latency = ${latency} AND v_span = ${span} THEN v_changes ELSE 0 END`)}
      FROM ${rows.sql}`,
    lock: `SELECT o.id FROM messaging_outcome_state o WHERE o.id = 0 ${dialect.skipLocked('o')}`,
    parts: 'SELECT DISTINCT c.part FROM messaging_outcome_change c ORDER BY c.part LIMIT ?',
    fold: intoHour(`SELECT c.*, CASE WHEN c.start < ${dialect.bigint} THEN ${floored('c.start', HOUR)} ELSE c.start END AS slot,
        CASE WHEN c.start < ${dialect.bigint} THEN 60 ELSE 5 END AS width
      FROM ${ids.keyed} ${dialect.join} messaging_outcome_change c ${primary} ON c.part = v_id WHERE 1 = 1`),
    forget: dialect.deleteFrom('messaging_outcome_change', 'part', ids),
    folded: intoHour(`SELECT h.*, ${floored('h.start', HOUR)} AS slot, 60 AS width
      FROM messaging_outcome_hour h WHERE h.minutes = 5 AND h.start < ?`),
    oldest: 'SELECT min(start) AS start FROM messaging_outcome_hour',
    forgetHour: 'DELETE FROM messaging_outcome_hour WHERE start >= ? AND start < ?',
    forgetFolded: 'DELETE FROM messaging_outcome_hour WHERE minutes = 5 AND start < ?',
  };
}
