import {
  BatchNotFoundError,
  IdempotencyKeyInUseError,
  IdempotencyKeyReusedError,
  MessageNotFoundError,
  MessageValidationError,
  MessagingError,
} from '@dundun/messaging';
import { AlreadySentError } from '@dundun/messaging/operations';
import { type ArgumentsHost, Catch, type ExceptionFilter, Inject, Logger } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { ErrorAnswer } from './api.js';

/** A refusal of the dashboard itself. */
export class DashboardError extends MessagingError {
  constructor(
    readonly status: 400 | 403 | 404 | 415,
    code: string,
    message: string,
  ) {
    super(code, message);
  }
}

export function unknownId(kind: string): DashboardError {
  return new DashboardError(404, 'not_found', `No such ${kind} among those that you may see`);
}

export function forbidden(right: string): DashboardError {
  return new DashboardError(403, 'forbidden', `You may not ${right}; ask for the right to`);
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
