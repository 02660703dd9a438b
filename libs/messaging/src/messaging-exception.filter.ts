import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import { VerificationLimitError } from './channels/verification/verification.js';
import { MessagingError } from './message/errors.js';
import { httpErrorBodyOf } from './message/http-status.js';

/** What Express and Fastify have in common. */
interface HttpResponse {
  status(code: number): this;
  header(name: string, value: string): this;
  send(body: object): unknown;
}

/**
 * Answers the library's errors in an app's own controllers, on Express and Fastify, with
 * `{ statusCode, code, message, fields?, details? }`: 400 for wrong fields, 402 where the spend guard finds
 * too little money, 404, 409, 422 where a policy, a route
 * or a template refuses, 429 with `Retry-After`, 503 for what may work later. An error of the app's
 * set-up is 500 and is logged. {@link httpStatusOf} has the statuses.
 * @example
 * app.useGlobalFilters(new MessagingExceptionFilter());
 */
@Catch(MessagingError)
export class MessagingExceptionFilter implements ExceptionFilter<MessagingError> {
  readonly #logger = new Logger('Messaging');

  catch(error: MessagingError, host: ArgumentsHost): void {
    // GraphQL and microservices have answers of their own.
    if (host.getType<string>() !== 'http') throw error;
    const body = httpErrorBodyOf(error);
    if (body.statusCode === 500) this.#logger.error(error);
    const response = host.switchToHttp().getResponse<HttpResponse>();
    if (error instanceof VerificationLimitError)
      response.header('Retry-After', String(Math.ceil(error.retryAfter / 1_000)));
    response.status(body.statusCode).send(body);
  }
}
