import { STATUS_RANK } from '../../message/status.js';
import { BATCH_STATE } from './batch-state.js';
import type { Columns } from '../database/dialect.js';

export interface IntendedBatch {
  readonly id: string;
  /** At planning time; a later cancel or reschedule increments it, and the batch is skipped. */
  readonly revision: number;
  /** Whether recipients remain to start after this slice. */
  readonly pending: boolean;
  /** Whether messages set back to `queued` remain after this slice. */
  readonly requeued: boolean;
  /** Only deferred messages remain after this slice: due time of the first, epoch microseconds. */
  readonly parkUntil: number | null;
}

export interface DeferredMessage extends IntendedRecipient {
  readonly batch: string;
  readonly attempts: number;
  /** Epoch microseconds. */
  readonly dueAt: number;
}

export interface IntendedSubmission {
  readonly batch: string;
  readonly n: number;
  readonly firstPosition: number;
  readonly lastPosition: number;
  readonly attempt: number;
  /** JSON of the content that replaces the batch's. */
  readonly content: string | null;
  /** Every later step of the submission uses it. */
  readonly provider: string;
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

export const INTENT_ROWS = {
  batches: { v_id: 'uuid', v_revision: 'int', v_state: 'int', v_park: 'bigint' },
  submissions: {
    v_batch: 'uuid',
    v_n: 'int',
    v_first: 'int',
    v_last: 'int',
    v_attempt: 'int',
    v_fence: 'bigint',
    v_provider: 'key',
    v_sent_at: 'bigint',
    v_content: 'text',
  },
  messages: {
    v_batch: 'uuid',
    v_position: 'int',
    v_n: 'int',
    v_attempt: 'int',
    v_recipient: 'key',
  },
} as const satisfies Record<string, Columns>;

export function batchRow({
  id,
  revision,
  pending,
  requeued,
  parkUntil,
}: IntendedBatch): [id: string, ...unknown[]] {
  let state: number = requeued ? BATCH_STATE.retrying : BATCH_STATE.sending;
  if (!pending) state = BATCH_STATE.draining;
  else if (parkUntil !== null) state = BATCH_STATE.deferred;
  return [id, revision, state, parkUntil];
}

export function submissionRows({ fence, firstSentAt, submissions }: Intent): unknown[][] {
  return submissions.map((s) => [
    s.batch,
    s.n,
    s.firstPosition,
    s.lastPosition,
    s.attempt,
    fence,
    s.provider,
    firstSentAt * 1_000,
    s.content,
  ]);
}

export function messageRows({ submissions }: Intent): { fresh: unknown[][]; again: unknown[][] } {
  const fresh: unknown[][] = [];
  const again: unknown[][] = [];
  for (const { batch, n, attempt, recipients } of submissions)
    for (const { position, recipient, requeued } of recipients)
      if (requeued) again.push([batch, position, n, attempt, recipient]);
      else fresh.push([batch, position, n, attempt - 1, recipient]);
  return { fresh, again };
}

export const STARTED = 'state = v_state, parked_until = coalesce(v_park, parked_until)';

export const INTO_SUBMISSIONS = `INSERT INTO messaging_submission
  (batch, n, first_position, last_position, attempt, fence, provider, first_sent_at, content)`;
export const INTO_MESSAGES =
  'INSERT INTO messaging_message (batch, position, submission, attempt, recipient, status)';

export const MESSAGE_VALUES = `v_batch, v_position, v_n, v_attempt, v_recipient, ${STATUS_RANK.sending}`;
