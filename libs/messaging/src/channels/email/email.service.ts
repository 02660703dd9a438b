import { setImmediate as turn } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { EmailContent } from '../../message/content/email-content.js';
import { MessageValidationError, validated } from '../../message/errors.js';
import type { MailboxInput } from '../../message/mailbox.js';
import type { MessageStats, StatsOptions } from '../../message/views.js';
import { messageStats } from '../../store/reads/messages/message-stats.js';
import {
  ChannelContext,
  ChannelService,
  type CostEstimate,
  type EstimateOptions,
} from '../channel.service.js';
import { type KnownFields, LABEL_FIELDS, refuseUnknownFields } from '../known-fields.js';
import {
  contentOf,
  given,
  type LibraryMessage,
  MAX_RECIPIENTS,
  type Receipt,
  type SendOptions,
  periodOf,
} from '../send.js';
import type { LabelledMessage } from '../labels.js';
import { EMAIL_FIELDS } from './email.channel.js';
import type { EmailAttachment } from './email-attachments.js';
import { sizeOf } from './email-fields.js';
import { type EmailAddressees, readEmailRecipients } from './email-recipients.js';
import { type FromTemplate, rendered } from './email-templates.js';

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
 * @example
 * await email.send({ from, to, template: templates.welcome, props: { name: 'Ada' } });
 */
export interface EmailMessage extends EmailEnvelope {
  /** 1 to 998 octets, without line breaks. */
  readonly subject: string;
  /** At most 5 MiB. @default derived from `html`; `''` turns that off */
  readonly text?: string | undefined;
  /** At most 5 MiB. */
  readonly html?: string | undefined;
}

/** An email whose subject, text and html a template makes. */
export type TemplateEmail<P> = EmailEnvelope & FromTemplate<P>;

/** An email apart from its subject and texts. */
export interface EmailEnvelope extends EmailAddressees, LabelledMessage {
  /** @default the option `email.from` */
  readonly from?: MailboxInput | undefined;
  /** At most 10. */
  readonly replyTo?: MailboxInput | readonly MailboxInput[] | undefined;
  /** The whole message has at most 25 MiB, before the attachments are in base64. */
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
  readonly deliveryReport?: boolean | undefined;
  /** Earliest time of sending; a past time means at once. */
  readonly sendAt?: Date | undefined;
}

const MOST_MESSAGES = 1_000;
/** Messages that are stored in one turn of the event loop. */
const SLICE = 20;
/** 92 days, by the hour. */
const MOST_SLOTS = 92 * 24 + 1;

const FIELDS: KnownFields<EmailMessage> = {
  ...EMAIL_FIELDS,
  to: true,
  cc: true,
  bcc: true,
  recipients: true,
  attachments: true,
  deliveryReport: true,
  sendAt: true,
  ...LABEL_FIELDS,
};

export interface EmailEstimate extends CostEstimate {
  /**
   * Octets of the whole message as `email.maxSize` counts them: texts and attachments before their
   * encoding. Values of variables are not counted.
   */
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
  /** @internal */
  constructor(@Inject(ChannelContext) context: ChannelContext) {
    super('email', context);
  }

