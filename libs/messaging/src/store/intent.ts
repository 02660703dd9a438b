/** The lane's work, as a slice of it is about to start. */
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

/** A message policy does not let go yet. */
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
  /** A row exists already, set back to `queued`. */
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
