import {
  MessageValidationError,
  MessagingError,
  NoRouteError,
  PolicyError,
} from '@dundun/messaging';
import { SpendRefusedError } from '@dundun/messaging/ports';
import { isBusy, isUnavailable, refusalOfWrites } from '@dundun/messaging/queue';
import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  HttpException,
  Logger,
} from '@nestjs/common';
import { ApiError, type ApiErrorCode, isApiErrorCode } from './api-error.js';
import { type HttpRequest, type LoggedRequest, replyOf, requestOf } from './http-message.js';
import { WriteRefusals } from './write-refusals.js';

/** Sends every error as `{ "error": { type, code, message, details? } }`. */
@Catch()
export class ApiExceptionFilter implements ExceptionFilter {
  readonly #logger = new Logger('Http');

  constructor(private readonly refusals: WriteRefusals) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const request = requestOf<LoggedRequest>(host);
    const reply = replyOf(host);
    const error = toApiError(exception);
    request.errorCode = error.code;
    this.refusals.note(exception);
    // The read of an unfinished body fails with the code of a lost database connection.
    if (isGone(request))
      this.#logger.debug({ message: 'the client disconnected', request: request.id });
    else if (error.status >= 500)
      this.#logger.error({ message: error.code, request: request.id, err: exception });
    if (reply.sent) return;
    void reply.code(error.status).headers(error.headers).send(this.bodyOf(error, request));
  }

  protected bodyOf({ body }: ApiError, _request: HttpRequest): object {
    return body;
  }
}

/** Whether the client disconnected before its whole request arrived. */
function isGone({ raw }: HttpRequest): boolean {
  return raw.destroyed && !raw.complete;
}

/** The response to any error; an unmapped error becomes `internal_error`. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  // A policy of the operator's, or a check of a channel, may have a code of its own.
  if (error instanceof PolicyError)
    return new ApiError(isApiErrorCode(error.code) ? error.code : 'opted_out', error.message);
  if (isNotSetUp(error)) return notSetUp(error);
  if (error instanceof MessageValidationError) {
    const code = isApiErrorCode(error.code) ? error.code : 'invalid_field';
    return new ApiError(code, error.message, { details: error.fields });
  }
  if (error instanceof SpendRefusedError && isApiErrorCode(error.code)) {
    const details = Object.entries(error.details).map(([path, message]) => ({ path, message }));
    return new ApiError(error.code, error.message, details.length > 0 ? { details } : {});
  }
  if (error instanceof MessagingError && isApiErrorCode(error.code))
    return new ApiError(error.code, error.message, { cause: error });
  if (refusalOfWrites(error) !== undefined)
    return new ApiError('unavailable', 'The database takes no writes now; try again', {
      cause: error,
    });
  if (isUnavailable(error) || isBusy(error))
    return new ApiError('unavailable', 'The service cannot reach its database; try again', {
      cause: error,
    });
  return new ApiError(codeOf(error), undefined, { cause: error });
}

/** Whether no provider carries the channel; an error with fields has no route for some recipients. */
export function isNotSetUp(error: unknown): boolean {
  return error instanceof NoRouteError && error.fields.length === 0;
}

export function notSetUp(cause: unknown, channel = 'This channel'): ApiError {
  const message = `${channel} is not set up in this service`;
  return new ApiError('unavailable', message, { headers: { 'retry-after': '60' }, cause });
}

/** Codes for the statuses that Nest and Fastify set without a handler. */
const BY_STATUS: Readonly<Record<number, ApiErrorCode>> = {
  401: 'unauthorized',
  403: 'insufficient_scope',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  413: 'payload_too_large',
  414: 'not_found',
  415: 'unsupported_media_type',
  429: 'rate_limited',
  503: 'unavailable',
};

const MALFORMED_JSON = new Set(['FST_ERR_CTP_EMPTY_JSON_BODY', 'FST_ERR_CTP_INVALID_JSON_BODY']);

function codeOf(error: unknown): ApiErrorCode {
  if (MALFORMED_JSON.has(fastifyCode(error))) return 'malformed_json';
  const { name, statusCode = 500 } = Object(error) as { name?: string; statusCode?: number };
  const ofFastify = name === 'FastifyError' ? statusCode : 500;
  const status = error instanceof HttpException ? error.getStatus() : ofFastify;
  return BY_STATUS[status] ?? (status < 500 ? 'malformed_request' : 'internal_error');
}

/** Nest may have wrapped the Fastify error. */
function fastifyCode(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : fastifyCode(error.cause);
}

/** An error with the fields of the interface, where it is a library error about wrong fields. */
export function inWireFields(
  error: unknown,
  names: Readonly<Record<string, string>> | ((path: string) => string),
): unknown {
  if (!(error instanceof MessageValidationError)) return error;
  const nameOf = typeof names === 'function' ? names : (path: string) => names[path] ?? path;
  const fields = error.fields.map(({ path, message }) => ({ path: nameOf(path), message }));
  return new MessageValidationError(fields, error.code);
}
