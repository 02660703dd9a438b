import type { Channel } from '../message/message.js';
import { STATUS_RANK } from '../message/status.js';
import type { SentSubmission } from '../ports/message-transport.js';
import type { StoreDatabase } from './store-database.js';

/** Longest time between two polls of one batch, in milliseconds. */
const LONGEST = 3_600_000;

/** Recipients taken in one claim, but for a batch that has more alone. */
const RECIPIENTS = 100_000;

/** A submission some of whose messages lack a final report. */
export interface UnreportedSubmission extends SentSubmission {
  readonly transport: string;
}

/** Which batches lack final reports, and when to ask next: twice as long after each poll, until given up. */
export class ReportPolls {
  constructor(
    private readonly database: StoreDatabase,
    /** Milliseconds. */
    private readonly after: number,
    private readonly giveUpAfter: number,
  ) {}

  /**
   * Claims batches whose poll is due, so that no other replica asks the same, and puts their next poll
   * off; batches that lack nothing, or that are given up, are not asked after again.
   */
  async claim(limit: number): Promise<UnreportedSubmission[]> {
    const { dialect, channels } = this.database;
    // Messages without a final report; the provider cannot be asked yet about those that are `sending`.
    const open = channels.openRanks.join(', ');
    const ids = dialect.rows({ v_id: 'uuid' });
    const next = dialect.rows({ v_id: 'uuid', v_wait: 'bigint' });
    return this.database.transaction(async (tx) => {
      const all = await tx.all<DueBatch>(
        `SELECT b.id, b.polls, b.recipient_count, CASE WHEN b.completed_at + ? < ${dialect.now} THEN 1 ELSE 0 END AS given_up
         FROM messaging_batch b WHERE b.poll_at IS NOT NULL AND b.poll_at <= ${dialect.now}
         ORDER BY b.poll_at LIMIT ? ${dialect.kind === 'sqlite' ? '' : `${dialect.forUpdate('b')} SKIP LOCKED`}`,
        [this.giveUpAfter * 1_000, limit],
      );
      const due = firstOf(all, RECIPIENTS);
      if (due.length === 0) return [];
      const rows = await tx.all<{
        batch: string;
        n: number;
        channel: Channel;
        transport: string;
        reference: string | null;
        first_sent_at: string | number;
        recipient: string;
        status: number;
      }>(
        `SELECT s.batch, s.n, b.channel, s.transport, s.reference, s.first_sent_at, m.recipient, m.status FROM ${ids.few}
         ${dialect.join} messaging_message m ON m.batch = v_id AND m.status IN (${open})
         JOIN messaging_submission s ON s.batch = m.batch AND s.n = m.submission
         JOIN messaging_batch b ON b.id = s.batch
         ORDER BY s.batch, s.n, m.position`,
        ids.bind(due.map(({ id }) => [id])),
      );
      const unreported = new Map<string, UnreportedSubmission & { recipients: string[] }>();
      const lacking = new Set<string>();
      for (const row of rows) {
        const { batch, n, channel, transport, reference, first_sent_at, recipient, status } = row;
        const submissionId = `${batch}-s${n}`;
        lacking.add(batch);
        if (status === STATUS_RANK.sending) continue;
        const known = unreported.get(submissionId);
        if (known) known.recipients.push(recipient);
        else
          unreported.set(submissionId, {
            submissionId,
            channel,
            transport,
            reference,
            recipients: [recipient],
            firstSentAt: new Date(Number(first_sent_at) / 1_000),
          });
      }
      const waits = due.map(({ id, polls, given_up }) => [
        id,
        lacking.has(id) && Number(given_up) === 0
          ? Math.min(LONGEST, this.after * 2 ** Math.min(20, polls + 1)) * 1_000
          : null,
      ]);
      await tx.run(
        dialect.updateFrom({
          table: 'messaging_batch',
          rows: next,
          set: `poll_at = ${dialect.now} + v_wait, polls = polls + 1`,
          where: 'messaging_batch.id = v_id',
        }),
        next.bind(waits),
      );
      return [...unreported.values()];
    });
  }
}

interface DueBatch {
  readonly id: string;
  readonly polls: number;
  readonly recipient_count: number;
  readonly given_up: number | boolean;
}

/** As many as name no more than `recipients`, and one at least; the others stay due. */
function firstOf(batches: readonly DueBatch[], recipients: number): readonly DueBatch[] {
  let sum = 0;
  const end = batches.findIndex((batch, index) => {
    sum += batch.recipient_count;
    return index > 0 && sum > recipients;
  });
  return end < 0 ? batches : batches.slice(0, end);
}
