import {
  applyDecorators,
  type CanActivate,
  type ExecutionContext,
  HttpException,
  Inject,
  Injectable,
  UseGuards,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ChannelRegistry } from '../message/channel-registry.js';
import { MessageValidationError, MessagingError } from '../message/errors.js';
import { httpErrorBodyOf, httpStatusOf } from '../message/http-status.js';
import type { Channel, MessageContent } from '../message/message.js';
import { readRecipients, type Recipients } from '../message/address.js';
import {
  type Addressed,
  type AppliedDecision,
  type PolicyExplanation,
  PolicyPipeline,
} from './policy-pipeline.js';

/** A message to be decided by the policies. */
export interface ExplainedMessage {
  readonly channel: Channel;
  /** @default '' */
  readonly tenant?: string;
  readonly from: string;
  readonly to: Recipients;
  readonly content: MessageContent;
}

/** The denial of one recipient. */
export interface RecipientDenial {
  /** The address as one text: digits with country code, an e-mail address, or `platform:{id}`. */
  readonly recipient: string;
  readonly code: string;
  readonly reason: string;
  readonly policy: string;
}

/** Policy denies every recipient; nothing was stored. `code` is that of the first recipient. */
export class PolicyError extends MessagingError {
  constructor(readonly denials: readonly [RecipientDenial, ...RecipientDenial[]]) {
    const [{ code, recipient: first, reason }] = denials;
    const isSentence = /^\p{Lu}/u.test(reason);
    const isOne = denials.every(({ recipient }) => recipient === first);
    const all = `Policy forbids all ${denials.length} recipients`;
    const ofOne = isSentence ? reason : `The recipient ${reason}`;
    const ofAll = isSentence ? `${all}. The first: ${reason}` : `${all}; the first ${reason}`;
    super(code, isOne ? ofOne : ofAll);
  }
}

/** In the order of the recipients. */
export function denialsOf(
  recipients: readonly string[],
  decisions: ReadonlyMap<number, AppliedDecision>,
): RecipientDenial[] {
  const denials: RecipientDenial[] = [];
  for (const [index, recipient] of recipients.entries()) {
    const decision = decisions.get(index);
    if (decision?.decision !== 'deny') continue;
    const { code, reason, policy } = decision;
    denials.push({ recipient, code, reason, policy });
  }
  return denials;
}

/**
 * Evaluates the policies without sending.
 * @example
 * const [explanation] = await policy.explain({
 *   channel: 'sms', from: 'ACME', to: '2348012345678', content: { kind: 'text', text: 'Hello' },
 * });
 */
@Injectable()
export class PolicyService {
  /** @internal */
  constructor(
    @Inject(PolicyPipeline) private readonly pipeline: PolicyPipeline,
    @Inject(ChannelRegistry) private readonly registry: ChannelRegistry,
  ) {}

  /** @throws MessageValidationError naming each wrong address */
  async explain(message: ExplainedMessage): Promise<PolicyExplanation[]> {
    return this.pipeline.explain(this.#addressed(message));
  }

  /**
   * Resolves where every recipient may receive the message, now or later.
   * @throws PolicyError naming the denied recipients
   * @throws MessageValidationError naming each wrong address
   */
  async require(message: ExplainedMessage): Promise<void> {
    const addressed = this.#addressed(message);
    const decisions = await this.pipeline.review([addressed], 'explain');
    const [first, ...others] = denialsOf(addressed.recipients, decisions);
    if (first) throw new PolicyError([first, ...others]);
  }

  #addressed({ channel, tenant = '', from: sender, to, content }: ExplainedMessage): Addressed {
    const list: readonly unknown[] = Array.isArray(to) ? to : [to];
    const { recipients, errors } = readRecipients(list, this.registry.get(channel).addressKinds);
    if (errors.length > 0) throw new MessageValidationError(errors);
    return { message: { channel, tenant, sender, content }, recipients };
  }
}

/** Builds the message from a request that is not validated yet: guards run before pipes. */
export type PolicySubject = (
  context: ExecutionContext,
) => ExplainedMessage | Promise<ExplainedMessage>;

const Subject = Reflector.createDecorator<PolicySubject>();

/** Admits a request only where policy allows its message to all recipients. */
@Injectable()
class PolicyGuard implements CanActivate {
  /** @internal */
  constructor(
    @Inject(PolicyService) private readonly policy: PolicyService,
    @Inject(Reflector) private readonly reflector: Reflector,
  ) {}

  /**
   * @throws HttpException 422 with the first denial's `code` and `message`, or 400 with the wrong
   * addresses as `fields`; cause: the library's error
   */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const of = [context.getHandler(), context.getClass()];
    const subject = this.reflector.getAllAndOverride(Subject, of);
    try {
      await this.policy.require(await subject(context));
      return true;
    } catch (error) {
      if (!(error instanceof MessagingError)) throw error;
      throw new HttpException(httpErrorBodyOf(error), httpStatusOf(error), { cause: error });
    }
  }
}

/**
 * Decorates a route, or a controller for all routes without their own decorator. Where policy
 * denies the message, the response is 422 with the code (`opt_in_required`, `window_closed`) and
 * the handler does not run. Nothing is sent.
 * @example
 * @RequirePolicy((context) => {
 *   const { to, text } = context.switchToHttp().getRequest().body;
 *   return { channel: 'whatsapp', from: OUR_NUMBER, to, content: { kind: 'text', text } };
 * })
 * @Post('replies')
 */
export function RequirePolicy(subject: PolicySubject): ClassDecorator & MethodDecorator {
  return applyDecorators(Subject(subject), UseGuards(PolicyGuard));
}
