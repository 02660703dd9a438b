import {
  BatchNotFoundError,
  IdempotencyKeyInUseError,
  IdempotencyKeyReusedError,
  MessageNotFoundError,
  MessageValidationError,
  MessagingError,
} from '@dundun/messaging';
import type { InboundMediaError } from '@dundun/messaging/inbound';
import { AlreadySentError } from '@dundun/messaging/operations';
import { type ArgumentsHost, Catch, type ExceptionFilter, Inject, Logger } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { ErrorAnswer } from './api.js';

/** A refusal of the dashboard itself. */
export class DashboardError extends MessagingError {
  constructor(
    readonly status: 400 | 403 | 404 | 410 | 413 | 415 | 503,
    code: string,
    message: string,
  ) {
    super(code, message);
  }
}

export function unknownId(kind: string): DashboardError {
  return new DashboardError(404, 'not_found', `No such ${kind} among those that you may see`);
}

export function pagesMissing(): DashboardError {
  return new DashboardError(
    404,
    'not_found',
    'The pages are not built; set `files` to a copy of dist/ui of @dundun/dashboard',
  );
}

export function forbidden(right: string): DashboardError {
  return new DashboardError(403, 'forbidden', `You may not ${right}; ask for the right to`);
}

const FILE_ERRORS = {
  not_found: [404, 'No such file among those that you may see'],
  unsupported: [404, 'This file cannot be fetched'],
  media_expired: [410, 'The platform has the file no longer'],
  media_too_large: [413, 'The file is larger than this app takes'],
  unavailable: [503, 'The platform did not give the file; try again'],
} as const;

/** Without the words of the library, which name providers. */
export function fileError({ code }: InboundMediaError): DashboardError {
  const [status, message] = FILE_ERRORS[code];
  return new DashboardError(status, code, message);
}

/** Answers the errors of the library and the dashboard; the app answers every other. */
@Catch(MessagingError)
export class DashboardErrorFilter implements ExceptionFilter<MessagingError> {
  constructor(@Inject(HttpAdapterHost) private readonly host: HttpAdapterHost) {}

  catch(error: MessagingError, context: ArgumentsHost): void {
    const { httpAdapter } = this.host;
    const status = statusOf(error);
    if (status >= 500) new Logger('MessagingDashboard').error(`${error.name}: ${error.code}`);
    const fields = error instanceof MessageValidationError ? error.fields : undefined;
    const { code, message } = error;
    const body: ErrorAnswer = { error: { code, message, ...(fields && { fields }) } };
    const response: unknown = context.getArgByIndex(1);
    httpAdapter.setHeader(response, 'Cache-Control', 'no-store');
    httpAdapter.setHeader(response, 'Content-Type', 'application/json; charset=utf-8');
    httpAdapter.reply(response, body, status);
  }
}

function statusOf(error: MessagingError): number {
  if (error instanceof DashboardError) return error.status;
  if (error instanceof BatchNotFoundError || error instanceof MessageNotFoundError) return 404;
  if (
    error instanceof AlreadySentError ||
    error instanceof IdempotencyKeyReusedError ||
    error instanceof IdempotencyKeyInUseError
  )
    return 409;
  // Wrong fields, and refusals by policies and routes.
  return error.code === 'invalid_config' ? 500 : 422;
}
