import {
  applyDecorators,
  BadRequestException,
  type CanActivate,
  type ExecutionContext,
  ForbiddenException,
  Inject,
  Injectable,
  InternalServerErrorException,
  SetMetadata,
  UseGuards,
} from '@nestjs/common';
import { MessageValidationError } from '../message/errors.js';
import { PolicyError } from './policy-error.js';
import { type ExplainedMessage, PolicyService } from './policy.service.js';

/** Makes the message that is to be allowed out of the request; guards come before pipes, so nothing of it is checked yet. */
export type PolicySubject = (
  context: ExecutionContext,
) => ExplainedMessage | Promise<ExplainedMessage>;

const SUBJECT = 'messaging:policy-subject';

/** Lets a request in only where policy allows the message it asks for, to everybody it is for. */
@Injectable()
export class PolicyGuard implements CanActivate {
  constructor(@Inject(PolicyService) private readonly policy: PolicyService) {}

  /**
   * @throws ForbiddenException with the `code` and `message` of the first denial; the cause is the PolicyError
   * @throws BadRequestException where a number is none
   */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const subject = (Reflect.getMetadata(SUBJECT, context.getHandler()) ??
      Reflect.getMetadata(SUBJECT, context.getClass())) as PolicySubject | undefined;
    if (!subject) throw new InternalServerErrorException('PolicyGuard comes with @RequirePolicy()');
    try {
      await this.policy.require(await subject(context));
      return true;
    } catch (error) {
      if (error instanceof PolicyError)
        throw new ForbiddenException(
          { statusCode: 403, error: 'Forbidden', code: error.code, message: error.message },
          { cause: error },
        );
      if (error instanceof MessageValidationError)
        throw new BadRequestException(error.message, { cause: error });
      throw error;
    }
  }
}

/**
 * A route, or a controller's every route without one of its own, that only runs where policy allows a
 * message: `opt_in_required`, `window_closed`, … are answered 403 before the handler is called. Nothing
 * is sent.
 *
 * @example
 * @RequirePolicy((context) => {
 *   const { to, text } = context.switchToHttp().getRequest().body;
 *   return { channel: 'whatsapp', from: OUR_NUMBER, to, content: { kind: 'text', text } };
 * })
 * @Post('replies')
 */
export function RequirePolicy(subject: PolicySubject): ClassDecorator & MethodDecorator {
  return applyDecorators(SetMetadata(SUBJECT, subject), UseGuards(PolicyGuard));
}
