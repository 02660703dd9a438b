import { setImmediate as turn } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { MessageValidationError, validated } from '../../message/errors.js';
import { type SmsParts, smsParts, ucs2Characters } from '../../message/sms-parts.js';
import { replacedIn } from '../../message/variables.js';
import { MESSAGING_SETTINGS, type MessagingSettings } from '../../ports/messaging-settings.js';
import { type Price, totalOf } from '../../ports/rate-card.js';
import {
  ChannelContext,
  ChannelService,
  type CostEstimate,
  type EstimateOptions,
} from '../channel.service.js';
import { type KnownFields, LABEL_FIELDS, refuseUnknownFields } from '../known-fields.js';
import {
  type ChannelMessage,
  given,
  inTurns,
  type LibraryMessage,
  type Receipt,
  type SendOptions,
} from '../send.js';
import { isPersonal, readSmsRecipients, type SmsRecipients } from './sms-recipients.js';
import { partsOf, SMS_FIELDS } from './sms.channel.js';

/**
 * An SMS to one or many recipients.
 * @example
 * await sms.send({ from: 'ACME', to: ['2348012345678'], body: 'Hello' });
 * @example
 * await sms.send({ from: 'ACME', to: [{ to: '2348012345678', variables: { name: 'Ada' } }], body: 'Hi {{name}}' });
 */
export interface SmsMessage extends Pick<
  ChannelMessage,
  'deliveryReport' | 'sendAt' | 'tags' | 'metadata'
> {
  /**
   * Phone numbers in any usual form, and group ids. Where one is `{ to, variables }`, the body is
   * filled in for each recipient, and each needs a value for every `{{variable}}` of the body.
   */
  readonly to: SmsRecipients;
  /**
   * Sender ID of 1 to 11 letters, digits and inner spaces with at least one letter; or a phone number
   * with country code, or a short code of 3 to 8 digits, where the provider takes them.
   * @default the option `sms.from`
   */
  readonly from?: string | undefined;
  /**
   * The text. A text longer than one part is split and charged per part. `{{name}}` is replaced only
   * where recipients have variables.
   */
  readonly body: string;
}

/** Parts (3GPP TS 23.038) and price of one SMS with this text. */
export interface SmsEstimate extends SmsParts, CostEstimate {
  /** The first ten distinct characters that make the text UCS-2; empty for GSM-7. */
  readonly ucs2Characters: readonly string[];
}

/** Parts and price of the message of one recipient. */
export interface SmsRecipientEstimate extends SmsEstimate {
  /** Address key of the recipient. */
  readonly to: string;
}

/** Parts and price of one SMS to each of its recipients. */
export interface SmsSendEstimate extends CostEstimate {
  /** Parts of all messages together. */
  readonly parts: number;
  readonly recipients: readonly SmsRecipientEstimate[];
}

const FIELDS: KnownFields<SmsMessage> = {
  ...SMS_FIELDS,
  to: true,
  deliveryReport: true,
  sendAt: true,
  ...LABEL_FIELDS,
};

/** Recipients that are priced in one turn of the event loop. */
const SLICE = 2_000;

/**
 * Sends SMS messages and reads their batches, statuses and reports.
 * @example
 * const { id } = await sms.send({ from: 'ACME', to: '+234 801 234 5678', body: 'Hello' });
 * const { counts } = await sms.batch(id); // { delivered: 1 }
 */
@Injectable()
export class SmsService extends ChannelService {
  readonly #maxParts: number;

  /** @internal */
  constructor(
    @Inject(ChannelContext) context: ChannelContext,
    @Inject(MESSAGING_SETTINGS) settings: MessagingSettings,
  ) {
    super('sms', context);
    this.#maxParts = settings.sms.maxParts;
  }

  /**
   * Accepts a message. Resolves once the batch is durable, or, with `manager`, once it is part of
   * that transaction. Where it throws one of these errors, nothing was stored.
   * @throws MessageValidationError naming each wrong field, such as `to[3].variables.name`
   * @throws PolicyError where policy denies every recipient; some denied recipients are `rejected`
   * @throws IdempotencyKeyReusedError where the key was used for other content
   * @throws IdempotencyKeyInUseError where another open transaction holds the key; try again
   * @throws TransactionRequiredError where `manager` is in no transaction of the data source
   * @throws NoRouteError where no provider carries the channel
   */
  async send(message: SmsMessage, options: SendOptions = {}): Promise<Receipt> {
    const { from, to, body, deliveryReport, sendAt, tags, metadata } = given(message);
    refuseUnknownFields(message, FIELDS);
    const content = { kind: 'text', text: body } as const;
    const sent: LibraryMessage = {
      from,
      to: to as ChannelMessage['to'],
      content,
      deliveryReport,
      sendAt,
      tags,
      metadata,
      recipientsOf: isPersonal(to)
        ? () => readSmsRecipients(to, body, this.definition, this.#maxParts)
        : undefined,
    };
    // `return` alone would take three more microtasks.
    return await this.enqueue(sent, options);
  }

  /**
   * Parts and price of one message with this text, or of the message to each recipient, with its
   * variables; nothing is sent or stored.
   * @throws MessageValidationError naming each wrong field; members of groups are not looked up
   * @example
   * const { parts, cost, recipients } = await sms.estimate({ to: [{ to, variables: { name } }], body: 'Hi {{name}}' });
   */
  estimate(text: string, options?: EstimateOptions): Promise<SmsEstimate>;
  estimate(
    message: Pick<SmsMessage, 'to' | 'body'>,
    options?: Omit<EstimateOptions, 'to'>,
  ): Promise<SmsSendEstimate>;
  async estimate(
    message: string | Pick<SmsMessage, 'to' | 'body'>,
    options: EstimateOptions = {},
  ): Promise<SmsEstimate | SmsSendEstimate> {
    if (typeof message === 'string') return this.#estimateOf(message, options);
    const { to, body } = given(message);
    validated((errors) => partsOf(body, this.#maxParts, errors));
    const read = await inTurns(readSmsRecipients(to, body, this.definition, this.#maxParts));
    if (read.errors.length > 0) throw new MessageValidationError(read.errors);
    const [group] = read.groups.values();
    if (group !== undefined)
      throw new MessageValidationError([
        { path: group, message: 'must be a recipient: the members of groups are not looked up' },
      ]);
    const recipients: SmsRecipientEstimate[] = [];
    for (const [index, recipient] of read.recipients.entries()) {
      if (index % SLICE === SLICE - 1) await turn();
      const personal = read.personal?.[index];
      const text = personal ? replacedIn(body, personal) : body;
      const one = await this.#estimateOf(text, { ...options, to: recipient });
      recipients.push({ to: recipient, ...one });
    }
    const total = totalOf(recipients.map(priceOf));
    return {
      parts: recipients.reduce((sum, one) => sum + one.parts, 0),
      cost: total?.amount ?? null,
      currency: total?.currency ?? null,
      recipients,
    };
  }

  async #estimateOf(text: string, options: EstimateOptions): Promise<SmsEstimate> {
    const parts = smsParts(text);
    return {
      ...parts,
      ucs2Characters: ucs2Characters(text),
      ...(await this.costOf({ parts: parts.parts, category: null }, options)),
    };
  }
}

function priceOf({ cost, currency }: CostEstimate): Price | undefined {
  return cost === null || currency === null ? undefined : { amount: cost, currency };
}
