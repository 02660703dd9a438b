import type { TraceContext } from '@dundun/messaging';
import type {
  AttemptError,
  WebhookAttemptEntity,
  WebhookDeliveryEntity,
} from './webhooks.tables.js';

/** The result of one request. */
export interface AttemptOutcome extends Readonly<
  Pick<WebhookAttemptEntity, 'startedAt' | 'duration' | 'status' | 'error' | 'response'>
> {
  /** The delay requested by the receiver, in milliseconds. */
  readonly retryAfter?: number | undefined;
}

export interface DueDelivery extends Readonly<
  Pick<
    WebhookDeliveryEntity,
    'position' | 'id' | 'messageId' | 'sequence' | 'payload' | 'attempts' | 'revision'
  >
> {
  /** Trace context for the request headers. */
  readonly trace?: TraceContext;
}

const BY_CODE: readonly (readonly [RegExp, AttemptError])[] = [
  [/^address_forbidden$/, 'address_forbidden'],
  [/^ECONNREFUSED$/, 'connection_refused'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'connection_lost'],
  [/^(ENOTFOUND|EAI_AGAIN|ENODATA|ESERVFAIL|ETIMEOUT)$/, 'host_not_found'],
  [/^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/, 'timeout'],
  [/^(UND_ERR_INVALID_ARG|ERR_INVALID_URL)$/, 'invalid_url'],
  [/^(EPROTO|CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(GET|VERIFY)_)/, 'tls'],
];

/** The error of a request without a response. */
export function attemptErrorOf(error: unknown): AttemptError {
  if (typeof error !== 'object' || error === null) return 'unreachable';
  const { name, code, syscall, errors } = error as Readonly<Record<string, unknown>>;
  // After attempts at several addresses there is an error for each.
  if (Array.isArray(errors) && errors.length > 0) return attemptErrorOf(errors[0]);
  // c-ares reports its own connection errors under the same codes as sockets.
  if (typeof syscall === 'string' && syscall.startsWith('query')) return 'host_not_found';
  if (name === 'TimeoutError') return 'timeout';
  if (name === 'HTTPParserError') return 'invalid_response';
  return (
    BY_CODE.find(([form]) => typeof code === 'string' && form.test(code))?.[1] ?? 'unreachable'
  );
}
