import { COUNTRY_DIGITS, countryOfNumber } from '../../message/phone-country.js';
import { STATUS_RANK } from '../../message/status.js';
import type { Clock } from '../../ports/clock.js';
import { type Dialect, inserter, into, type RowWriter } from '../database/dialect.js';
import type { StoreDatabase, Transaction } from '../database/store-database.js';
import { ID_SLACK, idAt } from '../reads/newest-batches.js';
import { latencyClass } from '../rows/latency.js';
import { OUTCOME_KEY, OUTCOME_SUMS } from '../schema/outcomes.js';
import {
  dueTime,
  edgeOf,
  FIVE_MINUTES,
  histograms,
  HOUR,
  labelsOf,
} from '../verbs/outcome-counts.js';

/** Rows of one statement. */
const ROWS = 500;

type Big = string | number;

/** A row of `outcome_hour`, with the numbers as the driver returns them. */
type OutcomeRow = Readonly<Record<string, Big>>;

interface FoundRow extends OutcomeRow {
  /** First digits and length of the recipient; '': no phone number, or `country` is known. */
  readonly digits: string;
  readonly length: Big;
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
 * written and no fold has moved. Both come from one statement for 5 minutes, so that a change that
 * commits meanwhile is in both or in neither.
 */
export class OutcomeRebuild {
  readonly #sql: ReturnType<typeof statementsFor>;
  readonly #insert: RowWriter<OutcomeRow>;

