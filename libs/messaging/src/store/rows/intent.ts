import { BATCH_STATE } from './batch-state.js';
import type { Columns } from '../database/dialect.js';

/** A batch of which a slice is about to start. */
export interface IntendedBatch {
  readonly id: string;
  /** As planned: a cancel or reschedule since then has raised it, and the batch is left out. */
  readonly revision: number;
  /** Recipients are left to start after this slice. */
  readonly pending: boolean;
  /** Messages set back to `queued` are left after this slice. */
  readonly requeued: boolean;
  /** Nothing but deferred messages is left after this slice: until the first is due, epoch microseconds. */
  readonly parkUntil: number | null;
}

/** A message that policy deferred. */
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
  /** JSON of what goes out in place of the batch's content. */
  readonly content: string | null;
  /** Name of the provider that carries it; every later step of the submission uses this provider. */
  readonly provider: string;
  readonly recipients: readonly IntendedRecipient[];
}

export interface IntendedRecipient {
  readonly position: number;
  readonly recipient: string;
  /** It has a row already, set back to `queued`. */
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

/** None of its messages has a row yet, and each of its batches starts something. */
export function isFresh(intent: Intent): boolean {
  return (
    intent.deferred.length === 0 &&
    exhaustedOf(intent).length === 0 &&
    intent.submissions.every(({ recipients }) => recipients.every(({ requeued }) => !requeued))
  );
}

/** Batches of which nothing starts, now or later: their last messages were reported before they could. */
export function exhaustedOf({ batches, submissions }: Intent): string[] {
  const starting = new Set(submissions.map(({ batch }) => batch));
  return batches.flatMap(({ id, pending }) => (pending || starting.has(id) ? [] : [id]));
}

/** Row sources of what an intent writes. */
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

/** A row of `batches`. */
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

/** Rows of `submissions`, of the batches that may start. */
export function submissionRows(
  { fence, firstSentAt, submissions }: Intent,
  live: (batch: string) => boolean = () => true,
): unknown[][] {
  return submissions.flatMap((s) =>
    live(s.batch)
      ? [
          [
            s.batch,
            s.n,
            s.firstPosition,
            s.lastPosition,
            s.attempt,
            fence,
            s.provider,
            firstSentAt * 1_000,
            s.content,
          ],
        ]
      : [],
  );
}

/** Rows of `messages`, of the batches that may start: those without a row yet, and those that start again. */
export function messageRows(
  { submissions }: Intent,
  live: (batch: string) => boolean = () => true,
): { fresh: unknown[][]; again: unknown[][] } {
  const fresh: unknown[][] = [];
  const again: unknown[][] = [];
  for (const { batch, n, attempt, recipients } of submissions) {
    if (!live(batch)) continue;
    for (const { position, recipient, requeued } of recipients)
      if (requeued) again.push([batch, position, n, attempt, recipient]);
      else fresh.push([batch, position, n, attempt - 1, recipient]);
  }
  return { fresh, again };
}
