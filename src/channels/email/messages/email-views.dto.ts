import type {
  BatchStatus,
  BatchView,
  ListedMessage,
  MessageStats,
  MessageTimeline,
  ReportView,
  StatusCounts,
} from '@dundun/messaging';
import type { EmailContent } from '@dundun/messaging/ports';
import { ApiExtraModels, ApiSchema, type ApiSchemaOptions } from '@nestjs/swagger';
import {
  Bounce,
  ChargedPrice,
  Choice,
  Field,
  type Plain,
  PriceCurrency,
  Text,
  Timestamp,
  Uuid,
  WholeNumber,
} from '../../../http/fields.js';
import { type Cost, costFields } from '../../../billing/charging/message-costs.js';
import { PageOf } from '../../../http/page.dto.js';
import { CountsByStatus, SendAnswer, StatusOfBatch } from '../../../http/batch.dto.js';
import { EMAIL_ADDRESS, EMAIL_STATUSES, EmailMailbox } from './email.dto.js';

const MESSAGE_ID = '01a1f91d-94f5-779e-8c4f-a4ea0dc430dd-0';

const TAGS = { type: 'array', items: { type: 'string' }, examples: [['welcome']] } as const;

const METADATA = {
  type: 'object',
  additionalProperties: { type: 'string' },
  examples: [{ order: '1001' }],
} as const;

function MessageId(options: { readonly nullable?: boolean } = {}): PropertyDecorator {
  return Text({ examples: [MESSAGE_ID], ...options });
}

class AcceptedEmail {
  @MessageId() readonly message_id!: string;
  @Field(EMAIL_ADDRESS) readonly to!: string;

  @Choice(['queued', 'rejected'], { description: '`rejected`: policy denies this recipient.' })
  readonly status!: 'queued' | 'rejected';
}

class AcceptedBatch {
  @Uuid() readonly reference_id!: string;
  @WholeNumber({ minimum: 1 }) readonly recipients_processed!: number;
}

export class SendEmailAnswer extends SendAnswer {
  @Field({ type: [AcceptedEmail], optional: true, description: 'Up to 50 recipients.' })
  readonly messages?: readonly AcceptedEmail[];
}

export class SendEmailsAnswer {
  @Field({ type: 'integer', const: 200 }) readonly status_code!: 200;
  @Text({ examples: ['Your request is being processed'] }) readonly message!: string;
  @WholeNumber({ minimum: 1, description: 'Over all messages.' })
  readonly recipients_processed!: number;
  @Timestamp() readonly created_at!: string;

  @Field({ type: [AcceptedBatch], description: 'In the order of the request.' })
  readonly messages!: readonly AcceptedBatch[];
}

class EmailSummary {
  @Uuid() readonly reference_id!: string;

  @Field({ ...EMAIL_ADDRESS, description: 'The address alone.', examples: ['hello@demo.test'] })
  readonly from!: string;

  @Text({
    nullable: true,
    description: 'With its `{{variables}}`; null after retention erased it.',
    examples: ['Your order'],
  })
  readonly subject!: string | null;

  @Field({ ...TAGS, description: 'Kept as long as the content.' })
  readonly tags!: readonly string[];

  @ChargedPrice() readonly cost!: number | null;
  @PriceCurrency() readonly currency!: string | null;
  @Timestamp() readonly created_at!: string;
  @Timestamp({ nullable: true, examples: [null] }) readonly send_at!: string | null;
}

/** One recipient's message. */
export class Email extends EmailSummary {
  @MessageId() readonly message_id!: string;
  @Field(EMAIL_ADDRESS) readonly to!: string;
  @Choice(EMAIL_STATUSES, { examples: ['delivered'] }) readonly status!: string;
  @Text({ nullable: true }) readonly error_code!: string | null;
}

export class EmailPage extends PageOf(Email) {}

export function emailOf(message: ListedMessage, cost: Cost | undefined): Plain<Email> {
  return {
    message_id: message.id,
    reference_id: message.batchId,
    to: message.recipient,
    from: message.sender,
    subject: message.subject,
    status: message.status,
    error_code: message.errorCode,
    tags: message.tags,
    ...costFields(cost),
    created_at: message.acceptedAt.toISOString(),
    send_at: message.sendAt?.toISOString() ?? null,
  };
}

