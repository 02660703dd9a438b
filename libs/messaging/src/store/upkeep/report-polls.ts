import { setImmediate as turn } from 'node:timers/promises';
import { submissionPlaceOf } from '../../message/ids.js';
import { doubledWait } from '../../message/doubled-wait.js';
import { STATUS_RANK } from '../../message/status.js';
import type { PartReport, SentSubmission } from '../../ports/message-transport.js';
import { type Dialect, updater } from '../database/dialect.js';
import type { StoreDatabase } from '../database/store-database.js';
import { readContent } from '../rows/stored-content.js';
import { IN_SPAN, slicesOf, SPANS, spansOf } from '../rows/span.js';

/** Longest time between two polls of one batch, in milliseconds. */
const LONGEST_WAIT = 3_600_000;

/** First and longest time for channels whose messages are not repeated; their polls never end. */
const IRREVOCABLE = { after: 5_000, longest: 86_400_000 };

/** Most parts of long messages in one statement. */
const MOST_PARTS = 1_000;

/** Most recipients in one claim; a larger batch is claimed alone. */
const RECIPIENTS = 100_000;

interface UnreportedSubmission extends SentSubmission {
  readonly provider: string;
}

interface Part {
  readonly index: number;
  readonly provider: string;
  readonly id: string;
}

interface PartRow extends Pick<PartReport, 'rawStatus' | 'errorCode'> {
  readonly v_index: number;
  readonly rank: number | null;
  readonly providerTime: string | number | null;
}

interface DueBatch {
  readonly id: string;
  readonly channel: string;
  readonly polls: number;
  readonly recipients: number;
  readonly isGivenUp: number | boolean;
}

interface UnreportedRow extends Omit<
  UnreportedSubmission,
  'submissionId' | 'recipients' | 'firstSentAt' | 'content'
> {
  readonly content: string | null;
  readonly batch: string;
  readonly n: number;
  readonly sentAt: string | number;
  readonly recipient: string;
  readonly status: number;
}

/** The wait between polls doubles each time, up to {@link LONGEST_WAIT}, until `giveUpAfter`. */
export class ReportPolls {
  readonly #sql: ReturnType<typeof statementsFor>;

  constructor(
    private readonly database: StoreDatabase,
    /** First wait in milliseconds. */
    private readonly after: number,
    private readonly giveUpAfter: number,
  ) {
    const { dialect, channels } = database;
    const irrevocable = channels.namesWhere((channel) => channel.irrevocable !== undefined);
    this.#sql = statementsFor(dialect, channels.pendingRanks, irrevocable);
  }

  /**
   * Claims batches whose poll is due and sets their next poll, so that no other replica polls them.
   * A batch without missing reports, or past the limit, is not polled again.
   */
  async claim(limit: number): Promise<UnreportedSubmission[]> {
    const { due, move, unreported, spans, end } = this.#sql;
    const claimed = await this.database.transaction(async (tx) => {
      const batches = withinRecipients(
        await tx.all<DueBatch>(due, [this.giveUpAfter * 1_000, limit]),
      );
      await move(
        tx,
        batches.map(({ id, channel, polls, isGivenUp }) => {
          const isAskedOn = this.database.channels.find(channel)?.irrevocable !== undefined;
          const { after, longest } = isAskedOn
            ? IRREVOCABLE
            : { after: this.after, longest: LONGEST_WAIT };
          const wait = doubledWait(after, polls + 1, longest) * 1_000;
          return [id, Number(isGivenUp) === 1 && !isAskedOn ? null : wait];
        }),
      );
      return batches;
    });
    const found = new Submissions();
    // Read outside of the transaction, which SQLite runs in one turn of the event loop.
    for (const slice of slicesOf(claimed.flatMap((one) => spansOf(one.id, one.recipients)))) {
      const bound = spans.bind([...slice.entries()]);
      found.add(await this.database.all<UnreportedRow>(unreported, bound));
      await turn();
    }
    const reported = claimed.filter(({ id }) => !found.lacking.has(id));
    if (reported.length > 0) await this.database.transaction((tx) => end(tx, reported));
    return this.#withParts(found.all);
  }