  constructor(
    private readonly database: StoreDatabase,
    private readonly clock: Clock,
  ) {
    const { channels, dialect } = database;
    const own = channels.all.map(
      ({ name }) => `WHEN '${name}' THEN ${channels.acceptedRankOf(name)}`,
    );
    const accepted = `CASE o.channel ${own.join(' ')} ELSE ${STATUS_RANK.sent} END`;
    this.#sql = statementsFor(dialect, accepted, channels.reachedRanks);
    const columns = Object.fromEntries(
      [...OUTCOME_KEY, 'minutes', ...OUTCOME_SUMS].map((name) => {
        const type = TEXTS.has(name) ? 'key' : name === 'start' ? 'bigint' : 'int';
        return [`v_${name}`, [type, (row: OutcomeRow) => row[name]]] as const;
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
    const { lock, any, erased, slice, forget } = this.#sql;
    const [state] = await tx.all<{ purgedUntil: Big }>(lock);
    if (hour <= Number(state?.purgedUntil)) return 'kept';
    const whole = rangeOf(hour, HOUR);
    if ((await tx.all(any, whole)).length === 0) return 'empty';
    const isDetailed = hour >= edgeOf(this.clock);
    const rows = new Map<string, Record<string, Big>>();
    for (let start = hour; start < hour + HOUR; start += FIVE_MINUTES)
      for (const found of await tx.all<FoundRow>(slice, [...rangeOf(start, FIVE_MINUTES), start]))
        addTo(rows, found, isDetailed ? { start, minutes: 5 } : { start: hour, minutes: 60 });
    // Last, so that an erasure that commits meanwhile is seen.
    if ((await tx.all(erased, whole)).length > 0) return 'kept';
    await tx.run(forget, [hour, hour + HOUR]);
    const counted = [...rows.values()].filter((row) =>
      OUTCOME_SUMS.some((name) => row[name] !== 0),
    );
    for (let at = 0; at < counted.length; at += ROWS)
      await this.#insert(tx, counted.slice(at, at + ROWS));
    return 'rebuilt';
  }
}

const TEXTS = new Set(OUTCOME_KEY.filter((name) => name !== 'start' && name !== 'status'));

function addTo(
  rows: Map<string, Record<string, Big>>,
  { digits, length, ...found }: FoundRow,
  place: { readonly start: number; readonly minutes: number },
): void {
  const country = digits === '' ? found['country'] : countryOfNumber(digits, Number(length));
  const named: Record<string, Big> = { ...found, ...place, country: country ?? '' };
  const key = OUTCOME_KEY.map((name) => named[name]).join('\n');
  const row = rows.get(key) ?? { ...named, ...Object.fromEntries(OUTCOME_SUMS.map((n) => [n, 0])) };
  for (const name of OUTCOME_SUMS) row[name] = Number(row[name]) + Number(found[name]);
  rows.set(key, row);
}

/** Ids and acceptance of the batches of a period. */
function rangeOf(start: number, span: number): unknown[] {
  const [from, to] = [start / 1_000 - ID_SLACK, (start + span) / 1_000 + ID_SLACK];
  return [idAt(from, '0'), idAt(to, 'f'), start, start + span];
}

function statementsFor(dialect: Dialect, accepted: string, reached: readonly number[]) {
  const primary = dialect.forceIndex('PRIMARY');
  const { tag, category } = labelsOf(dialect);
  const inRange = 'b.id >= ? AND b.id <= ? AND b.created_at >= ? AND b.created_at < ?';
  const isReached = `IN (${reached.join(', ')})`;
  const keys = OUTCOME_KEY.filter((name) => name !== 'start').join(', ');
  const digits = `CASE WHEN m.recipient LIKE '%@%' OR m.recipient LIKE 'platform:%' THEN ''
    ELSE substr(m.recipient, 1, ${COUNTRY_DIGITS}) END AS digits, length(m.recipient) AS length`;
  const ofMessage = `o.tenant, o.channel, '' AS country, ${digits}, o.sender, o.tag, o.category`;
  const raises = (latency: number, condition: string) =>
    `SELECT ${ofMessage}, r.provider, r.status, 0 AS messages, 0 AS parts, ${latency} AS latency,
       ${latencyClass('(r.received_at - o.due)')} AS span
     FROM r JOIN o ON o.id = r.batch
     ${dialect.join} messaging_message m ${primary} ON m.batch = r.batch AND m.position = r.position
     WHERE ${condition} AND NOT (r.provider = 'operator' AND r.raw_status = 'settled')`;
  return {
    first: `SELECT b.created_at AS "createdAt" FROM messaging_batch b ORDER BY b.id LIMIT 1`,
    lock: `SELECT o.purged_until AS "purgedUntil" FROM messaging_outcome_state o WHERE o.id = 0 ${dialect.forUpdate('o')}`,
    any: `SELECT b.id FROM messaging_batch b WHERE ${inRange} LIMIT 1`,
    erased: `SELECT b.id FROM messaging_batch b
      ${dialect.join} messaging_message m ${primary} ON m.batch = b.id
      WHERE ${inRange} AND m.recipient = '' LIMIT 1`,
    slice: `WITH o AS (
        SELECT b.id, b.tenant, b.channel, b.sender, b.parts, ${tag} AS tag, ${category} AS category,
          ${dueTime(dialect)} AS due
        FROM messaging_batch b LEFT JOIN messaging_batch_label l ON l.batch = b.id AND l.n = 0
        WHERE ${inRange}),
      r AS (
        SELECT r.batch, r.position, r.provider, r.status, r.raw_status, r.received_at,
          lag(r.status) OVER (PARTITION BY r.batch, r.position ORDER BY r.sequence) AS previous
        FROM o ${dialect.join} messaging_report r ${dialect.forceIndex('messaging_report_batch')} ON r.batch = o.id
        WHERE r.position IS NOT NULL AND r.status IS NOT NULL AND r.sequence IS NOT NULL),
      c AS (
        SELECT ${ofMessage}, coalesce(s.provider, '') AS provider, m.status, 1 AS messages,
          CASE WHEN s.provider IS NULL THEN 0 ELSE o.parts END AS parts, 0 AS latency, 0 AS span
        FROM o ${dialect.join} messaging_message m ${primary} ON m.batch = o.id
        LEFT JOIN messaging_submission s ON s.batch = m.batch AND s.n = m.submission
        WHERE m.status >= ${STATUS_RANK.unknown} AND m.status <> ${STATUS_RANK.cancelled}
        UNION ALL ${raises(1, `r.status = ${accepted}`)}
        UNION ALL ${raises(2, `r.status ${isReached} AND (r.previous IS NULL OR NOT r.previous ${isReached})`)})
      SELECT ${keys}, digits, length, sum(messages) AS messages, sum(parts) AS parts, ${histograms()}
      FROM c GROUP BY ${keys}, digits, length
      UNION ALL
      SELECT ${keys}, '' AS digits, 0 AS length, ${OUTCOME_SUMS.map((name) => `-${name} AS ${name}`).join(', ')}
      FROM messaging_outcome_change WHERE start = ?`,
    forget: 'DELETE FROM messaging_outcome_hour WHERE start >= ? AND start < ?',
  };
}
