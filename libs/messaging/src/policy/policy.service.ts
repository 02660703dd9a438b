import { Inject, Injectable } from '@nestjs/common';
import type { MessageContent } from '../message/message.js';
import type { Channel } from '../message/message.js';
import { normaliseRecipients } from '../message/phone-number.js';
import { MessageValidationError } from '../message/errors.js';
import type { Verdict } from '../ports/messaging-policy.js';
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
    const { channel, tenant = '', from: sender, content } = message;
    const to = typeof message.to === 'string' ? [message.to] : message.to;
    const { recipients, errors } = normaliseRecipients(to);
    if (errors.length > 0) throw new MessageValidationError(errors);
    const all = await this.pipeline.explain({
      message: { channel, tenant, sender, content },
      recipients,
    });
    return recipients.map((recipient, index) => ({ recipient, verdicts: all[index] ?? [] }));
  }
}
