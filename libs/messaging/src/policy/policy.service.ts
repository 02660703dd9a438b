import { Inject, Injectable } from '@nestjs/common';
import type { MessageContent } from '../message/message.js';
import type { Channel } from '../message/message.js';
import { readRecipients } from '../message/recipients.js';
import { MessageValidationError } from '../message/errors.js';
import type { Verdict } from '../ports/messaging-policy.js';
import type { Addressed } from './judged-slice.js';
import { PolicyError, type RecipientDenial } from './policy-error.js';
import { PolicyPipeline } from './policy-pipeline.js';

/** A message as the policies see it. */
export interface ExplainedMessage {
  readonly channel: Channel;
  /** @default '' */
  readonly tenant?: string;
  readonly from: string;
  readonly to: string | readonly string[];
  readonly content: MessageContent;
}

/** Every policy's verdict on one recipient, in the order they are asked. */
export interface PolicyExplanation {
  readonly recipient: string;
  readonly verdicts: readonly { readonly policy: string; readonly verdict: Verdict }[];
}

/**
 * Asks the policies without sending.
 *
 * @example
 * const [explanation] = await policy.explain({
 *   channel: 'sms', from: 'ACME', to: '2348012345678', content: { kind: 'text', text: 'Hello' },
 * });
 */
@Injectable()
export class PolicyService {
  constructor(@Inject(PolicyPipeline) private readonly pipeline: PolicyPipeline) {}

  /** @throws MessageValidationError naming each number that is none */
  async explain(message: ExplainedMessage): Promise<PolicyExplanation[]> {
    const addressed = addressedOf(message);
    const all = await this.pipeline.explain(addressed);
    return addressed.recipients.map((recipient, index) => ({
      recipient,
      verdicts: all[index] ?? [],
    }));
  }

  /**
   * Resolves where every recipient may be sent the message now, or later.
   * @throws PolicyError naming those who may not
   * @throws MessageValidationError naming each number that is none
   */
  async require(message: ExplainedMessage): Promise<void> {
    const addressed = addressedOf(message);
    const rulings = await this.pipeline.review([addressed], 'explain');
    const denials: RecipientDenial[] = [];
    for (const [place, ruling] of rulings) {
      if (ruling.decision !== 'deny') continue;
      const { code, reason, policy } = ruling;
      denials.push({ recipient: addressed.recipients[place] as string, code, reason, policy });
    }
    const [first, ...others] = denials;
    if (first) throw new PolicyError([first, ...others]);
  }
}

function addressedOf(message: ExplainedMessage): Addressed {
  const { channel, tenant = '', from: sender, to, content } = message;
  const { recipients, errors } = readRecipients(typeof to === 'string' ? [to] : to, ['phone']);
  if (errors.length > 0) throw new MessageValidationError(errors);
  return { message: { channel, tenant, sender, content }, recipients };
}
