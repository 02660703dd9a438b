import {
  type BatchView,
  type EmailMessage as LibraryMessage,
  EmailService,
  MessageValidationError,
} from '@dundun/messaging';
import { ChannelRegistry } from '@dundun/messaging/ports';
import { Controller, Delete, Get, Patch, Post, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { isUUID } from 'class-validator';
import { AccountId, Auth, Spends } from '../../../accounts/auth.guard.js';
import type { Spending } from '../../../accounts/credentials.js';
import { PendingSends } from '../../../accounts/limits.js';
import { MessageCosts } from '../../../billing/charging/message-costs.js';
import { invalidField } from '../../../http/api-error.js';
import { isNotSetUp, notSetUp } from '../../../http/error-mapping.js';
import type { HttpReply } from '../../../http/http-message.js';
import { Operation } from '../../../http/operation.decorator.js';
import { ListQuery, pageOf } from '../../../http/page.dto.js';
import {
  BatchId,
  IdempotencyKey,
  JsonBody,
  MessageOrBatchId,
  ValidQuery,
} from '../../../http/request.decorators.js';
import { parseTimestamp, timeOf } from '../../../http/rfc3339.js';
import { sendAnswerOf } from '../../../http/batch.dto.js';
import { Metrics } from '../../../metrics/metrics.js';
import {
  EMAIL_FIELDS,
  EmailsQuery,
  EmailStatsQuery,
  RescheduleEmail,
  SendEmail,
  SendEmails,
} from './email.dto.js';
import {
  EmailBatch,
  emailBatchOf,
  EmailEventPage,
  emailEventOf,
  EmailMessageOrBatch,
  emailMessageOf,
  emailOf,
  EmailPage,
  EmailStats,
  emailStatsOf,
  SendEmailAnswer,
  SendEmailsAnswer,
} from './email-views.dto.js';
import { SenderDomains } from '../domains/sender-domains.js';

/** Most recipients whose messages the answer to a send has. */
const MOST_ANSWERED = 50;

const MILLISECONDS_A_DAY = 86_400_000;
const LONGEST_STATS = 92;
const STANDARD_STATS = 7;

@Controller('email/ng/v1')
@ApiTags('Email')
export class EmailController {
  constructor(
    private readonly email: EmailService,
    private readonly channels: ChannelRegistry,
    private readonly domains: SenderDomains,
    private readonly pending: PendingSends,
    private readonly metrics: Metrics,
    private readonly costs: MessageCosts,
  ) {}

  @Post('messages')
  @Auth('api_key', 'email:send')
  @Operation('Send an email', {
    description:
      'To `to`, `cc` and `bcc`, or to each of `recipients` alone. The body has at most 36 MiB.',
    answer: SendEmailAnswer,
    success: 'The email is accepted and stored.',
    idempotent: true,
  })
  async sendEmail(
    @Spends() spending: Spending,
    @IdempotencyKey() idempotencyKey: string | undefined,
    @JsonBody(SendEmail) request: SendEmail,
    @Res({ passthrough: true }) reply: HttpReply,
  ): Promise<SendEmailAnswer> {
    const { tenant } = spending;
    const refusal = await this.domains.refusalOf(tenant, request.from);
    if (refusal) throw refusal;
    const receipt = await this.pending
      .during(request.recipients?.length ?? 1, () =>
        this.email.send(messageOf(request), { ...spending, idempotencyKey }),
      )
      .catch(refuse);
    const { id, recipients, replayed } = receipt;
    if (replayed) reply.header('idempotent-replayed', 'true');
    else this.metrics.accepted('email', recipients);
    return {
      ...sendAnswerOf(receipt),
      ...(recipients <= MOST_ANSWERED && { messages: await this.#accepted(tenant, id) }),
    };
  }

  @Post('messages/batch')
  @Auth('api_key', 'email:send')
  @Operation('Send many emails', {
    description:
      '1 to 1,000 different emails, accepted all or none under one key. The body has at most 40 MiB.',
    answer: SendEmailsAnswer,
    success: 'All emails are accepted and stored.',
    idempotent: true,
  })
  async sendEmails(
    @Spends() spending: Spending,
    @IdempotencyKey() idempotencyKey: string | undefined,
    @JsonBody(SendEmails) { messages }: SendEmails,
    @Res({ passthrough: true }) reply: HttpReply,
  ): Promise<SendEmailsAnswer> {
    for (const [index, { from }] of messages.entries()) {
      const refusal = await this.domains.refusalOf(spending.tenant, from);
      if (refusal) throw refusal.within(`messages[${index}]`);
    }
    const weight = messages.reduce((sum, one) => sum + (one.recipients?.length ?? 1), 0);
    const receipts = await this.pending
      .during(weight, () =>
        this.email.sendAll(messages.map(messageOf), { ...spending, idempotencyKey }),
      )
      .catch(refuse);
    const [first] = receipts;
    if (first?.replayed) reply.header('idempotent-replayed', 'true');
    else for (const { recipients } of receipts) this.metrics.accepted('email', recipients);
    return {
      status_code: 200,
      message: 'Your request is being processed',
      recipients_processed: receipts.reduce((sum, { recipients }) => sum + recipients, 0),
      created_at: (first?.createdAt ?? new Date()).toISOString(),
      messages: receipts.map(({ id, recipients }) => ({
        reference_id: id,
        recipients_processed: recipients,
      })),
    };
  }

  @Get('messages')
  @Auth('api_key', 'email:read')
  @Operation('List messages', {
    description:
      'One row for each recipient, the newest email first. A message must match all filters. A page looks at 1,000 emails, and with `to` or `status` at 10,000 recipients, so it can have fewer rows than `limit`, even none: go on until `next_cursor` is null.',
    answer: EmailPage,
    success: 'A page of messages.',
    errors: ['NotFound'],
  })
  async listEmails(
    @AccountId() tenant: string,
    @ValidQuery(EmailsQuery) query: EmailsQuery,
  ): Promise<EmailPage> {
    const { reference_id, since, until, cursor, ...filter } = query;
    const page = await this.email.list({
      ...filter,
      tenant,
      batchId: reference_id?.toLowerCase(),
      since: parseTimestamp(since),
      until: parseTimestamp(until),
      ...(cursor !== undefined && { cursor }),
    });
    const costOf = await this.costs.ofMessages(page.data);
    return pageOf(page, (message) => emailOf(message, costOf(message)));
  }

  @Get('messages/:emailId')
  @Auth('api_key', 'email:read')
  @Operation('Read a message, or a whole send', {
    description: 'By `message_id`, or by `reference_id`.',
    answer: EmailMessageOrBatch,
    success: 'The message, or the send, as it is now.',
  })
  async readEmail(
    @AccountId() tenant: string,
    @MessageOrBatchId('emailId') id: string,
  ): Promise<EmailMessageOrBatch> {
    if (isUUID(id)) return this.#batchOf(await this.email.batch(id, { tenant }));
    const message = await this.email.timeline(id, { tenant });
    const { sendAt } = await this.email.batch(message.batchId, { tenant });
    const last = message.reports.findLast(({ sequence }) => sequence !== null);
    const one = { ...message, channel: 'email', sequence: last?.sequence };
    const costOf = await this.costs.ofMessages([one]);
    return emailMessageOf(message, sendAt, costOf(one));
  }

  @Get('messages/:emailId/events')
  @Auth('api_key', 'email:read')
  @Operation('Events of a message, or of a whole send', {
    description: 'By `message_id`, or by `reference_id`. Oldest first.',
    answer: EmailEventPage,
    success: 'A page of events; all events of one message are on one page.',
  })
  async listEmailEvents(
    @AccountId() tenant: string,
    @MessageOrBatchId('emailId') id: string,
    @ValidQuery(ListQuery) { cursor, limit }: ListQuery,
  ): Promise<EmailEventPage> {
    const isEvent = (name: string) => this.channels.isEvent(name);
    if (!isUUID(id)) {
      const { reports } = await this.email.timeline(id, { tenant });
      return { data: reports.map((one) => emailEventOf(one, isEvent)), next_cursor: null };
    }
    await this.email.batch(id, { tenant });
    const page = await this.email.reports({ tenant, batchIds: [id], cursor, limit });
    return pageOf(page, (report) => emailEventOf(report, isEvent));
  }

  @Patch('messages/:emailId')
  @Auth('api_key', 'email:send')
  @Operation('Change send_at of an email', {
    description: 'Only before any of its messages is sent.',
    answer: EmailBatch,
    success: 'The send as it is now.',
    errors: ['AlreadySent'],
  })
  async rescheduleEmail(
    @AccountId() tenant: string,
    @BatchId('emailId') id: string,
    @JsonBody(RescheduleEmail) { send_at }: RescheduleEmail,
  ): Promise<EmailBatch> {
    const sendAt = timeOf(send_at);
    return this.#batchOf(await this.email.reschedule(id, sendAt, { tenant }));
  }

  @Delete('messages/:emailId')
  @Auth('api_key', 'email:send')
  @Operation('Cancel an email', {
    description: 'Cancels the messages that are not sent yet. A second cancellation is no error.',
    answer: EmailBatch,
    success: 'The send as it is now.',
    errors: ['AlreadySent'],
  })
  async cancelEmail(
    @AccountId() tenant: string,
    @BatchId('emailId') id: string,
  ): Promise<EmailBatch> {
    return this.#batchOf(await this.email.cancel(id, { tenant }));
  }

  @Get('stats')
  @Auth('api_key', 'email:read')
  @Operation('Statistics', {
    description:
      'Messages by the hour or day in which they were accepted. Each counter has the messages with that event at least once, so that a message can be in several.',
    answer: EmailStats,
    success: 'All intervals from `since` to `until`, also those without messages.',
  })
  async readEmailStats(
    @AccountId() tenant: string,
    @ValidQuery(EmailStatsQuery) query: EmailStatsQuery,
  ): Promise<EmailStats> {
    const { interval, tag, domain } = query;
    const until = parseTimestamp(query.until) ?? new Date();
    const since =
      parseTimestamp(query.since) ??
      new Date(Math.max(0, until.getTime() - STANDARD_STATS * MILLISECONDS_A_DAY));
    const days = (until.getTime() - since.getTime()) / MILLISECONDS_A_DAY;
    if (days <= 0) throw invalidField('until', 'must be after since');
    if (days > LONGEST_STATS)
      throw invalidField('since', `must be at most ${LONGEST_STATS} days before until`);
    const options = { tenant, since, until, interval, tag, domain: domain?.toLowerCase() };
    return emailStatsOf(await this.email.stats(options));
  }

  async #batchOf(batch: BatchView): Promise<EmailBatch> {
    const costs = await this.costs.ofBatches([batch.id]);
    return emailBatchOf(batch, costs.get(batch.id));
  }

  /** As they were accepted, also for a repeated request. */
  async #accepted(tenant: string, id: string) {
    const { data } = await this.email.list({ tenant, batchId: id, limit: MOST_ANSWERED });
    return data.map(({ id: message_id, recipient: to, status, attempts }) => {
      const isDenied = status === 'rejected' && attempts === 0;
      return { message_id, to, status: isDenied ? ('rejected' as const) : ('queued' as const) };
    });
  }
}

function messageOf(request: SendEmail): LibraryMessage {
  const { reply_to, unsubscribe_url, send_at, attachments, ...fields } = request;
  return {
    ...fields,
    replyTo: reply_to,
    unsubscribeUrl: unsubscribe_url,
    sendAt: parseTimestamp(send_at),
    attachments: attachments?.map(({ filename, content_type, content, content_id }) => ({
      filename,
      contentType: content_type,
      content,
      ...(content_id !== undefined && { contentId: content_id }),
    })),
  };
}

const TOP = { ...EMAIL_FIELDS, sendAt: 'send_at' };
const OF_ATTACHMENT = { contentType: 'content_type', contentId: 'content_id' };

/** With the fields of the interface. */
function refuse(error: unknown): never {
  if (isNotSetUp(error)) throw notSetUp(error, 'Email');
  if (!(error instanceof MessageValidationError)) throw error;
  throw new MessageValidationError(inWire(error.fields), error.code);
}

function inWire(fields: MessageValidationError['fields']) {
  return fields.map(({ path, message }) => ({
    path: path
      .replace(/^(messages\[\d+\]\.)?(replyTo|unsubscribeUrl|sendAt)/, (_, at = '', name) =>
        [at, TOP[name as keyof typeof TOP]].join(''),
      )
      .replace(/(attachments\[\d+\]\.)(contentType|contentId)$/, (_, at, name) =>
        [at, OF_ATTACHMENT[name as keyof typeof OF_ATTACHMENT]].join(''),
      ),
    message,
  }));
}
