import { submissionIdOf } from '../../message/ids.js';
import type { Channel } from '../../message/message.js';
import { isShared, type Personal } from '../../message/content/email-content.js';
import type { IntendedRecipient } from './intent.js';
import { CHUNK_SIZE } from '../schema/tables.js';
import type { ReadContent, StoredContent } from './stored-content.js';

interface BatchHead extends StoredContent {
  readonly tenant: string;
  readonly channel: Channel;
  readonly sender: string;
  readonly deliveryReport: boolean;
  readonly guarded: boolean;
  /** Milliseconds until the batch expires, negative afterwards; `null`: never. */
  readonly validFor: number | null;
  readonly dueAt: Date;
  /** The same in epoch microseconds: the place in the lane, among the batches of the priority. */
  readonly place: number;
  /** The lower one goes first. */
  readonly priority: number;
  /** Milliseconds since then, by the clock of the database. */
  readonly dueFor: number;
  /** Epoch milliseconds; the lost database may have sent messages that had not started by then. */
  readonly inDoubtAt: number | null;
}

export interface PlannedBatch extends BatchHead {
  readonly id: string;
  readonly revision: number;
  readonly nextSubmission: number;
  readonly expired: boolean;
  readonly recipients: readonly PlannedRecipient[];
  /** More due recipients follow after `recipients`. */
  readonly more: boolean;
  /** Messages set back to `queued` are among the following ones. */
  readonly moreRequeued: boolean;
  /** Due time of its first deferred message, epoch microseconds; `null`: there is none. */
  readonly deferredUntil: number | null;
  /** Other batches of the lane may be due after this one. */
  readonly followed: boolean;
}

export interface PlannedRecipient extends IntendedRecipient {
  /** Requests so far. */
  readonly attempts: number;
  /** Failures so far that count against `maxAttempts`. */
  readonly countedFailures: number;
  /** Providers of its route that have refused it; see `Refusals`. */
  readonly refusedBy: string | null;
  readonly personal?: Personal | undefined;
}

export interface UnansweredSubmission extends BatchHead {
  readonly batch: string;
  readonly n: number;
  readonly provider: string;
  readonly firstPosition: number;
  readonly lastPosition: number;
  readonly attempt: number;
  readonly countedFailures: number;
  /** Error of the last failure. */
  readonly errorCode: string | null;
  readonly errorText: string | null;
  readonly firstSentAt: Date;
  readonly recipients: readonly Pick<PlannedRecipient, 'position' | 'recipient' | 'personal'>[];
}

/** Times in microseconds, as drivers return them. */
interface HeadRow extends Pick<BatchHead, 'tenant' | 'channel' | 'sender'> {
  readonly content: string;
  readonly deliveryReport: number;
  readonly guarded: number;
  readonly class: number;
  readonly validFor: string | number | null;
  readonly dueAt: string | number;
  readonly dueFor: string | number;
  readonly inDoubtAt: string | number | null;
}

export interface PlanRow extends HeadRow, Pick<PlannedBatch, 'id' | 'revision'> {
  readonly lane: string;
  readonly recipientCount: number;
  readonly state: number;
  /** Position of the next message without a row. */
  next: number;
  nextSubmission: number;
  chunk: string | null;
}

/** An unanswered submission with one of its messages. */
export interface UnansweredRow
  extends HeadRow, Omit<UnansweredSubmission, keyof BatchHead | 'firstSentAt' | 'recipients'> {
  readonly firstSentAt: string | number;
  readonly position: number;
  readonly recipient: string;
}

/** Messages set back to `queued`, which the plan's rows do not contain. */
export interface SetBack {
  readonly requeued: ReadonlyMap<string, readonly PlannedRecipient[]>;
  /** Due time of the first deferred message by batch, epoch microseconds. */
  readonly deferred: ReadonlyMap<string, number>;
}

/**
 * Limits a lane's rows, one for each batch, to `limit` recipients. The last batch keeps all of its
 * recipients where they see each other: their email is one request.
 */
