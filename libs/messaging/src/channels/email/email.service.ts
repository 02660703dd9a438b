import { Inject, Injectable } from '@nestjs/common';
import type { EmailContent } from '../../message/email-content.js';
import { validated } from '../../message/errors.js';
import type { MailboxInput } from '../../message/mailbox.js';
import {
  ChannelContext,
  ChannelService,
  type CostEstimate,
  type EstimateOptions,
} from '../channel.service.js';
import {
  contentOf,
  type LibraryMessage,
  MAX_RECIPIENTS,
  type Receipt,
  type SendOptions,
} from '../send.js';
import type { EmailAttachment } from './email-attachments.js';
import { sizeOf } from './email-fields.js';
import { type EmailAddressees, readEmailRecipients } from './email-recipients.js';

/**
 * An email, either to `to`, `cc` and `bcc`, who see one another, or to `recipients`, of whom each
 * gets a copy of its own.
 * @example
 * await email.send({
 *   from: 'Shop <orders@shop.example>',
 *   to: 'Ada <ada@example.com>',
 *   subject: 'Your order',
 *   text: 'It is on its way.',
 * });
 * @example
 * await email.send({
 *   from: 'news@shop.example',
 *   recipients: [{ email: 'ada@example.com', variables: { first: 'Ada' } }],
 *   subject: 'News for {{first}}',
 *   html: '<p>Hello {{first}}</p>',
 *   category: 'marketing',
 * });
 */
export interface EmailMessage extends EmailAddressees {
  readonly from: MailboxInput;
  /** At most 10. */
  readonly replyTo?: MailboxInput | readonly MailboxInput[] | undefined;
  /** 1 to 998 octets, without line breaks. */
  readonly subject: string;
  /** At most 5 MiB. @default derived from `html`; `''` turns that off */
  readonly text?: string | undefined;
  /** At most 5 MiB. */
  readonly html?: string | undefined;
  /** The whole message has at most 25 MiB. */
  readonly attachments?: readonly EmailAttachment[] | undefined;
  /**
   * `In-Reply-To`, `References`, `List-Id`, `Auto-Submitted`, `Importance`, `X-Entity-Ref-ID` and
   * `X-Priority`.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** `marketing` goes only to recipients with an opt-in. @default 'transactional' */
  readonly category?: 'transactional' | 'marketing' | undefined;
  /** With category `marketing`: the page of the one-click unsubscribe. */
  readonly unsubscribeUrl?: string | undefined;
  readonly deliveryReport?: 'none' | 'yes' | undefined;
  /** Earliest time of sending; a past time means at once. */
  readonly sendAt?: Date | undefined;
}

export interface EmailEstimate extends CostEstimate {
  /** Octets of the whole message, rounded up; values of variables are not counted. */
  readonly size: number;
}

/**
 * Sends emails and reads their batches, statuses and reports.
 * @example
 * const { id } = await email.send({ from: 'orders@shop.example', to: 'ada@example.com', subject: 'Hello', text: 'Hello' });
 * const { counts } = await email.batch(id); // { delivered: 1 }
 */
@Injectable()
export class EmailService extends ChannelService {
  constructor(@Inject(ChannelContext) context: ChannelContext) {
    super('email', context);
  }

  /**
   * Accepts an email as `SmsService.send()` does, with its options and errors. Each address of
   * `to`, `cc`, `bcc` or `recipients` is one message, `{batchId}-{position}`.
   * @throws MessageValidationError naming each wrong field; its code is `payload_too_large` where
   * the whole message is
   * @throws PolicyError where policy denies every recipient; some denied recipients are `rejected`
   */
  async send(message: EmailMessage, options: SendOptions = {}): Promise<Receipt> {
    return await this.enqueue(this.#messageOf(message), options);
  }

  /** Size and price of the message for one recipient; nothing is sent or stored. */
  async estimate(
    message: Omit<EmailMessage, 'sendAt' | 'deliveryReport'>,
    options: EstimateOptions = {},
  ): Promise<EmailEstimate> {
    const { content } = this.#messageOf(message);
    const checked = validated((errors) => contentOf(this.definition, content, errors));
    const cost = await this.costOf({ parts: 1, category: null }, options);
    return { size: sizeOf(checked.content as EmailContent), ...cost };
  }

  #messageOf(message: EmailMessage): LibraryMessage {
    const { to, cc, bcc, recipients, deliveryReport, sendAt, ...given } = message;
    const content = { ...given, kind: 'email', to, cc };
    const texts = [given.subject, given.text, given.html].map((text: unknown) =>
      typeof text === 'string' ? text : undefined,
    );
    return {
      from: given.from as string,
      to: [],
      content: recipients === undefined ? content : { ...content, to: undefined, cc: undefined },
      deliveryReport,
      sendAt,
      recipientsOf: (errors) =>
        readEmailRecipients(
          { to, cc, bcc, recipients },
          texts,
          this.definition.maxRecipients ?? MAX_RECIPIENTS,
          errors,
        ),
    };
  }
}
