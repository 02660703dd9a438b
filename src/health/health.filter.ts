import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  ServiceUnavailableException,
} from '@nestjs/common';
import { replyOf } from '../http/http-message.js';

/** A failed check answers 503 with its details, in the form health checks have. */
@Catch(ServiceUnavailableException)
export class HealthFilter implements ExceptionFilter<ServiceUnavailableException> {
  catch(exception: ServiceUnavailableException, host: ArgumentsHost): void {
    const reply = replyOf(host);
    void reply.code(exception.getStatus()).send(exception.getResponse());
  }
}
