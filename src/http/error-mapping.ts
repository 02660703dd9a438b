import {
  AlreadySentError,
  BatchNotFoundError,
  GroupNotFoundError,
  IdempotencyKeyInUseError,
  IdempotencyKeyReusedError,
  MessageNotFoundError,
  MessageValidationError,
  PolicyError,
} from '@dundun/messaging';
import { HttpException } from '@nestjs/common';
import { ApiError, type ApiErrorCode, isApiErrorCode } from './api-error.js';
import { isDatabaseUnavailable } from './database-unavailable.js';

const NOT_FOUND = [BatchNotFoundError, GroupNotFoundError, MessageNotFoundError];

/** What the caller is told of any error; whatever is unknown here is an `internal_error`. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof MessageValidationError)
    return new ApiError(isApiErrorCode(error.code) ? error.code : 'invalid_field', error.message, {
      details: error.fields,
    });
  if (error instanceof PolicyError)
    return new ApiError(isApiErrorCode(error.code) ? error.code : 'opted_out', error.message);
  if (error instanceof IdempotencyKeyInUseError)
    return new ApiError('idempotency_key_in_use', error.message, {
      headers: { 'retry-after': '1' },
      cause: error,
    });
  if (error instanceof IdempotencyKeyReusedError)
    return new ApiError('idempotency_key_reused', error.message);
  if (NOT_FOUND.some((kind) => error instanceof kind))
    return new ApiError('not_found', (error as Error).message);
  if (error instanceof AlreadySentError) return new ApiError('already_sent', error.message);
  if (isDatabaseUnavailable(error))
    return new ApiError('unavailable', 'The service cannot reach its database; try again', {
      headers: { 'retry-after': '1' },
      cause: error,
    });
  return ofStatus(statusOf(error), error);
}

/** Statuses that Nest and Fastify answer by themselves, before or instead of a handler. */
const BY_STATUS: Readonly<Record<number, readonly [ApiErrorCode, string]>> = {
  400: ['malformed_request', 'The request cannot be read'],
  401: ['unauthorized', 'The credential or signature is missing or wrong'],
  403: ['insufficient_scope', 'This credential does not allow that'],
  404: ['not_found', 'There is nothing at this path'],
  405: ['method_not_allowed', 'This path does not take this method'],
  408: ['request_timeout', 'The request did not arrive in time; send it again'],
  413: ['payload_too_large', 'The body is too large; split the request'],
  414: ['not_found', 'There is nothing at this path'],
  415: ['unsupported_media_type', 'Send the body as JSON with Content-Type: application/json'],
  429: ['rate_limited', 'Too many requests; try again later'],
  503: ['unavailable', 'The service is not available now; try again'],
};

const MALFORMED_JSON = new Set(['FST_ERR_CTP_EMPTY_JSON_BODY', 'FST_ERR_CTP_INVALID_JSON_BODY']);

function ofStatus(status: number, cause: unknown): ApiError {
  if (MALFORMED_JSON.has(fastifyCode(cause)))
    return new ApiError('malformed_json', 'The body is not JSON; check quotes, commas and braces', {
      cause,
    });
  const [code, message] = BY_STATUS[status] ??
    (status < 500 ? BY_STATUS[400] : undefined) ?? [
      'internal_error',
      'Something went wrong on our side; the request may be repeated with the same Idempotency-Key',
    ];
  return new ApiError(code, message, { cause });
}

function statusOf(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  if (typeof error !== 'object' || error === null) return 500;
  const { name, statusCode } = error as { name?: unknown; statusCode?: unknown };
  return name === 'FastifyError' && typeof statusCode === 'number' ? statusCode : 500;
}

/** Nest wraps Fastify's own errors. */
function fastifyCode(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : fastifyCode(error.cause);
}
