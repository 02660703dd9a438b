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
import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  HttpException,
  Logger,
} from '@nestjs/common';
import { ApiError, type ApiErrorCode, isApiErrorCode } from './api-error.js';
import { replyOf, requestOf } from './http-message.js';

/** Sends every error as `{ "error": { type, code, message, details? } }`. */
@Catch()
export class ApiExceptionFilter implements ExceptionFilter {
  readonly #logger = new Logger('Http');

  catch(exception: unknown, host: ArgumentsHost): void {
    const request = requestOf(host);
    const reply = replyOf(host);
    const error = toApiError(exception);
    if (error.status >= 500)
      this.#logger.error({ message: error.code, request: request.id, err: exception });
    if (reply.sent) return;
    void reply.code(error.status).headers(error.headers).send(error.body);
  }
}

const NOT_FOUND = [BatchNotFoundError, GroupNotFoundError, MessageNotFoundError];

/** The response to any error; an unmapped error becomes `internal_error`. */
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

/** Responses for the statuses that Nest and Fastify set without a handler. */
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
      'The service failed; repeat the request with the same Idempotency-Key',
    ];
  return new ApiError(code, message, { cause });
}

function statusOf(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  if (typeof error !== 'object' || error === null) return 500;
  const { name, statusCode } = error as { name?: unknown; statusCode?: unknown };
  return name === 'FastifyError' && typeof statusCode === 'number' ? statusCode : 500;
}

/** The code of a Fastify error, which Nest may have wrapped. */
function fastifyCode(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : fastifyCode(error.cause);
}

/** Codes of temporary errors: a retry of the same request may succeed. */
const UNAVAILABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  'PROTOCOL_CONNECTION_LOST',
  'ER_CON_COUNT_ERROR',
  'ER_SERVER_SHUTDOWN',
  'database_given_up',
  '53300', // PostgreSQL: too many connections
  '57P01', // admin shutdown
  '57P02', // crash shutdown
  '57P03', // cannot connect now
]);

/** Whether the database cannot be reached or is locked. */
function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, driverError } = error as { code?: unknown; driverError?: unknown };
  if (driverError !== undefined && driverError !== error && isDatabaseUnavailable(driverError))
    return true;
  if (typeof code === 'string') return UNAVAILABLE.has(code) || code.startsWith('SQLITE_BUSY');
  return error.message.startsWith('Connection terminated');
}

/** Renames the fields of a library error to those of the interface. */
export function inWireFields(
  error: MessageValidationError,
  names: Readonly<Record<string, string>>,
): MessageValidationError {
  const fields = error.fields.map(({ path, message }) => ({ path: names[path] ?? path, message }));
  return new MessageValidationError(fields, error.code);
}
