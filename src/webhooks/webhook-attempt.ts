import type { TraceContext } from '@dundun/messaging';

/** Cause of a failed attempt, as listed with the attempts. */
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

/** The result of one request. */
export interface AttemptOutcome {
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Milliseconds. */
  readonly duration: number;
  /** HTTP status; `null`: the receiver did not respond. */
  readonly status: number | null;
  /** `null`: success. */
  readonly error: AttemptError | null;
  /** The first bytes of the response body. */
  readonly response: string | null;
  /** The delay requested by the receiver, in milliseconds. */
  readonly retryAfter?: number | undefined;
}

/** A due delivery. */
export interface DueDelivery {
  readonly position: number;
  /** The `webhook-id`. */
  readonly id: string;
  readonly messageId: string;
  readonly sequence: number;
  readonly payload: string;
  /** Number of attempts so far. */
  readonly attempts: number;
  /** Epoch milliseconds; 0 or less: no attempt yet. */
  readonly dueAt: number;
  /** Trace context for the request headers. */
  readonly trace?: TraceContext;
}

/** A finished attempt. */
export interface AttemptResult extends AttemptOutcome {
  readonly endpointId: string;
  readonly delivery: DueDelivery;
  /** Time of the next attempt, epoch milliseconds; `null`: delivered or exhausted. */
  readonly nextAt: number | null;
}

const BY_CODE: Readonly<Record<string, AttemptError>> = {
  address_forbidden: 'address_forbidden',
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_lost',
  EPIPE: 'connection_lost',
  UND_ERR_SOCKET: 'connection_lost',
  ENOTFOUND: 'host_not_found',
  EAI_AGAIN: 'host_not_found',
  ENODATA: 'host_not_found',
  ESERVFAIL: 'host_not_found',
  ETIMEOUT: 'host_not_found',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  ETIMEDOUT: 'timeout',
  UND_ERR_INVALID_ARG: 'invalid_url',
  ERR_INVALID_URL: 'invalid_url',
  EPROTO: 'tls',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls',
  UNABLE_TO_GET_ISSUER_CERT: 'tls',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls',
};

/** The error of a request without a response. */
export function attemptErrorOf(error: unknown): AttemptError {
  if (typeof error !== 'object' || error === null) return 'unreachable';
  const { name, code, syscall, errors } = error as Readonly<Record<string, unknown>>;
  // After attempts at several addresses there is an error for each.
  if (Array.isArray(errors) && errors.length > 0) return attemptErrorOf(errors[0]);
  // c-ares reports its own connection errors under the same codes as sockets.
  if (typeof syscall === 'string' && syscall.startsWith('query')) return 'host_not_found';
  if (name === 'HTTPParserError') return 'invalid_response';
  if (typeof code !== 'string') return 'unreachable';
  if (/^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_)/.test(code)) return 'tls';
  return BY_CODE[code] ?? 'unreachable';
}
