import type { TraceContext } from '@dundun/messaging';

/** Why an attempt failed, as the attempts list names it. */
export type AttemptError =
  | 'http_status'
  | 'redirect'
  | 'gone'
  | 'timeout'
  | 'connection_refused'
  | 'connection_lost'
  | 'host_not_found'
  | 'address_forbidden'
  | 'tls'
  | 'invalid_response'
  | 'invalid_url'
  | 'unreachable';

/** What came of one request. */
export interface AttemptOutcome {
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Milliseconds. */
  readonly duration: number;
  /** HTTP status; `null` where no answer came. */
  readonly status: number | null;
  /** `null`: success. */
  readonly error: AttemptError | null;
  /** Beginning of the answer's body. */
  readonly response: string | null;
  /** The receiver's wish, in milliseconds. */
  readonly retryAfter: number | null;
}

/** A delivery on its way to its endpoint. */
export interface DueDelivery {
  readonly position: number;
  /** The `webhook-id`. */
  readonly id: string;
  readonly messageId: string;
  readonly sequence: number;
  readonly payload: string;
  /** Attempts so far. */
  readonly attempts: number;
  /** Epoch milliseconds; 0 or less: not tried yet. */
  readonly dueAt: number;
  /** Sent along as headers. */
  readonly trace?: TraceContext;
}

/** An attempt that ended, ready to be recorded. */
export interface AttemptResult extends AttemptOutcome {
  readonly endpointId: string;
  readonly delivery: DueDelivery;
  /** Next attempt, epoch milliseconds; `null`: delivered or exhausted. */
  readonly nextAt: number | null;
}
