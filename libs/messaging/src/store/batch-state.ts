import { BATCH_PHASE } from './schema.js';

/**
 * Where a batch stands. `retrying`: messages were set back to `queued`, and more may be left to start.
 * `deferred`: only messages that a policy deferred are left. `draining`: nothing is left to start, and
 * requests are under way.
 */
export type BatchState =
  | 'accepted'
  | 'sending'
  | 'retrying'
  | 'deferred'
  | 'draining'
  | 'completed'
  | 'cancelled';

/** Columns of a batch that {@link stateOf} reads. */
export interface StateColumns {
  readonly phase: number;
  readonly pending: number;
  readonly requeued: number;
  readonly deferred: number;
}

export function stateOf({ phase, pending, requeued, deferred }: StateColumns): BatchState {
  switch (phase) {
    case BATCH_PHASE.accepted:
      return 'accepted';
    case BATCH_PHASE.completed:
      return 'completed';
    case BATCH_PHASE.cancelled:
      return 'cancelled';
    default:
      if (pending === 0) return 'draining';
      if (deferred === 1) return 'deferred';
      return requeued === 1 ? 'retrying' : 'sending';
  }
}

/** SQL: the columns of {@link StateColumns}. */
export function stateColumns(batch: string): string {
  return `${batch}.phase, ${batch}.pending, ${batch}.requeued, ${batch}.deferred`;
}

/** SQL condition: the batch is completed or cancelled. */
export function hasEnded(batch: string): string {
  return `${batch}.phase IN (${BATCH_PHASE.completed}, ${BATCH_PHASE.cancelled})`;
}

/** SQL condition: nothing is left to start, and the batch is not yet completed. */
export function isDraining(batch: string): string {
  return `${batch}.pending = 0 AND ${batch}.phase = ${BATCH_PHASE.sending}`;
}

/** SQL condition: a request of the batch has started, and the batch has not ended. */
export function isUnderWay(batch: string): string {
  return `${batch}.phase = ${BATCH_PHASE.sending}`;
}

/** SQL assignments. */
export const COMPLETED = `phase = ${BATCH_PHASE.completed}`;
export const CANCELLED = `phase = ${BATCH_PHASE.cancelled}, pending = 0, requeued = 0`;

/** SQL assignments: messages are queued again, until `parkUntil` where that is not null. */
export function setBack(parkUntil: string): string {
  return `requeued = 1, pending = 1, revision = revision + 1,
    parked_until = coalesce(${parkUntil}, CASE WHEN deferred = 1 THEN 0 ELSE parked_until END), deferred = 0`;
}
