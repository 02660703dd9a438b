import type { RecentOutcomes } from '../../message/outcomes.js';
import {
  receiptEvidence,
  type ReceiptFinding,
  receiptFindings,
  type WitnessedReceipts,
} from '../../message/receipt-doubts.js';
import type { Clock } from '../../ports/clock.js';
import type { StoreDatabase } from '../../store/database/store-database.js';
import { recentOutcomes } from '../../store/reads/recent-outcomes.js';

/** Reads what became of messages, and what second witnesses say of the reports. */
export class ReceiptDoubts {
  constructor(
    private readonly store: { readonly database: StoreDatabase },
    private readonly clock: Pick<Clock, 'now'>,
    private readonly witness: (since: Date) => Promise<readonly WitnessedReceipts[]> = () =>
      Promise.resolve([]),
  ) {}

  /** @param since of messages that were accepted since, in epoch milliseconds */
  async read(since: number): Promise<{
    readonly found: readonly RecentOutcomes[];
    readonly doubts: readonly ReceiptFinding[];
  }> {
    const { database } = this.store;
    const found = await recentOutcomes(database, since);
    const codes = await codeChecks(database, since, this.clock.now());
    const witnessed = await this.witness(new Date(since));
    return { found, doubts: receiptFindings(receiptEvidence(found, codes, witnessed)) };
  }
}

/** One-time codes of one provider, channel and country of which no failure was reported. */
interface CodeChecks {
  readonly provider: string;
  readonly channel: string;
  readonly country: string;
  readonly codes: number;
  readonly checked: number;
}

/** Time in ms that a person has to check a code. */
const MATURE = 600_000;

/** Newest codes that are looked at. */
const MOST = 20_000;

/**
 * How many of the codes that were sent since a time were checked, rightly or not.
 * @param since, now epoch milliseconds
 */
async function codeChecks(
  database: StoreDatabase,
  since: number,
  now: number,
): Promise<readonly CodeChecks[]> {
  const { dialect, channels } = database;
  const [primary, failed] = [dialect.forceIndex('PRIMARY'), channels.failedRanks];
  const accepted = [...new Set(channels.all.map(({ name }) => channels.acceptedRankOf(name)))];
  const ranks = [...accepted, ...channels.reachedRanks].filter((rank) => !failed.includes(rank));
  const rows = await database.all<{
    provider: string;
    channel: string;
    country: string;
    codes: string | number;
    checked: string | number;
  }>(
    `SELECT s.provider, v.channel, v.country, count(*) AS codes,
       sum(CASE WHEN v.tries > 0 OR v.status = 'verified' THEN 1 ELSE 0 END) AS checked
     FROM (SELECT c.batch, c.channel, c.country, c.tries, c.status FROM messaging_verification c
       WHERE c.created_at >= ? AND c.created_at < ? ORDER BY c.created_at DESC LIMIT ?) AS v
     JOIN messaging_message m ${primary} ON m.batch = v.batch AND m.position = 0
     JOIN messaging_submission s ${primary} ON s.batch = m.batch AND s.n = m.submission
     WHERE m.status IN (${ranks.map(() => '?').join(', ')})
     GROUP BY s.provider, v.channel, v.country`,
    [since * 1_000, (now - MATURE) * 1_000, MOST, ...ranks],
  );
  return rows.map(({ codes, checked, ...place }) => ({
    ...place,
    codes: Number(codes),
    checked: Number(checked),
  }));
}
