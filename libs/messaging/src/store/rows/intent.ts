import { BATCH_STATE } from './batch-state.js';
import type { Columns } from '../database/dialect.js';
import { type StoredContent, wholeOf } from './stored-content.js';

export interface IntendedBatch {
  readonly id: string;
  /** At planning time; a later cancel or reschedule increments it, and the batch is skipped. */
  readonly revision: number;
  /** Whether recipients remain to start after this slice. */
  readonly pending: boolean;
  /** Whether messages set back to `queued` remain after this slice. */
  readonly requeued: boolean;
  /** Only deferred messages remain after this slice: due time of the first, epoch microseconds. */
  readonly deferUntil: number | null;
}

export interface DeferredMessage extends IntendedRecipient {
  readonly batch: string;
  readonly attempts: number;
  /** Epoch microseconds. */
  readonly dueAt: number;
  /** Code of the policy that defers it; `null`: the message keeps the error that it has. */
  readonly reason: string | null;
}

export interface IntendedSubmission {
  readonly batch: string;
  readonly n: number;
  readonly firstPosition: number;
  readonly lastPosition: number;
  /** Its positions, where it has not all from first to last. */
  readonly members: string | null;
  /** Number of this request; 1 for the first. */
  readonly attempt: number;
  /** Replaces the batch's. */
  readonly content: StoredContent | null;
  /** Every later step of the submission uses it. */
  readonly provider: string;
  /** Why the route chose it; `null`: by its order. */
  readonly reason: string | null;
  readonly recipients: readonly IntendedRecipient[];
}

export interface IntendedRecipient {
  readonly position: number;
  readonly recipient: string;
  /** The message already has a row, set back to `queued`. */
  readonly requeued: boolean;
}

export interface Intent {
  readonly lane: string;
  readonly fence: number;
  /** Epoch milliseconds. */
  readonly firstSentAt: number;
  readonly batches: readonly IntendedBatch[];
  readonly submissions: readonly IntendedSubmission[];
  readonly deferred: readonly DeferredMessage[];
}

/** Whether none of the messages has a row yet, and each batch starts a message. */
export function isFresh(intent: Intent): boolean {
  return (
    intent.deferred.length === 0 &&
    exhaustedOf(intent).length === 0 &&
    intent.submissions.every(({ recipients }) => recipients.every(({ requeued }) => !requeued))
  );
}

/** Batches whose last messages were settled by reports: they never start a message again. */
export function exhaustedOf({ batches, submissions }: Intent): string[] {
  const starting = new Set(submissions.map(({ batch }) => batch));
  return batches.flatMap(({ id, pending }) => (pending || starting.has(id) ? [] : [id]));
}

type BatchRow = readonly [batch: IntendedBatch, intent: Intent];
type SubmissionRow = readonly [submission: IntendedSubmission, intent: Intent];
type MessageRow = readonly [message: IntendedRecipient, submission: IntendedSubmission];

export const BATCHES = {
  v_id: ['uuid', ([{ id }]) => id],
  v_revision: ['int', ([{ revision }]) => revision],
  v_state: ['int', ([batch]) => stateAfter(batch)],
  v_defer: ['bigint', ([{ deferUntil }]) => deferUntil],
  v_lane: ['key', ([, { lane }]) => lane],
  v_batches: ['int', ([, { batches }]) => batches.length],
} satisfies Columns<BatchRow>;

export const SUBMISSIONS = {
  v_batch: ['uuid', ([{ batch }]) => batch],
  v_n: ['int', ([{ n }]) => n],
  v_first_position: ['int', ([{ firstPosition }]) => firstPosition],
  v_last_position: ['int', ([{ lastPosition }]) => lastPosition],
  v_members: ['text', ([{ members }]) => members],
  v_attempt: ['int', ([{ attempt }]) => attempt],
  v_fence: ['bigint', ([, { fence }]) => fence],
  v_provider: ['key', ([{ provider }]) => provider],
  v_reason: ['text', ([{ reason }]) => reason],
  v_first_sent_at: ['bigint', ([, { firstSentAt }]) => firstSentAt * 1_000],
  v_content: ['text', ([{ content }]) => content && JSON.stringify(wholeOf(content))],
} satisfies Columns<SubmissionRow>;

export const MESSAGES = {
  v_batch: ['uuid', ([, { batch }]) => batch],
  v_position: ['int', ([{ position }]) => position],
  v_submission: ['int', ([, { n }]) => n],
  v_attempt: ['int', ([, { attempt }]) => attempt],
  v_recipient: ['key', ([{ recipient }]) => recipient],
} satisfies Columns<MessageRow>;

function stateAfter({ pending, requeued, deferUntil }: IntendedBatch): number {
  if (!pending) return BATCH_STATE.draining;
  if (deferUntil !== null) return BATCH_STATE.deferred;
  return requeued ? BATCH_STATE.retrying : BATCH_STATE.sending;
}

export function batchRows(intent: Intent): BatchRow[] {
  return intent.batches.map((batch) => [batch, intent]);
}

export function submissionRows(intent: Intent): SubmissionRow[] {
  return intent.submissions.map((submission) => [submission, intent]);
}

export function messageRows({ submissions }: Intent): MessageRow[] {
  return submissions.flatMap((submission) =>
    submission.recipients.map((message) => [message, submission] as const),
  );
}

export const STARTED = 'state = v_state, parked_until = coalesce(v_defer, parked_until)';