export function plannedOf(
  rows: readonly PlanRow[],
  { requeued, deferred }: SetBack,
  limit: number,
  read: ReadContent,
): PlannedBatch[] {
  let left = limit;
  let counted = 0;
  const planned: PlannedBatch[] = [];
  for (const row of rows) {
    if (left <= 0) break;
    const again = requeued.get(row.id) ?? [];
    const head = headOf(row, row.id, read);
    if (!head) continue;
    const most = isShared(head.content) ? Infinity : left;
    const recipients = again.slice(0, most);
    const fresh = freshOf(row, most - recipients.length);
    const taken = recipients.length === 0 ? fresh : [...recipients, ...fresh];
    left -= taken.length;
    counted += row.recipientCount;
    // Spread objects cost 5 µs a message here.
    planned.push({
      content: head.content,
      labels: head.labels,
      trace: head.trace,
      hasPersonal: head.hasPersonal,
      unreadable: head.unreadable,
      tenant: head.tenant,
      channel: head.channel,
      sender: head.sender,
      deliveryReport: head.deliveryReport,
      guarded: head.guarded,
      validFor: head.validFor,
      dueAt: head.dueAt,
      place: head.place,
      priority: head.priority,
      dueFor: head.dueFor,
      inDoubtAt: head.inDoubtAt,
      id: row.id,
      revision: row.revision,
      nextSubmission: row.nextSubmission,
      expired: head.inDoubtAt === null && head.validFor !== null && head.validFor <= 0,
      recipients: taken,
      deferredUntil: deferred.get(row.id) ?? null,
      moreRequeued: recipients.length < again.length,
      more: taken.length < again.length + row.recipientCount - row.next,
      // The query returns batches until those before count `limit` recipients.
      followed: planned.length + 1 < rows.length || counted >= limit,
    });
  }
  return planned;
}

/** One row per batch, with its consecutive chunks joined. */
export function mergeChunks(rows: readonly PlanRow[]): PlanRow[] {
  const merged = new Map<string, PlanRow>();
  for (const row of rows) {
    const known = merged.get(row.id);
    if (known) {
      known.chunk += `\n${row.chunk}`;
      continue;
    }
    // Sums and maxima are BIGINT, which drivers return as text.
    row.next = Number(row.next);
    row.nextSubmission = Number(row.nextSubmission);
    merged.set(row.id, row);
  }
  return [...merged.values()];
}

export function unansweredOf(
  rows: readonly UnansweredRow[],
  read: ReadContent,
): UnansweredSubmission[] {
  const unanswered = new Map<
    string,
    UnansweredSubmission & { recipients: object[]; countedFailures: number }
  >();
  for (const row of rows) {
    const { batch, n, provider, firstPosition, lastPosition, attempt, countedFailures } = row;
    const { errorCode, errorText } = row;
    const { position, recipient } = row;
    const known = unanswered.get(submissionIdOf(batch, n));
    if (known) {
      known.recipients.push({ position, recipient });
      // A message that was reported has no further ones.
      known.countedFailures = Math.max(known.countedFailures, countedFailures);
      continue;
    }
    const head = headOf(row, batch, read);
    if (head)
      unanswered.set(submissionIdOf(batch, n), {
        ...head,
        batch,
        n,
        provider,
        firstPosition,
        lastPosition,
        attempt,
        countedFailures,
        errorCode,
        errorText,
        firstSentAt: new Date(Number(row.firstSentAt) / 1_000),
        recipients: [{ position, recipient }],
      });
  }
  return [...unanswered.values()];
}

/** `undefined`: the batch has been erased meanwhile. */
function headOf(row: HeadRow, batch: string, read: ReadContent): BatchHead | undefined {
  const stored = read(batch, row.content);
  if (!stored) return undefined;
  const { content, labels, trace, hasPersonal, unreadable } = stored;
  return {
    content,
    labels,
    trace,
    hasPersonal,
    unreadable,
    tenant: row.tenant,
    channel: row.channel,
    sender: row.sender,
    deliveryReport: row.deliveryReport === 1,
    guarded: row.guarded === 1,
    validFor: row.validFor === null ? null : Number(row.validFor) / 1_000,
    dueAt: new Date(Number(row.dueAt) / 1_000),
    place: Number(row.dueAt),
    priority: row.class,
    dueFor: Number(row.dueFor) / 1_000,
    inDoubtAt: row.inDoubtAt === null ? null : Number(row.inDoubtAt) / 1_000,
  };
}

function freshOf({ next, chunk }: PlanRow, most: number): readonly PlannedRecipient[] {
  if (!chunk || most <= 0) return [];
  const from = next % CHUNK_SIZE;
  return chunk
    .split('\n')
    .slice(from, from + most)
    .map((recipient, index) => ({
      position: next + index,
      recipient,
      requeued: false,
      attempts: 0,
      countedFailures: 0,
      refusedBy: null,
    }));
}
