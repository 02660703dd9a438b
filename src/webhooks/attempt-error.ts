import type { AttemptError } from './webhook-attempt.js';

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

/** Names what went wrong between us and a receiver that gave no answer. */
export function attemptErrorOf(error: unknown): AttemptError {
  if (typeof error !== 'object' || error === null) return 'unreachable';
  const { name, code, syscall, errors } = error as Readonly<Record<string, unknown>>;
  // Of several addresses tried each has its own error.
  if (Array.isArray(errors) && errors.length > 0) return attemptErrorOf(errors[0]);
  // c-ares reports its own connection errors under the same codes as sockets.
  if (typeof syscall === 'string' && syscall.startsWith('query')) return 'host_not_found';
  if (name === 'HTTPParserError') return 'invalid_response';
  if (typeof code !== 'string') return 'unreachable';
  if (/^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_)/.test(code)) return 'tls';
  return BY_CODE[code] ?? 'unreachable';
}
