import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { EmailContent, EmailLabels } from '../../message/email-content.js';
import { MessageValidationError, validated } from '../../message/errors.js';
import type { MailboxInput } from '../../message/mailbox.js';
import type {
  ListedMessage,
  MessageFilter,
  MessageStats,
  Page,
  StatsOptions,
} from '../../message/views.js';
import { messageStats } from '../../store/reads/message-stats.js';
import {
  ChannelContext,
  ChannelService,
  type CostEstimate,
  type EstimateOptions,
  pageOf,
} from '../channel.service.js';
import {
  checkTime,
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
  /** At most 10 of 1 to 64 letters, digits, dashes and underscores; lists and statistics find them. */
  readonly tags?: readonly string[] | undefined;
  /** At most 20 texts of 512 characters; see {@link EmailService.labels}. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly deliveryReport?: 'none' | 'yes' | undefined;
  /** Earliest time of sending; a past time means at once. */
  readonly sendAt?: Date | undefined;
}

const MOST_MESSAGES = 1_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** 92 days, by the hour. */
const MOST_SLOTS = 92 * 24 + 1;

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

  /**
   * Accepts up to 1,000 emails, all or none, under one idempotency key; on SQLite other sends wait
   * for the transaction. @returns the receipts in the order of the messages
   * @throws MessageValidationError with paths such as `messages[3].subject`
   */
  async sendAll(
    messages: readonly EmailMessage[],
    { manager, ...options }: SendOptions = {},
  ): Promise<Receipt[]> {
    const { length: count } = messages;
    if (count === 0 || count > MOST_MESSAGES)
      throw new MessageValidationError([
        { path: 'messages', message: `must be 1 to ${MOST_MESSAGES} messages` },
      ]);
    const within = async (transaction: EntityManager): Promise<Receipt[]> => {
      const receipts: Receipt[] = [];
      for (const [index, message] of messages.entries())
        receipts.push(
          await this.enqueue(
            { ...this.#messageOf(message), part: { index, count } } as LibraryMessage,
            { ...options, manager: transaction },
          ).catch((error: unknown) => {
            throw ofMessage(index, error);
          }),
        );
      return receipts;
    };
    return manager ? within(manager) : this.store.database.callerTransaction(within);
  }

  /**
   * Messages of all batches, one for each recipient, also before they start; the newest batch first.
   * A page looks at 1,000 batches, and with `to` or `status` at 10,000 recipients.
   * @throws MessageValidationError naming each wrong field of the filter
   */
  async list(filter: MessageFilter = {}): Promise<Page<ListedMessage>> {
    const { batchId, status } = filter;
    validated((errors) => {
      if (status !== undefined && this.context.channels.rankOf(status) === undefined)
        errors.push({ path: 'status', message: 'must be a status of email' });
      for (const path of ['since', 'until'] as const) checkTime(path, filter[path], errors);
    });
    if (batchId !== undefined)
      await this.store.reads.batchRow(this.store.database, batchId, this.scopeOf(filter));
    return this.store.messages.page(this.scopeOf(filter), { ...filter, ...pageOf(filter) });
  }

  /**
   * Counts of messages by the hour or day of their acceptance, at most 2,300 of them. Tags count as
   * long as the content is kept.
   */
  async stats(options: StatsOptions): Promise<MessageStats[]> {
    const { since, until, interval } = options;
    validated((errors) => {
      checkTime('since', since, errors);
      checkTime('until', until, errors);
      if (errors.length === 0 && until <= since)
        errors.push({ path: 'until', message: 'must be after since' });
      const slots = (until.getTime() - since.getTime()) / (interval === 'day' ? DAY : HOUR);
      if (slots > MOST_SLOTS)
        errors.push({ path: 'since', message: `must be at most ${MOST_SLOTS} intervals ago` });
    });
    return messageStats(this.store.database, this.scopeOf(options), options);
  }

  /** Tags and metadata of batches, where they have any and their content is kept. */
  async labels(
    batchIds: Iterable<string>,
    { manager }: Pick<SendOptions, 'manager'> = {},
  ): Promise<ReadonlyMap<string, EmailLabels>> {
    const { data, database } = this.store;
    return data.labels(batchIds, manager && database.join(manager));
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

/** The error with the message's place in its paths. */
function ofMessage(index: number, error: unknown): unknown {
  if (!(error instanceof MessageValidationError)) return error;
  const fields = error.fields.map(({ path, message }) => ({
    path: `messages[${index}].${path}`,
    message,
  }));
  return new MessageValidationError(fields, error.code);
}
