import { Inject, Injectable } from '@nestjs/common';
import type { Recipients } from '../../message/recipients.js';
import {
  ChannelContext,
  ChannelService,
  type CostEstimate,
  type EstimateOptions,
} from '../channel.service.js';
import type { Receipt, SendOptions } from '../send.js';
import { type SmsParts, smsParts, ucs2Characters } from '../../message/sms-parts.js';

/**
 * An SMS to one or many recipients (interface section 2.1).
 *
 * @example
 * await sms.send({ from: 'ACME', to: ['2348012345678'], body: 'Hello' });
 */
export interface SmsMessage {
  /** Sender ID: 1–11 letters, digits and inner spaces, at least one letter. */
  readonly from: string;
  /** Phone numbers, digits with country code, and ids of groups. A leading plus, spaces, dashes and brackets are normalised away. */
  readonly to: Recipients;
  /** The text; longer than one part is split and charged per part. */
  readonly body: string;
  /** Ask the provider for a callback per status change. @default the module's `deliveryReport` option (`'yes'`) */
  readonly deliveryReport?: 'none' | 'yes';
  /** Not before this time; a past time means at once, in its turn. */
  readonly sendAt?: Date;
}

/** What one SMS with this text would take (3GPP TS 23.038) and cost. */
export interface SmsEstimate extends SmsParts, CostEstimate {
  /** The characters that make the text UCS-2, each once, the first ten; none in GSM-7. */
  readonly ucs2Characters: readonly string[];
}

/**
 * Sends SMS and follows them.
 *
 * @example
 * const { id } = await sms.send({ from: 'ACME', to: '+234 801 234 5678', body: 'Hello' });
 * const { counts } = await sms.batch(id); // { delivered: 1 }
 */
@Injectable()
export class SmsService extends ChannelService {
  constructor(@Inject(ChannelContext) context: ChannelContext) {
    super(context.channels.get('sms'), context);
  }

  /**
   * Accepts a message for one or many recipients. Resolves once it is durable, or, with `manager`, once it is
   * part of that transaction; status, events and reports tell what happens then.
   *
   * @throws MessageValidationError naming each wrong field; nothing was stored
   * @throws PolicyError where policy denies every recipient; nothing was stored. Where it denies some, their
   *   messages are `rejected` with the code
   * @throws IdempotencyKeyReusedError where the key was used for other content
   * @throws IdempotencyKeyInUseError where another open transaction holds the key; try again
   * @throws TransactionRequiredError where `manager` is in no transaction of the module's data source
   */
  async send(message: SmsMessage, options: SendOptions = {}): Promise<Receipt> {
    const { from, to, body, deliveryReport, sendAt } = message;
    const content = { kind: 'text', text: body } as const;
    return this.enqueue({ from, to, content, deliveryReport, sendAt }, options);
  }

  /** What one message with this text would take and cost; nothing is sent or stored. */
  async estimate(text: string, options: EstimateOptions = {}): Promise<SmsEstimate> {
    const parts = smsParts(text);
    return {
      ...parts,
      ucs2Characters: ucs2Characters(text),
      ...(await this.costOf({ parts: parts.parts, category: null }, options)),
    };
  }
}
