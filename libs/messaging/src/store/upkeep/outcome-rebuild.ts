import { addressOfKey } from '../../message/address.js';
import { COUNTRY_DIGITS, countryOfNumber } from '../../message/phone-country.js';
import { STATUS_RANK } from '../../message/status.js';
import type { Clock } from '../../ports/clock.js';
import type { SpendGuards, SpentAmount } from '../../ports/spend-guard.js';
import { type Dialect, inserter, into, type RowWriter } from '../database/dialect.js';
import type { StoreDatabase, Transaction } from '../database/store-database.js';
import { ID_SLACK, idAt } from '../reads/newest-batches.js';
import type { GuardedMessage, GuardedMessages } from '../reads/guarded-messages.js';
import { latencyClass } from '../rows/latency.js';
import { IS_TAKEN, type OutcomeCosts } from '../rows/outcome-costs.js';
import { intoTotals, OUTCOME_AMOUNTS, OUTCOME_KEY, OUTCOME_SUMS } from '../schema/outcomes.js';
import { edgeOf } from '../verbs/outcome-counts.js';
import { dueTime, FIVE_MINUTES, histograms, HOUR, labelsOf } from '../verbs/outcome-sql.js';

/** Rows of one statement. */
const ROWS = 500;

type Big = string | number | bigint;

/** A row of `outcome_hour`, with the numbers as the driver returns them. */
type OutcomeRow = Readonly<Record<string, Big>>;

interface FoundRow extends OutcomeRow {
  /** First digits and length of the recipient; '': no phone number, or `country` is known. */
  readonly digits: string;
  readonly length: Big;
  /** Parts of each message. */
  readonly units: Big;
  /** Messages that their provider has taken. */
  readonly taken: Big;
  /** 1: the spend guard accepted their batches. */
  readonly guarded: Big;
}

/** A batch whose messages the spend guard may have charged. */
interface GuardedFacts {
  readonly id: string;
  readonly tenant: string;
  readonly channel: string;
  readonly sender: string;
  readonly tag: string;
  readonly category: string;
  readonly parts: number;
}

/** Where the prices of messages are. */
interface Prices {
  readonly spend: SpendGuards;
  readonly guarded: GuardedMessages;
}

export interface RebuiltOutcomes {
  /** Hours whose counts were made again. */
  readonly rebuilt: number;
  /** Hours with messages that retention or an erasure has erased: their counts stay as they were. */
  readonly kept: number;
}

/**
 * Counts the messages of whole hours again, from their rows and the log, one transaction an hour.
 * While it holds the lock of a fold, the counts of an hour are its messages less what changes have
 * written and no fold has moved. Both are read as of one time for 5 minutes, so that a change that
 * commits meanwhile is in both or in neither.
 */
export class OutcomeRebuild {
  readonly #sql: ReturnType<typeof statementsFor>;
  readonly #insert: RowWriter<OutcomeRow>;

