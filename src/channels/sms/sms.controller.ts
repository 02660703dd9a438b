import {
  type BatchView,
  type Page,
  type Receipt,
  type ReportView,
  SmsService,
} from '@dundun/messaging';
import { Controller, Delete, Get, Patch, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { isUUID } from 'class-validator';
import {
  AccountId,
  Auth,
  type AuthenticatedRequest,
  AuthGuard,
  type AuthRequirement,
  AuthWithin,
  spendingOfRequest,
} from '../../accounts/auth.guard.js';
import { MessageCosts } from '../../billing/charging/message-costs.js';
import { SmsIntake } from '../../senders/sms-intake.js';
import { inWireFields } from '../../http/error-mapping.js';
import { readText } from '../../http/fields.js';
import type { HttpReply } from '../../http/http-message.js';
import { Operation } from '../../http/operation.decorator.js';
import { ListQuery, pageOf } from '../../http/page.dto.js';
import {
  BatchId,
  DocumentedBody,
  idempotencyKeyOf,
  JsonBody,
  readJsonBody,
  ValidQuery,
} from '../../http/request.decorators.js';
import { parseTimestamp, timeOf } from '../../http/rfc3339.js';
import { sendAnswerOf } from '../../http/batch.dto.js';
import { validated } from '../../http/validation.js';
import {
  BatchesQuery,
  batchSummaryOf,
  deliveryReportOf,
  DeliveryReportPage,
  EstimateSms,
  recipientOf,
  RecipientPage,
  ReportsQuery,
  RescheduleSms,
  SendSms,
  SendSmsAnswer,
  SMS_TEXT,
  SmsBatch,
  SmsBatchPage,
  SmsEstimate,
  smsEstimateOf,
} from './sms.dto.js';

const TOKEN: AuthRequirement = { kind: 'api_token', scope: 'sms:send' };

/** SMS batches and their delivery reports (interface sections 2.1, 2.2 and 4.1). */
@Controller('ng/v1')
@ApiTags('SMS')
export class SmsController {
  constructor(
    private readonly sms: SmsService,
    private readonly auth: AuthGuard,
    private readonly intake: SmsIntake,
    private readonly costs: MessageCosts,
  ) {}

  @Post('sendsms')
  @AuthWithin(TOKEN)
  @Operation('Send a batch', {
    description:
      'The batch is queued and sent in order at the rate limit. A long text is split into parts.',
    answer: SendSmsAnswer,
    success: 'The batch is accepted and stored.',
    idempotent: true,
  })
  @DocumentedBody(SendSms)
  async sendSms(
    // The raw request and reply: Nest creates a context and three objects for each other decorator.
    @Req() incoming: AuthenticatedRequest,
    // The handler sends the response: Nest's check for a stream costs as much as the response.
    @Res() reply: HttpReply,
  ): Promise<void> {
    await this.auth.admit(incoming, reply, TOKEN);
    const { message, options, field } = readSend(incoming);
    let receipt: Receipt;
    try {
      receipt = await this.intake.accept(message, options);
    } catch (error) {
      throw inWireFields(error, { body: field, sendAt: 'send_at' });
    }
    if (receipt.replayed) reply.header('idempotent-replayed', 'true');
    reply.send(sendAnswerOf(receipt));
  }

  @Post('sms/estimate')
  @Auth('api_token', 'sms:send')
  @Operation('Parts and encoding of a text', {
    description:
      'Nothing is sent or stored. `cost` is the price to `to`; without it, that of every other number, `*`.',
    answer: SmsEstimate,
    success: 'What one message takes.',
  })
  async estimateSms(
    @AccountId() tenant: string,
    @JsonBody(EstimateSms) request: EstimateSms,
  ): Promise<SmsEstimate> {
    const { text = '' } = readText(request, SMS_TEXT);
    const { to } = request;
    const options = { tenant, ...(to !== undefined && { to }) };
    return smsEstimateOf(await this.sms.estimate(text, options));
  }

  @Get('sms')
  @Auth('api_token', 'sms:read')
  @Operation('List batches', {
    description:
      'Newest first, without their recipients. `counts` is null for a batch of more than 1,000 recipients that is still at work: read it by its `reference_id`. A page ends early after 10,000 recipients of smaller batches.',
    answer: SmsBatchPage,
    success: 'A page of batches.',
  })
  async listSms(
    @AccountId() tenant: string,
    @ValidQuery(BatchesQuery) { cursor, limit }: BatchesQuery,
  ): Promise<SmsBatchPage> {
    const page = await this.sms.batches({ tenant, cursor, limit });
    const costs = await this.costs.ofBatches(page.data.map(({ id }) => id));
    return pageOf(page, (batch) => batchSummaryOf(batch, costs.get(batch.id)));
  }

  @Get('sms/:referenceId')
  @Auth('api_token', 'sms:read')
  @Operation('Read a batch', {
    description: 'Its status, and counts of its messages by status.',
    answer: SmsBatch,
    success: 'The batch with its first 1,000 unique recipients.',
  })
  async readSms(
    @AccountId() tenant: string,
    @BatchId('referenceId') id: string,
  ): Promise<SmsBatch> {
    return this.#withRecipients(await this.sms.batch(id, { tenant }));
  }

  @Patch('sms/:referenceId')
  @Auth('api_token', 'sms:send')
  @Operation('Change send_at', {
    description: 'Only before any message of the batch is sent.',
    answer: SmsBatch,
    success: 'The batch as it is now.',
    errors: ['AlreadySent'],
  })
  async rescheduleSms(
    @AccountId() tenant: string,
    @BatchId('referenceId') id: string,
    @JsonBody(RescheduleSms) { send_at }: RescheduleSms,
  ): Promise<SmsBatch> {
    const sendAt = timeOf(send_at);
    return this.#withRecipients(await this.sms.reschedule(id, sendAt, { tenant }));
  }

  @Delete('sms/:referenceId')
  @Auth('api_token', 'sms:send')
  @Operation('Cancel a batch', {
    description:
      'Cancels the messages that are not sent yet. A carrier that can (`smpp`) is asked to delete those that it has, also where the answer is `already_sent`. A second cancellation is no error.',
    answer: SmsBatch,
    success: 'The batch as it is now.',
    errors: ['AlreadySent'],
  })
  async cancelSms(
    @AccountId() tenant: string,
    @BatchId('referenceId') id: string,
  ): Promise<SmsBatch> {
    return this.#withRecipients(await this.sms.cancel(id, { tenant }));
  }

  @Get('sms/:referenceId/recipients')
  @Auth('api_token', 'sms:read')
  @Operation('Recipients of a batch', {
    description: 'Unique, in the order of the batch, each with the status of its message.',
    answer: RecipientPage,
    success: 'A page of recipients.',
  })
  async listRecipientsOfSms(
    @AccountId() tenant: string,
    @BatchId('referenceId') id: string,
    @ValidQuery(ListQuery) { cursor, limit }: ListQuery,
  ): Promise<RecipientPage> {
    return pageOf(await this.sms.deliveries(id, { tenant, cursor, limit }), recipientOf);
  }

  @Get('sms/:referenceId/reports')
  @Auth('api_token', 'sms:read')
  @Operation('Delivery reports of a batch', {
    description: 'Oldest first, with any value of `delivery_report`.',
    answer: DeliveryReportPage,
    success: 'A page of reports.',
  })
  async listReportsOfSms(
    @AccountId() tenant: string,
    @BatchId('referenceId') id: string,
    @ValidQuery(ListQuery) { cursor, limit }: ListQuery,
  ): Promise<DeliveryReportPage> {
    await this.sms.batch(id, { tenant });
    return this.#withCosts(await this.sms.reports({ tenant, batchIds: [id], cursor, limit }));
  }

  @Get('deliveryreports')
  @Auth('api_token', 'sms:read')
  @Operation('Delivery reports of many batches', {
    description:
      'Oldest first, with any value of `delivery_report`. A report must match all filters. A page looks at 10,000 reports, so with `to` or `status` it can have fewer than `limit`, even none: go on until `next_cursor` is null, or ask with `since`. A report whose message is not known yet joins the list later, before newer reports: ask again from some minutes before the last report you have.',
    answer: DeliveryReportPage,
    success: 'A page of reports.',
  })
  async listReports(
    @AccountId() tenant: string,
    @ValidQuery(ReportsQuery) query: ReportsQuery,
  ): Promise<DeliveryReportPage> {
    // A text that is not a reference is ignored, like an unknown reference: one wrong entry must
    // not fail a poll for many batches.
    const batchIds = query.reference_id?.filter((id) => isUUID(id)).map((id) => id.toLowerCase());
    if (batchIds?.length === 0) return { data: [], next_cursor: null };
    const { to, status, since, cursor, limit, idempotency_key: idempotencyKey } = query;
    const filter = { batchIds, idempotencyKey, to, status, since: parseTimestamp(since) };
    return this.#withCosts(await this.sms.reports({ ...filter, tenant, cursor, limit }));
  }

  /** A report that changed nothing has no cost. */
  async #withCosts(page: Page<ReportView>): Promise<DeliveryReportPage> {
    const reported = (report: ReportView) =>
      report.status === null || report.sequence === null
        ? []
        : [{ ...report, status: report.status, channel: 'sms' }];
    const costOf = await this.costs.ofReports(page.data.flatMap(reported));
    return pageOf(page, (report) => {
      const [one] = reported(report);
      return deliveryReportOf(report, one && costOf(one));
    });
  }

  async #withRecipients(batch: BatchView): Promise<SmsBatch> {
    const { id, tenant } = batch;
    const { data: to, nextCursor } = await this.sms.recipients(id, { tenant, limit: 1_000 });
    const costs = await this.costs.ofBatches([id]);
    return {
      ...batchSummaryOf(batch, costs.get(id)),
      reason: batch.reason,
      counts: batch.counts,
      to,
      ...(nextCursor !== null && { recipients_truncated: true as const }),
    };
  }
}

/** @throws ApiError 400 or 422 */
function readSend(incoming: AuthenticatedRequest) {
  const request = validated(SendSms, readJsonBody(incoming));
  const { from, to, delivery_report, send_at, tags, metadata } = request;
  const deliveryReport = delivery_report === 'yes';
  const { text: body = '', field } = readText(request, SMS_TEXT);
  const sendAt = parseTimestamp(send_at);
  return {
    message: { from, to, body, deliveryReport, sendAt, tags, metadata },
    options: { ...spendingOfRequest(incoming), idempotencyKey: idempotencyKeyOf(incoming) },
    field,
  };
}