  /** Adds the reports of the parts of long messages: those without a message, and those that name a part. */
  async #withParts(found: UnreportedSubmission[]): Promise<UnreportedSubmission[]> {
    const { partNames, partBatches, waiting, logged } = this.#sql;
    const names = found.flatMap(({ reference, provider, submissionId }, index) => {
      const batch = submissionPlaceOf(submissionId)?.batch;
      return reference?.includes(' ') && batch !== undefined
        ? reference.split(' ').map((id) => ({ index, provider, id, batch }))
        : [];
    });
    const reports = new Map<number, PartReport[]>();
    const add = (index: number, id: string, { rank, providerTime, ...report }: PartRow) => {
      const { channels } = this.database;
      const status = rank !== null && channels.hasRank(rank) ? channels.statusOf(rank) : null;
      const { rawStatus, errorCode } = report;
      const time = providerTime === null ? null : new Date(Number(providerTime) / 1_000);
      const part = { id, status, rawStatus, errorCode, providerTime: time };
      reports.set(index, [...(reports.get(index) ?? []), part]);
    };
    for (let from = 0; from < names.length; from += MOST_PARTS) {
      const bound = partNames.bind(names.slice(from, from + MOST_PARTS));
      for (const row of await this.database.all<PartRow & { v_id: string }>(waiting, bound))
        add(row.v_index, row.v_id, row);
    }
    const batches = [...new Set(names.map(({ batch }) => batch))];
    const indexOf = new Map(names.map(({ batch, id, index }) => [`${batch} ${id}`, index]));
    for (const entry of batches.entries())
      for (const row of await this.database.all<PartRow & { details: string }>(
        logged,
        partBatches.bind([entry]),
      )) {
        const { part } = JSON.parse(row.details) as { readonly part?: unknown };
        const index = indexOf.get(`${entry[1]} ${String(part)}`);
        if (index !== undefined) add(index, String(part), row);
      }
    return found.map((one, index) => {
      const parts = reports.get(index);
      return parts ? { ...one, parts } : one;
    });
  }
}
class Submissions {
  /** Batches with messages without a final report. */
  readonly lacking = new Set<string>();
  readonly #found = new Map<string, UnreportedSubmission & { recipients: string[] }>();

  get all(): UnreportedSubmission[] {
    return [...this.#found.values()];
  }

  /** A message that is still `sending` keeps its batch due, but is not at the provider yet. */
  add(rows: readonly UnreportedRow[]): void {
    for (const { batch, n, sentAt, recipient, status, content, ...row } of rows) {
      this.lacking.add(batch);
      if (status === STATUS_RANK.sending) continue;
      const submissionId = `${batch}-s${n}`;
      const firstSentAt = new Date(Number(sentAt) / 1_000);
      const known = this.#found.get(submissionId);
      if (known) known.recipients.push(recipient);
      else
        this.#found.set(submissionId, {
          ...row,
          submissionId,
          firstSentAt,
          recipients: [recipient],
          ...(content !== null && { content: readContent(content).content }),
        });
    }
  }
}

/** Up to {@link RECIPIENTS} recipients together, at least one batch; the others stay due. */
function withinRecipients(batches: readonly DueBatch[]): readonly DueBatch[] {
  let sum = 0;
  return batches.filter(
    ({ recipients }, index) => (sum += recipients) <= RECIPIENTS || index === 0,
  );
}

function statementsFor(
  dialect: Dialect,
  pending: readonly number[],
  irrevocable: readonly string[],
) {
  const named = irrevocable.map((name) => `'${name}'`).join(', ') || "''";
  const spans = dialect.rows(SPANS);
  const partNames = dialect.rows<Part>({
    v_index: ['int', ({ index }) => index],
    v_provider: ['key', ({ provider }) => provider],
    v_id: ['key', ({ id }) => id],
  });
  const partBatches = dialect.rows<readonly [index: number, batch: string]>({
    v_index: ['int', ([index]) => index],
    v_batch: ['uuid', ([, batch]) => batch],
  });
  const report = `r.status AS "rank", r.raw_status AS "rawStatus", r.error_code AS "errorCode",
    r.provider_time AS "providerTime"`;
  return {
    spans,
    partNames,
    partBatches,
    waiting: `SELECT v_index, v_id, ${report} FROM ${partNames.keyed} ${dialect.join} messaging_report r
      ON r.reference = v_id AND r.provider = v_provider AND r.batch IS NULL`,
    logged: `SELECT v_index, r.details, ${report} FROM ${partBatches.keyed}
      ${dialect.join} messaging_report r ON r.batch = v_batch AND r.details IS NOT NULL`,
    due: `SELECT b.id, b.channel, b.polls, b.recipient_count AS "recipients",
        CASE WHEN b.completed_at + ? < ${dialect.now} THEN 1 ELSE 0 END AS "isGivenUp"
      FROM messaging_batch b WHERE b.poll_at IS NOT NULL AND b.poll_at <= ${dialect.now}
      ORDER BY b.poll_at LIMIT ? ${dialect.skipLocked('b')}`,
    unreported: `SELECT s.batch, s.n, b.channel, b.sender, s.provider, s.reference, s.attempt, s.first_sent_at AS "sentAt", m.recipient, m.status,
        CASE WHEN b.channel IN (${named}) THEN coalesce(s.content, b.content) END AS content
      FROM ${spans.keyed} ${dialect.join} messaging_message m ON ${IN_SPAN}
        AND m.status IN (${pending.join(', ')})
      JOIN messaging_submission s ON s.batch = m.batch AND s.n = m.submission
      JOIN messaging_batch b ON b.id = s.batch
      ORDER BY s.batch, s.n, m.position`,
    move: updater(
      dialect,
      { v_id: 'uuid', v_wait: 'bigint' },
      {
        table: 'messaging_batch',
        set: `poll_at = ${dialect.now} + v_wait, polls = polls + 1`,
        where: 'messaging_batch.id = v_id',
      },
    ),
    end: updater<DueBatch>(
      dialect,
      { v_id: ['uuid', ({ id }) => id], v_polls: ['int', ({ polls }) => polls + 1] },
      {
        table: 'messaging_batch',
        set: 'poll_at = NULL',
        where: 'messaging_batch.id = v_id AND messaging_batch.polls = v_polls',
      },
    ),
  };
}