class AttachmentView {
  @Text({ examples: ['invoice.pdf'] }) readonly filename!: string;
  @Text({ examples: ['application/pdf'] }) readonly content_type!: string;
  @Text({ nullable: true, examples: [null] }) readonly content_id!: string | null;
  @WholeNumber({ minimum: 0, description: 'Bytes.' }) readonly size!: number;
  @Text({ description: 'Of the content, in hexadecimal digits.' }) readonly sha256!: string;
}

class EmailContentView {
  @Field({ type: EmailMailbox }) readonly from!: EmailMailbox;
  @Field({ type: [EmailMailbox] }) readonly to!: readonly EmailMailbox[];
  @Field({ type: [EmailMailbox] }) readonly cc!: readonly EmailMailbox[];
  @Field({ type: [EmailMailbox] }) readonly reply_to!: readonly EmailMailbox[];
  @Text() readonly subject!: string;
  @Text({ nullable: true }) readonly text!: string | null;
  @Text({ nullable: true }) readonly html!: string | null;
  @Field({ type: [AttachmentView] }) readonly attachments!: readonly AttachmentView[];

  @Field({ ...METADATA, examples: [{}] }) readonly headers!: Readonly<Record<string, string>>;
  @Choice(['transactional', 'marketing']) readonly category!: string;
  @Text({ nullable: true, examples: [null] }) readonly unsubscribe_url!: string | null;
}

/** Common fields of a message and a batch. */
class RetainedEmail extends EmailSummary {
  @Field({ ...METADATA, description: 'Kept as long as the content.' })
  readonly metadata!: Readonly<Record<string, string>>;

  @Field({
    type: EmailContentView,
    optional: true,
    description: 'As accepted; left out after retention erased it.',
  })
  readonly content?: EmailContentView;
}

export class EmailMessage extends RetainedEmail {
  @MessageId() readonly message_id!: string;
  @Field(EMAIL_ADDRESS) readonly to!: string;
  @Choice(EMAIL_STATUSES, { examples: ['delivered'] }) readonly status!: string;
  @Text({ nullable: true }) readonly error_code!: string | null;
  @Bounce() readonly bounce!: ReportView['details'];
  @Timestamp({
    nullable: true,
    description: 'When its current submission was planned, before it waited for its turn.',
  })
  readonly sent_at!: string | null;
}

export class EmailBatch extends RetainedEmail {
  @StatusOfBatch() readonly status!: BatchStatus;
  @WholeNumber({ minimum: 1 }) readonly recipients_processed!: number;

  @CountsByStatus('Messages', EMAIL_STATUSES, { delivered: 1 })
  readonly counts!: StatusCounts;
}

/** By a `message_id` the message, by a `reference_id` the whole send. */
@ApiExtraModels(EmailMessage, EmailBatch)
@ApiSchema({
  oneOf: [EmailMessage, EmailBatch].map(({ name }) => ({ $ref: `#/components/schemas/${name}` })),
} as ApiSchemaOptions)
export class EmailMessageOrBatch {}

export function emailMessageOf(
  message: MessageTimeline,
  sendAt: Date | null,
  cost: Cost | undefined,
): Plain<EmailMessage> {
  const { reports } = message;
  const last = reports.findLast(
    ({ details, status, source }) => details && status === message.status && source !== 'operator',
  );
  return {
    ...retainedOf(message),
    ...costFields(cost),
    message_id: message.id,
    reference_id: message.batchId,
    to: message.recipient,
    from: message.sender,
    status: message.status,
    error_code: message.errorCode,
    bounce: (message.status as string) === 'bounced' ? (last?.details ?? null) : null,
    created_at: message.acceptedAt.toISOString(),
    send_at: sendAt?.toISOString() ?? null,
    sent_at: message.sentAt?.toISOString() ?? null,
  };
}

