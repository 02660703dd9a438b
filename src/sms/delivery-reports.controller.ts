import { SmsService } from '@dundun/messaging';
import { Controller, Get } from '@nestjs/common';
import { AccountId, Auth } from '../accounts/auth.decorators.js';
import { Documented } from '../http/documented.decorator.js';
import { type PageAnswer, pageAnswer } from '../http/page-answer.js';
import { CURSOR, limit as limitUpTo, PHONE_NUMBER, REPORTED, TIME } from '../http/schema.js';
import { ValidQuery } from '../http/valid-query.decorator.js';
import { isReferenceId, ReferenceId } from './reference-id.js';
import { parseTimestamp } from '../http/rfc3339.js';
import { BatchReportsQuery, ReportsQuery } from './sms.dto.js';
import { SMS_EXAMPLES } from './sms.examples.js';
import { type DeliveryReportAnswer, deliveryReportAnswer } from './sms.view.js';

/** Delivery reports, whatever `delivery_report` was; oldest first. */
@Controller('ng/v1')
export class DeliveryReportsController {
  constructor(private readonly sms: SmsService) {}

  @Get('sms/:referenceId/reports')
  @Auth('api_token')
  @Documented({
    operationId: 'listReportsOfSms',
    summary: 'Delivery reports of a batch',
    description: 'Oldest first, whatever `delivery_report` was.',
    tag: 'SMS',
    query: { cursor: CURSOR, limit: limitUpTo(1_000, 100) },
    answer: {
      status: 200,
      description: 'A page of reports.',
      schema: 'DeliveryReportPage',
      example: SMS_EXAMPLES.reports,
    },
  })
  async ofBatch(
    @AccountId() tenant: string,
    @ReferenceId() id: string,
    @ValidQuery(BatchReportsQuery) { cursor, limit }: BatchReportsQuery,
  ): Promise<PageAnswer<DeliveryReportAnswer>> {
    await this.sms.batch(id, { tenant });
    const page = await this.sms.reports({ tenant, batchIds: [id], cursor, limit });
    return pageAnswer(page, deliveryReportAnswer);
  }

  @Get('deliveryreports')
  @Auth('api_token')
  @Documented({
    operationId: 'listReports',
    summary: 'Delivery reports of many batches',
    description:
      'Oldest first, whatever `delivery_report` was. The filters narrow one another. A report may join the list behind younger ones, once its message is known: ask again from some minutes before the last you have.',
    tag: 'SMS',
    query: {
      reference_id: { type: 'array', maxItems: 100, items: { type: 'string' } },
      idempotency_key: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
      to: PHONE_NUMBER,
      status: { type: 'string', enum: REPORTED },
      since: { ...TIME, description: 'Received at or after.' },
      cursor: CURSOR,
      limit: limitUpTo(1_000, 100),
    },
    answer: {
      status: 200,
      description: 'A page of reports.',
      schema: 'DeliveryReportPage',
      example: SMS_EXAMPLES.reports,
    },
  })
  async ofMany(
    @AccountId() tenant: string,
    @ValidQuery(ReportsQuery) query: ReportsQuery,
  ): Promise<PageAnswer<DeliveryReportAnswer>> {
    // A reference that can be none of ours has no reports, like one that is not: polling for many
    // must not fail for one.
    const batchIds = query.reference_id?.filter(isReferenceId).map((id) => id.toLowerCase());
    if (batchIds?.length === 0) return { data: [], next_cursor: null };
    const page = await this.sms.reports({
      tenant,
      batchIds,
      idempotencyKey: query.idempotency_key,
      to: query.to,
      status: query.status,
      since: parseTimestamp(query.since),
      cursor: query.cursor,
      limit: query.limit,
    });
    return pageAnswer(page, deliveryReportAnswer);
  }
}
