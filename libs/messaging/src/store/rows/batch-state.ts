/**
 * The state of a batch, in one column:
 *
 * ```
 *              ┌────────────── cancel ──────────────────────────────┐
 *              │            ┌── cancel ──────────────────────────┐  │
 *   enqueue    │            │                                    ▼  ▼
 *  ─────────▶ accepted ─▶ sending ◀──▶ retrying ◀──▶ deferred   cancelled
 *              │            │   a slice starts, messages are set    ▲
 *              │            │   back, policy defers what is left    │
 *              │            ▼                                       │
 *              └─────────▶ draining ──▶ completed      cancel from retrying, deferred
 *                           │    ▲
 *                           └────┘ a definite refusal sets messages back: retrying
 * ```
 *
 * A batch has work to start while its state is below `draining`. `parked_until` is a separate
 * column: a failure or policy deferred the batch until then; 0: never deferred.
 */
export const BATCH_STATE = {
  accepted: 0,
  /** More recipients are left to start. */
  sending: 1,
  /** Messages are set back to `queued`; more recipients may be left to start. */
  retrying: 2,
  /** Only messages that policy deferred are left, until `parked_until`. */
  deferred: 3,
  /** All messages have started, and requests are in flight. */
  draining: 4,
  completed: 5,
  cancelled: 6,
} as const;

export type BatchState = keyof typeof BATCH_STATE;

const STATES = Object.keys(BATCH_STATE) as BatchState[];

export function stateOf({ state }: { readonly state: number }): BatchState {
  return STATES[state] as BatchState;
}

/** SQL condition: a request of the batch has started, and the batch has not ended. */
export function isUnderWay(batch: string): string {
  return `${batch}.state >= ${BATCH_STATE.sending} AND ${batch}.state <= ${BATCH_STATE.draining}`;
}

export function isLive(batch: string): string {
  return `${batch}.state <= ${BATCH_STATE.draining}`;
}

export function isDraining(batch: string): string {
  return `${batch}.state = ${BATCH_STATE.draining}`;
}

export function hasEnded(batch: string): string {
  return `${batch}.state >= ${BATCH_STATE.completed}`;
}

export const COMPLETED = `state = ${BATCH_STATE.completed}`;
export const CANCELLED = `state = ${BATCH_STATE.cancelled}`;

/**
 * SQL assignments: messages become `queued` again, and a `deferUntil` that is not null defers them. The
 * next plan defers a batch whose messages all are.
 */
export function setBack(deferUntil: string): string {
  return `parked_until = coalesce(${deferUntil},
      CASE WHEN state = ${BATCH_STATE.deferred} THEN 0 ELSE parked_until END),
    state = ${BATCH_STATE.retrying}, revision = revision + 1`;
}

export const PRIORITY = { high: 0, normal: 1 } as const;

/** Condition of the queue index of PostgreSQL and SQLite; queries must repeat it literally. */
export const HAS_WORK = `state < ${BATCH_STATE.draining}`;