  constructor(
    private readonly database: StoreDatabase,
    private readonly clock: Clock,
    private readonly costs: OutcomeCosts,
    private readonly prices: Prices,
  ) {
    const { channels, dialect } = database;
    const own = channels.all.map(
      ({ name }) => `WHEN '${name}' THEN ${channels.acceptedRankOf(name)}`,
    );
    const accepted = `CASE o.channel ${own.join(' ')} ELSE ${STATUS_RANK.sent} END`;
    this.#sql = statementsFor(dialect, {
      accepted,
      reached: channels.reachedRanks,
      digits: Math.max(COUNTRY_DIGITS, costs.digits),
    });
    const columns = Object.fromEntries(
      [...OUTCOME_KEY, 'minutes', ...OUTCOME_SUMS].map((name) => {
        const type = TEXTS.has(name) ? 'key' : LARGE.has(name) ? 'bigint' : 'int';
        const value = (row: OutcomeRow) =>
          typeof row[name] === 'bigint' ? String(row[name]) : row[name];
        return [`v_${name}`, [type, value]] as const;
      }),
    );
    this.#insert = inserter(dialect, into('outcome_hour', columns), columns);
  }

  /** @param since, until epoch milliseconds; whole hours from the one that has `since` @default all */
  async run(since: number | undefined, until = this.clock.now()): Promise<RebuiltOutcomes> {
    const from = since === undefined ? await this.#first() : since * 1_000;
    const result = { rebuilt: 0, kept: 0 };
    if (from === undefined) return result;
    for (let hour = from - (from % HOUR); hour < until * 1_000; hour += HOUR) {
      const outcome = await this.database.longTransaction((tx) => this.#hour(tx, hour));
      if (outcome !== 'empty') result[outcome]++;
    }
    return result;
  }

  async #first(): Promise<number | undefined> {
    const [first] = await this.database.all<{ createdAt: Big }>(this.#sql.first);
    return first && Number(first.createdAt);
  }

  async #hour(tx: Transaction, hour: number): Promise<'rebuilt' | 'kept' | 'empty'> {
    const { lock, any, erased, forget, forgetTotals, total } = this.#sql;
    const [state] = await tx.all<{ purgedUntil: Big }>(lock);
    if (hour <= Number(state?.purgedUntil)) return 'kept';
    const whole = rangeOf(hour, HOUR);
    if ((await tx.all(any, whole)).length === 0) return 'empty';
    const isDetailed = hour >= edgeOf(this.clock);
    const rows = new Map<string, Record<string, Big>>();
    for (let start = hour; start < hour + HOUR; start += FIVE_MINUTES) {
      const found = await this.database.snapshotWithin(tx, (sql) => this.#slice(sql, start));
      for (const row of found)
        addTo(rows, row, isDetailed ? { start, minutes: 5 } : { start: hour, minutes: 60 });
      // The server ends a transaction that is idle for long.
      await tx.all(lock);
    }
    // Last, so that an erasure that commits meanwhile is seen.
    if ((await tx.all(erased, whole)).length > 0) return 'kept';
    await tx.run(forget, [hour, hour + HOUR]);
    const counted = [...rows.values()].filter((row) =>
      OUTCOME_SUMS.some((name) => Number(row[name]) !== 0),
    );
    for (let at = 0; at < counted.length; at += ROWS)
      await this.#insert(tx, counted.slice(at, at + ROWS));
    await tx.run(forgetTotals, [hour, hour + HOUR]);
    await tx.run(total, [hour, hour + HOUR]);
    return 'rebuilt';
  }

  /** Of messages that were accepted in the 5 minutes. */
  async #slice(sql: Transaction, start: number): Promise<readonly OutcomeRow[]> {
    const range = rangeOf(start, FIVE_MINUTES);
    const currencies = new Map<string, string>();
    const charged = await this.#charged(sql, range, currencies);
    const found = await sql.all<FoundRow>(this.#sql.slice, [...range, start]);
    return [...charged, ...found.map((row) => this.#counted(row, currencies))];
  }

  #counted(
    { digits, length, units, taken, guarded, ...row }: FoundRow,
    currencies: ReadonlyMap<string, string>,
  ): OutcomeRow {
    // Of what changes have written, whose country and cost are known.
    if (Number(taken) < 0) return row;
    const number = Number(length) > 0 ? digits : '';
    const cost = this.costs.of(
      String(row['provider']),
      String(row['channel']),
      number,
      Number(units),
    );
    return {
      ...row,
      country: number === '' ? '' : countryOfNumber(number, Number(length)),
      currency: (Number(guarded) === 1 && currencies.get(String(row['tenant']))) || '',
      cost_currency: cost?.currency ?? '',
      cost: (cost?.amount ?? 0n) * BigInt(taken),
    };
  }

  /** @param currencies gets that of each tenant */
  async #charged(
    sql: Transaction,
    range: readonly unknown[],
    currencies: Map<string, string>,
  ): Promise<readonly OutcomeRow[]> {
    const { spend, guarded } = this.prices;
    const { guard } = spend;
    const batches = guard?.spent ? await sql.all<GuardedFacts>(this.#sql.guarded, range) : [];
    const rows: OutcomeRow[] = [];
    for (let from = 0; from < batches.length; from += ROWS) {
      const known = new Map(batches.slice(from, from + ROWS).map((one) => [one.id, one]));
      const ids = [...known.keys()];
      const spent = await this.database.runForeign(() => guard!.spent!(ids, sql.manager));
      for await (const page of guarded.of(ids, sql))
        for (const message of page) {
          const amount = spent.get(message.messageId);
          const facts = known.get(message.batchId);
          if (!amount || !facts) continue;
          currencies.set(facts.tenant, amount.currency);
          if (amount.amount !== 0n) rows.push(this.#priceOf(message, facts, amount));
        }
    }
    return rows;
  }

  #priceOf(
    { recipient, provider, status }: GuardedMessage,
    { id: _id, parts, ...facts }: GuardedFacts,
    { amount, currency }: SpentAmount,
  ): OutcomeRow {
    const address = recipient === '' ? undefined : addressOfKey(recipient);
    const digits = address?.kind === 'phone' ? address.value : '';
    const cost = this.costs.of(provider ?? '', facts.channel, digits, Number(parts));
    return {
      ...Object.fromEntries(OUTCOME_SUMS.map((name) => [name, 0])),
      ...facts,
      provider: provider ?? '',
      country: digits === '' ? '' : countryOfNumber(digits),
      status: this.database.channels.rankOf(status) ?? 0,
      currency,
      cost_currency: cost?.currency ?? '',
      price: amount,
    };
  }
}

const TEXTS = new Set(OUTCOME_KEY.filter((name) => name !== 'start' && name !== 'status'));
const LARGE = new Set(['start', ...OUTCOME_AMOUNTS]);

function addTo(
  rows: Map<string, Record<string, Big>>,
  found: OutcomeRow,
  place: { readonly start: number; readonly minutes: number },
): void {
  const named: Record<string, Big> = { ...found, ...place };
  const key = OUTCOME_KEY.map((name) => named[name]).join('\n');
  const row = rows.get(key) ?? { ...named, ...Object.fromEntries(OUTCOME_SUMS.map((n) => [n, 0])) };
  for (const name of OUTCOME_SUMS)
    row[name] = OUTCOME_AMOUNTS.has(name)
      ? BigInt(row[name] ?? 0) + BigInt(found[name] ?? 0)
      : Number(row[name]) + Number(found[name]);
  rows.set(key, row);
}

/** Ids and acceptance of the batches of a period. */
function rangeOf(start: number, span: number): unknown[] {
  const [from, to] = [start / 1_000 - ID_SLACK, (start + span) / 1_000 + ID_SLACK];
  return [idAt(from, '0'), idAt(to, 'f'), start, start + span];
}

interface Rules {
  /** SQL: the rank of accepted messages. */
  readonly accepted: string;
  readonly reached: readonly number[];
  /** Of a number, that country and cost depend on. */
  readonly digits: number;
}

function statementsFor(dialect: Dialect, { accepted, reached, digits: most }: Rules) {
  const primary = dialect.forceIndex('PRIMARY');
  const { tag, category } = labelsOf(dialect);
  const inRange = 'b.id >= ? AND b.id <= ? AND b.created_at >= ? AND b.created_at < ?';
  const isReached = `IN (${reached.join(', ')})`;
  const keys = OUTCOME_KEY.filter((name) => name !== 'start').join(', ');
  const digits = `CASE WHEN m.recipient LIKE '%@%' OR m.recipient LIKE 'platform:%' THEN ''
    ELSE substr(m.recipient, 1, ${most}) END AS digits, length(m.recipient) AS length`;
  const ofMessage = `o.tenant, o.channel, '' AS country, ${digits}, o.sender, o.tag, o.category, o.parts AS units,
    o.guarded, '' AS currency, '' AS cost_currency, 0 AS price, 0 AS cost`;
  const raises = (latency: number, condition: string) =>
    `SELECT ${ofMessage}, r.provider, r.status, 0 AS messages, 0 AS parts, 0 AS taken, ${latency} AS latency,
       ${latencyClass('(r.received_at - o.due)')} AS span
     FROM r JOIN o ON o.id = r.batch
     ${dialect.join} messaging_message m ${primary} ON m.batch = r.batch AND m.position = r.position
     WHERE ${condition} AND NOT (r.provider = 'operator' AND r.raw_status = 'settled')`;
  const batches = `SELECT b.id, b.tenant, b.channel, b.sender, b.parts, b.guarded, ${tag} AS tag, ${category} AS category,
      ${dueTime(dialect)} AS due
    FROM messaging_batch b LEFT JOIN messaging_batch_label l ON l.batch = b.id AND l.n = 0
    WHERE ${inRange}`;
  const sums = ['messages', 'parts', 'price', 'cost'];
  return {
    first: `SELECT b.created_at AS "createdAt" FROM messaging_batch b ORDER BY b.id LIMIT 1`,
    lock: `SELECT o.purged_until AS "purgedUntil" FROM messaging_outcome_state o WHERE o.id = 0 ${dialect.forUpdate('o')}`,
    any: `SELECT b.id FROM messaging_batch b WHERE ${inRange} LIMIT 1`,
    erased: `SELECT b.id FROM messaging_batch b
      ${dialect.join} messaging_message m ${primary} ON m.batch = b.id
      WHERE ${inRange} AND m.recipient = '' LIMIT 1`,
    guarded: `SELECT o.id, o.tenant, o.channel, o.sender, o.tag, o.category, o.parts
      FROM (${batches} AND b.guarded = 1) AS o ORDER BY o.id`,
    slice: `WITH o AS (${batches}),
      r AS (
        SELECT r.batch, r.position, r.provider, r.status, r.raw_status, r.received_at,
          lag(r.status) OVER (PARTITION BY r.batch, r.position ORDER BY r.sequence) AS previous
        FROM o ${dialect.join} messaging_report r ${dialect.forceIndex('messaging_report_batch')} ON r.batch = o.id
        WHERE r.position IS NOT NULL AND r.status IS NOT NULL AND r.sequence IS NOT NULL),
      c AS (
        SELECT ${ofMessage}, coalesce(s.provider, '') AS provider, m.status, 1 AS messages,
          CASE WHEN s.provider IS NULL THEN 0 ELSE o.parts END AS parts,
          CASE WHEN ${IS_TAKEN} THEN 1 ELSE 0 END AS taken, 0 AS latency, 0 AS span
        FROM o ${dialect.join} messaging_message m ${primary} ON m.batch = o.id
        LEFT JOIN messaging_submission s ON s.batch = m.batch AND s.n = m.submission
        WHERE m.status >= ${STATUS_RANK.unknown} AND m.status <> ${STATUS_RANK.cancelled}
        UNION ALL ${raises(1, `r.status = ${accepted}`)}
        UNION ALL ${raises(2, `r.status ${isReached} AND (r.previous IS NULL OR NOT r.previous ${isReached})`)})
      SELECT ${keys}, digits, length, units, guarded, sum(taken) AS taken,
        ${sums.map((name) => `sum(${name}) AS ${name}`).join(', ')}, ${histograms()}
      FROM c GROUP BY ${keys}, digits, length, units, guarded
      UNION ALL
      SELECT ${keys}, '' AS digits, 0 AS length, 0 AS units, 0 AS guarded, -1 AS taken,
        ${OUTCOME_SUMS.map((name) => `-${name} AS ${name}`).join(', ')}
      FROM messaging_outcome_change WHERE start = ?`,
    forget: 'DELETE FROM messaging_outcome_hour WHERE start >= ? AND start < ?',
    forgetTotals: 'DELETE FROM messaging_outcome_total WHERE start >= ? AND start < ?',
    total: intoTotals('start >= ? AND start < ?'),
  };
}
