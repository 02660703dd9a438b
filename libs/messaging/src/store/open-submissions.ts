import type { Channel } from '../message/message.js';
import type { StoreDatabase } from './store-database.js';
import { type BatchHead, type BatchTimes, headOf, timesOf } from './planned-batch.js';
import { batchTimes } from './plan.statements.js';
import type { StoredContent } from './stored-content.js';

/** A submission whose outcome nobody recorded. */
export interface OpenSubmission extends StoredContent {
  readonly batch: string;
  readonly n: number;
  readonly tenant: string;
  readonly channel: Channel;
  readonly sender: string;
  readonly deliveryReport: boolean;
  /** Name of the provider it was submitted to. */
  readonly provider: string;
  readonly firstPosition: number;
  readonly lastPosition: number;
  readonly attempt: number;
  readonly firstSentAt: Date;
  /** Milliseconds until its batch's time is over, less than 0 after it; `null`: never. */
  readonly validFor: number | null;
  /** Milliseconds since its batch was due. */
  readonly dueFor: number;
  readonly recipients: readonly { readonly position: number; readonly recipient: string }[];
}

interface OpenRow extends BatchHead, BatchTimes {
  readonly batch: string;
  readonly n: number;
  readonly provider: string;
  readonly first: number;
  readonly last: number;
  readonly tries: number;
  readonly first_sent_at: string | number;
  readonly position: number;
  readonly recipient: string;
}

/** What a former holder of the lane left open, oldest first. */
export async function openSubmissions(
  database: StoreDatabase,
  lane: string,
): Promise<OpenSubmission[]> {
  const rows = await database.all<OpenRow>(
    `SELECT s.batch, s.n, s.provider, s.first_position AS first, s.last_position AS last, s.attempt AS tries,
       s.first_sent_at,
       b.tenant, b.channel, b.sender, coalesce(s.content, b.content) AS content, b.delivery_report,
       m.position, m.recipient, ${batchTimes(database.dialect)}
     FROM messaging_submission s ${database.dialect.join} messaging_batch b ON b.id = s.batch
     JOIN messaging_message m ON m.batch = s.batch AND m.position BETWEEN s.first_position AND s.last_position
       AND m.submission = s.n
     WHERE s.outcome IS NULL AND b.lane = ?
     ORDER BY b.priority, b.available_at, s.batch, s.n, m.position`,
    [lane],
  );
  const open = new Map<
    string,
    OpenSubmission & { recipients: { position: number; recipient: string }[] }
  >();
  for (const row of rows) {
    const key = `${row.batch}-s${row.n}`;
    const { position, recipient } = row;
    const known = open.get(key);
    if (known) known.recipients.push({ position, recipient });
    else
      open.set(key, {
        ...headOf(row),
        batch: row.batch,
        n: row.n,
        provider: row.provider,
        firstPosition: row.first,
        lastPosition: row.last,
        attempt: row.tries,
        firstSentAt: new Date(Number(row.first_sent_at) / 1_000),
        ...timesOf(row),
        recipients: [{ position, recipient }],
      });
  }
  return [...open.values()];
}
