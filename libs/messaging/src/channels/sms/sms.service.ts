import { Inject, Injectable } from '@nestjs/common';
import {
  ChannelContext,
  ChannelService,
  type CostEstimate,
  type EstimateOptions,
} from '../channel.service.js';
import { type ChannelMessage, given, type Receipt, type SendOptions } from '../send.js';
import { type SmsParts, smsParts, ucs2Characters } from '../../message/sms-parts.js';

/**
 * An SMS to one or many recipients (interface section 2.1).
 * @example
 * await sms.send({ from: 'ACME', to: ['2348012345678'], body: 'Hello' });
 */
export interface SmsMessage extends Pick<ChannelMessage, 'to' | 'deliveryReport' | 'sendAt'> {
  /**
   * Sender ID of 1 to 11 letters, digits and inner spaces with at least one letter; or a phone number
   * with country code, or a short code of 3 to 8 digits, where the provider takes them.
   */
  readonly from: string;
  /** The text. A text longer than one part is split and charged per part. */
  readonly body: string;
}

/** Parts (3GPP TS 23.038) and price of one SMS with this text. */
export interface SmsEstimate extends SmsParts, CostEstimate {
  /** The first ten distinct characters that make the text UCS-2; empty for GSM-7. */
  readonly ucs2Characters: readonly string[];
}

/**
 * Sends SMS messages and reads their batches, statuses and reports.
 * @example
 * const { id } = await sms.send({ from: 'ACME', to: '+234 801 234 5678', body: 'Hello' });
 * const { counts } = await sms.batch(id); // { delivered: 1 }
 */
@Injectable()
export class SmsService extends ChannelService {
  constructor(@Inject(ChannelContext) context: ChannelContext) {
    super('sms', context);
  }

  /**
   * Accepts a message. Resolves once the batch is durable, or, with `manager`, once it is part of
   * that transaction. Where it throws one of these errors, nothing was stored.
   * @throws MessageValidationError naming each wrong field
   * @throws PolicyError where policy denies every recipient; some denied recipients are `rejected`
   * @throws IdempotencyKeyReusedError where the key was used for other content
   * @throws IdempotencyKeyInUseError where another open transaction holds the key; try again
   * @throws TransactionRequiredError where `manager` is in no transaction of the data source
   * @throws NoRouteError where no provider carries the channel
   */
  async send(message: SmsMessage, options: SendOptions = {}): Promise<Receipt> {
    const { from, to, body, deliveryReport, sendAt } = given(message);
    const content = { kind: 'text', text: body } as const;
    // `return` alone would take three more microtasks.
    return await this.enqueue({ from, to, content, deliveryReport, sendAt }, options);
  }

  /** Parts and price of one message with this text; nothing is sent or stored. */
  async estimate(text: string, options: EstimateOptions = {}): Promise<SmsEstimate> {
    const parts = smsParts(text);
    return {
      ...parts,
      ucs2Characters: ucs2Characters(text),
      ...(await this.costOf({ parts: parts.parts, category: null }, options)),
    };
  }
}
