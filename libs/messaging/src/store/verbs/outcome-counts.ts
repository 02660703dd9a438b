import { addressOfKey } from '../../message/address.js';
import { countryOfNumber } from '../../message/phone-country.js';
import { STATUS_RANK } from '../../message/status.js';
import type { Clock } from '../../ports/clock.js';
import type { Dialect } from '../database/dialect.js';
import type { Sql, StoreDatabase, Transaction } from '../database/store-database.js';
import { LATENCY_BOUNDS, latencyClass } from '../rows/latency.js';
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

interface Counted {
  readonly part: string;
  readonly batch: string;
  readonly position: number;
  readonly country: string;
  /** Where the change comes from; `latency` counts under it. The message counts under that of its submission. */
  readonly provider: string | undefined;
  readonly status: number;
  readonly messages: -1 | 1;
  readonly latency: (typeof LATENCY)[keyof typeof LATENCY];
  /** Epoch microseconds. */
  readonly at: number;
}

const COUNTED = {
  v_batch: ['uuid', ({ batch }: Counted) => batch],
  v_position: ['int', ({ position }: Counted) => position],
  v_part: ['uuid', ({ part }: Counted) => part],
  v_country: ['key', ({ country }: Counted) => country],
  v_provider: ['key', ({ provider }: Counted) => provider],
  v_status: ['int', ({ status }: Counted) => status],
  v_messages: ['int', ({ messages }: Counted) => messages],
  v_latency: ['int', ({ latency }: Counted) => latency],
  v_at: ['bigint', ({ at }: Counted) => at],
} as const;

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

/** SQL: the histograms of rows with a `latency` kind and its class `span`, each of which stands for `changes`. */
export function histograms(changes: string | number = 1): string {
  return (['sent', 'delivered'] as const)
    .flatMap((name) =>
      Array.from(
        { length: LATENCY_BOUNDS.length + 1 },
        (_, n) =>
          `sum(CASE WHEN latency = ${LATENCY[name]} AND span = ${n} THEN ${changes} ELSE 0 END) AS ${name}_${n}`,
      ),
    )
    .join(', ');
}

/** Whether messages with the status are in the counts: those that have been submitted or refused. */
function isCountedRank(rank: number): boolean {
  return rank >= STATUS_RANK.unknown && rank !== STATUS_RANK.cancelled;
}

/**
 * Counts messages by their acceptance, provider, country, sender, tag, category and status in the
 * transaction that changes them, one statement for a group of changes:
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

  constructor(
    private readonly database: StoreDatabase,
    private readonly clock: Clock,
  ) {
    this.#sql = statementsFor(database.dialect);
    this.#reached = new Set(database.channels.reachedRanks);
  }

  async add(tx: Transaction, changes: readonly StatusChange[]): Promise<void> {
    const part = this.clock.id();
    const rows = changes.flatMap((change) => this.#countedBy(change, part));
    if (rows.length > 0) await tx.run(this.#sql.add, this.#sql.rows.bind(rows));
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

  #countedBy(change: StatusChange, part: string): Counted[] {
    const { message, previous, status, event, provider } = change;
    const { batch, position, recipient } = message;
    // Its country and labels are erased: the message stays where it is counted.
    if (recipient === '' || (event !== undefined && !change.isRedial)) return [];
    const address = addressOfKey(recipient);
    const country = address.kind === 'phone' ? countryOfNumber(address.value) : '';
    const at = change.receivedAt ?? change.at;
    const row = { part, batch, position, country, provider, at };
    const rows: Counted[] = [];
    if (isCountedRank(previous))
      rows.push({ ...row, status: previous, messages: -1, latency: LATENCY.none });
    if (isCountedRank(status) && !change.isRedial)
      rows.push({ ...row, status, messages: 1, latency: this.#latencyOf(change) });
    return rows;
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
  const rows = dialect.rows<Counted>(COUNTED);
  const ids = dialect.rows<string>({ v_id: ['uuid', (id) => id] });
  const primary = dialect.forceIndex('PRIMARY');
  const [keys, sums] = [OUTCOME_KEY.join(', '), OUTCOME_SUMS.join(', ')];
  const own = OUTCOME_KEY.filter((name) => name !== 'start').join(', ');
  const others = OUTCOME_KEY.filter((name) => name !== 'provider').join(', ');
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
    add: `INSERT INTO messaging_outcome_change (part, n, ${keys}, ${sums})
      SELECT part, row_number() OVER (ORDER BY ${keys}), ${keys}, ${sums} FROM (
        SELECT part, ${others}, CASE what WHEN 0 THEN holder ELSE reporter END AS provider,
          sum(CASE what WHEN 0 THEN messages ELSE 0 END) AS messages,
          sum(CASE what WHEN 0 THEN parts ELSE 0 END) AS parts, ${histograms('changes * what')}
        FROM (SELECT part, ${others}, holder, reporter, latency, span,
              sum(messages) AS messages, sum(messages * parts) AS parts, count(*) AS changes
          FROM (SELECT v_part AS part, ${floored('b.created_at', FIVE_MINUTES)} AS start, b.tenant, b.channel,
              v_country AS country, b.sender, ${tag} AS tag, ${category} AS category, v_status AS status,
              coalesce(s.provider, '') AS holder, coalesce(v_provider, '') AS reporter,
              v_messages AS messages, CASE WHEN s.provider IS NULL THEN 0 ELSE b.parts END AS parts,
              v_latency AS latency,
              CASE WHEN v_latency <> ${LATENCY.none} THEN ${latencyClass(`(v_at - ${dueTime(dialect)})`)} END AS span
            FROM ${rows.keyed}
            ${dialect.join} messaging_message m ${primary} ON m.batch = v_batch AND m.position = v_position
            ${dialect.join} messaging_batch b ${primary} ON b.id = m.batch
            LEFT JOIN messaging_submission s ON s.batch = m.batch AND s.n = m.submission
            LEFT JOIN messaging_batch_label l ON l.batch = b.id AND l.n = 0) AS c
          GROUP BY part, ${others}, holder, reporter, latency, span) AS c
        JOIN (SELECT 0 AS what UNION ALL SELECT 1) AS w ON what = 0 OR latency <> ${LATENCY.none}
        GROUP BY part, ${keys}) AS g`,
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
