import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import { toApiError } from './error-mapping.js';
import { replyOf, requestOf } from './http-message.js';

/** Answers everything that goes wrong as `{ "error": { type, code, message, details? } }`. */
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