export function emailBatchOf(batch: BatchView, cost: Cost | undefined): Plain<EmailBatch> {
  return {
    ...retainedOf(batch),
    ...costFields(cost),
    reference_id: batch.id,
    from: batch.sender,
    status: batch.status,
    recipients_processed: batch.recipients,
    counts: batch.counts,
    created_at: batch.createdAt.toISOString(),
    send_at: batch.sendAt?.toISOString() ?? null,
  };
}

function retainedOf({ tags, metadata, ...of }: Pick<BatchView, 'content' | 'tags' | 'metadata'>) {
  const content = of.content as EmailContent | null;
  return {
    subject: content?.subject ?? null,
    tags,
    metadata,
    ...(content && { content: contentOf(content) }),
  };
}

function contentOf(content: EmailContent): Plain<EmailContentView> {
  const { from, to = [], cc = [], replyTo = [], attachments = [], headers = {} } = content;
  return {
    from,
    to,
    cc,
    reply_to: replyTo,
    subject: content.subject,
    text: content.text ?? null,
    html: content.html ?? null,
    attachments: attachments.map(({ filename, contentType, contentId, size, sha256 }) => ({
      filename,
      content_type: contentType,
      content_id: contentId ?? null,
      size,
      sha256,
    })),
    headers,
    category: content.category ?? 'transactional',
    unsubscribe_url: content.unsubscribeUrl ?? null,
  };
}

export class EmailEvent {
  @MessageId({ nullable: true }) readonly message_id!: string | null;
  @Field(EMAIL_ADDRESS) readonly to!: string;

  @Text({
    nullable: true,
    description: 'A status, or `delayed` or `unsubscribed`; null: an unknown word of the carrier.',
    examples: ['delivered'],
  })
  readonly event!: string | null;

  @Text({ nullable: true }) readonly error_code!: string | null;
  @Bounce() readonly bounce!: ReportView['details'];
  @Timestamp({ description: 'Time of the report.' }) readonly smsc_timestamp!: string;

  @WholeNumber({
    minimum: 1,
    nullable: true,
    description: 'Which change of the message this was; null: it changed nothing.',
  })
  readonly sequence!: number | null;

  @Timestamp({ description: 'When the gateway received it.' }) readonly received_at!: string;
}

export class EmailEventPage extends PageOf(EmailEvent) {}

export function emailEventOf(report: ReportView, isEvent: (name: string) => boolean): EmailEvent {
  const { status, rawStatus, source } = report;
  return {
    message_id: report.messageId,
    to: report.recipient,
    event: status ?? (isEvent(rawStatus) ? rawStatus : null),
    error_code: report.errorCode,
    bounce: source === 'operator' ? null : report.details,
    smsc_timestamp: report.providerTime.toISOString(),
    sequence: report.sequence,
    received_at: report.receivedAt.toISOString(),
  };
}

const COUNTERS = [
  'sent',
  'delivered',
  'delayed',
  'bounced',
  'complained',
  'rejected',
  'expired',
  'unsubscribed',
] as const;

type Counter = (typeof COUNTERS)[number];

function Count(): PropertyDecorator {
  return WholeNumber({ minimum: 0 });
}

class EmailStatsItem implements Record<Counter | 'accepted', number> {
  @Timestamp() readonly start!: string;
  @Count() readonly accepted!: number;
  @Count() readonly sent!: number;
  @Count() readonly delivered!: number;
  @Count() readonly delayed!: number;
  @Count() readonly bounced!: number;
  @Count() readonly complained!: number;
  @Count() readonly rejected!: number;
  @Count() readonly expired!: number;
  @Count() readonly unsubscribed!: number;
}

export class EmailStats {
  @Field({ type: [EmailStatsItem] }) readonly data!: readonly EmailStatsItem[];
}

export function emailStatsOf(stats: readonly MessageStats[]): EmailStats {
  return {
    data: stats.map(({ start, accepted, counts }) => ({
      start: start.toISOString(),
      accepted,
      ...(Object.fromEntries(COUNTERS.map((name) => [name, counts[name] ?? 0])) as Record<
        Counter,
        number
      >),
    })),
  };
}