  /**
   * Accepts an email as `SmsService.send()` does, with its options and errors. Each address of
   * `to`, `cc`, `bcc` or `recipients` is one message, `{batchId}-{position}`.
   * @throws MessageValidationError naming each wrong field; its code is `payload_too_large` where
   * the whole message is
   * @throws EmailRenderError where the template fails
   * @throws PolicyError where policy denies every recipient; some denied recipients are `rejected`
   */
  async send<P>(
    message: EmailMessage | TemplateEmail<P>,
    options: SendOptions = {},
  ): Promise<Receipt> {
    return await this.enqueue(this.#messageOf(await contentIn(given(message))), options);
  }

  /**
   * Accepts up to 1,000 emails, all or none, under one idempotency key; on SQLite other sends wait
   * for the transaction. @returns the receipts in the order of the messages
   * @throws MessageValidationError with paths such as `messages[3].subject`
   * @throws EmailRenderError where a template fails
   */
  async sendAll<const P extends readonly unknown[]>(
    messages: { readonly [Index in keyof P]: EmailMessage | TemplateEmail<P[Index]> },
    { manager, ...options }: SendOptions = {},
  ): Promise<Receipt[]> {
    const { length: count } = given(messages, 'messages');
    if (count === 0 || count > MOST_MESSAGES)
      throw new MessageValidationError([
        { path: 'messages', message: `must be 1 to ${MOST_MESSAGES} messages` },
      ]);
    // Before the transaction, which other sends may wait for.
    const contents: EmailMessage[] = [];
    for (const message of messages as readonly (EmailMessage | TemplateEmail<unknown>)[])
      contents.push(await contentIn(message));
    const within = async (transaction: EntityManager): Promise<Receipt[]> => {
      const receipts: Receipt[] = [];
      for (const [index, message] of contents.entries()) {
        // On SQLite nothing else here waits.
        if (index % SLICE === SLICE - 1) await turn();
        const part = { index, count };
        const send = async () =>
          this.enqueue({ ...this.#messageOf(message), part }, { ...options, manager: transaction });
        receipts.push(
          await send().catch((error: unknown) => {
            throw ofMessage(index, error);
          }),
        );
      }
      return receipts;
    };
    const { database } = this.store;
    const tx = database.callersTransaction(manager);
    return tx ? within(tx.manager) : database.callerTransaction(within);
  }

  /**
   * Counts of messages by the hour or day of their acceptance, at most 2,300 of them. Tags count as
   * long as the content is kept.
   */
  async stats(options: StatsOptions): Promise<readonly MessageStats[]> {
    const period = periodOf(options, this.context.clock.now(), MOST_SLOTS);
    const scope = this.listScopeOf(options);
    return (await messageStats(this.store.database, scope, period)).slots;
  }

  /** Size and price of the message for one recipient; nothing is sent or stored. */
  async estimate<P>(
    message: Omit<EmailMessage, 'sendAt' | 'deliveryReport'> | TemplateEmail<P>,
    options: EstimateOptions = {},
  ): Promise<EmailEstimate> {
    const { content } = this.#messageOf(await contentIn(message));
    const checked = validated((errors) => contentOf(this.definition, content, errors));
    const cost = await this.costOf({ parts: 1, category: null }, options);
    return { size: sizeOf(checked.content as EmailContent), ...cost };
  }

  #messageOf(message: EmailMessage): LibraryMessage {
    refuseUnknownFields(message, FIELDS);
    const { to, cc, bcc, recipients, deliveryReport, sendAt, tags, metadata, ...given } = message;
    const content = { ...given, kind: 'email', to, cc };
    const texts = [given.subject, given.text, given.html].map((text: unknown) =>
      typeof text === 'string' ? text : undefined,
    );
    return {
      from: given.from,
      to: [],
      content: recipients === undefined ? content : { ...content, to: undefined, cc: undefined },
      deliveryReport,
      sendAt,
      tags,
      metadata,
      recipientsOf: () =>
        readEmailRecipients(
          { to, cc, bcc, recipients },
          texts,
          this.definition.maxRecipients ?? MAX_RECIPIENTS,
        ),
    };
  }
}

async function contentIn<P>(message: EmailMessage | TemplateEmail<P>): Promise<EmailMessage> {
  return 'template' in message ? rendered<TemplateEmail<P>, P>(message) : message;
}

/** The error with the message's place in its paths. */
function ofMessage(index: number, error: unknown): unknown {
  if (!(error instanceof MessageValidationError)) return error;
  const fields = error.fields.map(({ path, message }) => ({
    path: `messages[${index}].${path}`,
    message,
  }));
  return new MessageValidationError(fields, error.code);
}
