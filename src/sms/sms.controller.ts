import {
  type BatchView,
  MessageValidationError,
  type Receipt,
  SmsService,
} from '@dundun/messaging';
import { Controller, Delete, Get, HttpCode, Patch, Post, Req, Res } from '@nestjs/common';
import { AccountId, accountIdOf, Auth, AuthWithin } from '../accounts/auth.decorators.js';
import {
  AuthGuard,
  type AuthenticatedRequest,
  type AuthRequirement,
} from '../accounts/auth.guard.js';
import { SenderRegistry } from '../accounts/sender.registry.js';
import { ApiError } from '../http/api-error.js';
import { Documented } from '../http/documented.decorator.js';
import type { HttpReply } from '../http/http-message.js';
import { IsoTimes } from '../http/iso-times.js';
import { JsonBody, readJsonBody } from '../http/json-body.decorator.js';
import { type PageAnswer, pageAnswer } from '../http/page-answer.js';
import {
  CURSOR,
  IDEMPOTENCY_KEY,
  IDEMPOTENT_REPLAYED,
  limit as limitUpTo,
} from '../http/schema.js';
import { ValidQuery } from '../http/valid-query.decorator.js';
import { validated } from '../http/validated.js';
import { Metrics } from '../metrics/metrics.js';
import { idempotencyKeyOf } from '../http/idempotency-key.js';
import { PendingSends } from '../accounts/pending-sends.js';
import { ReferenceId } from './reference-id.js';
import { parseTimestamp } from '../http/rfc3339.js';
import { readSendSms } from './send-sms.js';
import { BatchesQuery, RescheduleBody } from './sms.dto.js';
import {
  type BatchAnswer,
  type BatchSummary,
  batchSummary,
  JSON_TYPE,
  sendSmsAnswer,
} from './sms.view.js';
import { SMS_EXAMPLES } from './sms.examples.js';
import { inWireFields } from '../http/wire-fields.js';

/** What a send asks of its credential. */
const TOKEN: AuthRequirement = { kind: 'api_token' };

const readReschedule = (body: object): RescheduleBody => validated(RescheduleBody, body);

/** SMS batches (interface sections 2.1, 2.2 and 4.1). */
@Controller('ng/v1')
export class SmsController {
  readonly #times = new IsoTimes();

  constructor(
    private readonly sms: SmsService,
    private readonly auth: AuthGuard,
    private readonly senders: SenderRegistry,
    private readonly pending: PendingSends,
    private readonly metrics: Metrics,
  ) {}

  @Post('sendsms')
  @HttpCode(200)
  @AuthWithin(TOKEN)
  @Documented({
    operationId: 'sendSms',
    summary: 'Send a batch',
    description: 'Queued and sent in order at the rate limit. A long text is split into parts.',
    tag: 'SMS',
    headers: { 'Idempotency-Key': IDEMPOTENCY_KEY },
    body: { schema: 'SendSms', examples: SMS_EXAMPLES.send },
    answer: {
      status: 200,
      description: 'Accepted and durable.',
      schema: 'SendSmsAnswer',
      example: SMS_EXAMPLES.sendAnswer,
      headers: { 'idempotent-replayed': IDEMPOTENT_REPLAYED },
    },
    errors: ['IdempotencyConflict'],
  })
  async send(
    // As it is: for each decorator that reads it Nest makes a context, three objects a parameter.
    @Req() incoming: AuthenticatedRequest,
    // Answered here: what Nest does with a result in case it is a stream costs as much as the answer.
    @Res() reply: HttpReply,
  ): Promise<void> {
    const admitted = this.auth.admits(incoming, reply, TOKEN);
    if (admitted !== true) await admitted;
    const request = readJsonBody(incoming, readSendSms);
    const idempotencyKey = idempotencyKeyOf(incoming);
    const tenant = accountIdOf(incoming);
    const registered = this.senders.isRegistered(tenant, request.from);
    if (registered !== true && !(await registered))
      throw new ApiError('sender_not_registered', `The sender ${request.from} is not registered`, {
        details: [{ path: 'from', message: 'must be a sender ID registered for this account' }],
      });
    const place = this.pending.take(request.to.length);
    let receipt: Receipt;
    try {
      const { from, to, text: body, deliveryReport, sendAt } = request;
      const message = { from, to, body, deliveryReport, sendAt };
      receipt = await this.sms.send(message, { tenant, idempotencyKey });
    } catch (error) {
      if (!(error instanceof MessageValidationError)) throw error;
      throw inWireFields(error, { body: request.textField, sendAt: 'send_at' });
    } finally {
      this.pending.leave(place);
    }
    if (receipt.replayed) reply.header('idempotent-replayed', 'true');
    else this.metrics.accepted('sms', receipt.recipients);
    reply.header('content-type', JSON_TYPE).send(sendSmsAnswer(receipt, this.#times));
  }

  /** Newest first, without their recipients. */
  @Get('sms')
  @Auth('api_token')
  @Documented({
    operationId: 'listSms',
    summary: 'List batches',
    description: 'Newest first, without their recipients.',
    tag: 'SMS',
    query: { cursor: CURSOR, limit: limitUpTo(100, 20) },
    answer: {
      status: 200,
      description: 'A page of batches.',
      schema: 'SmsBatchPage',
      example: SMS_EXAMPLES.batches,
    },
  })
  async list(
    @AccountId() tenant: string,
    @ValidQuery(BatchesQuery) { cursor, limit }: BatchesQuery,
  ): Promise<PageAnswer<BatchSummary>> {
    return pageAnswer(await this.sms.batches({ tenant, cursor, limit }), batchSummary);
  }

  @Get('sms/:referenceId')
  @Auth('api_token')
  @Documented({
    operationId: 'readSms',
    summary: 'Read a batch',
    tag: 'SMS',
    answer: {
      status: 200,
      description: 'The batch, its unique recipients included.',
      schema: 'SmsBatch',
      example: SMS_EXAMPLES.batch,
    },
  })
  async read(@AccountId() tenant: string, @ReferenceId() id: string): Promise<BatchAnswer> {
    return this.#answer(await this.sms.batch(id, { tenant }));
  }

  /** Changes `send_at` of what has not left. */
  @Patch('sms/:referenceId')
  @Auth('api_token')
  @Documented({
    operationId: 'rescheduleSms',
    summary: 'Change send_at',
    description: 'As long as nothing of the batch has left.',
    tag: 'SMS',
    body: { schema: 'RescheduleSms', examples: SMS_EXAMPLES.reschedule },
    answer: {
      status: 200,
      description: 'The batch as it is now.',
      schema: 'SmsBatch',
      example: SMS_EXAMPLES.batch,
    },
    errors: ['AlreadySent'],
  })
  async reschedule(
    @AccountId() tenant: string,
    @ReferenceId() id: string,
    @JsonBody(readReschedule) { send_at }: RescheduleBody,
  ): Promise<BatchAnswer> {
    const sendAt = parseTimestamp(send_at);
    if (!sendAt) throw new TypeError('send_at passed its rule and is no time');
    return this.#answer(await this.sms.reschedule(id, sendAt, { tenant }));
  }

  /** Cancels what has not left; again is no error. */
  @Delete('sms/:referenceId')
  @Auth('api_token')
  @Documented({
    operationId: 'cancelSms',
    summary: 'Cancel a batch',
    description: 'What has not left is cancelled; again is no error.',
    tag: 'SMS',
    answer: {
      status: 200,
      description: 'The batch as it is now.',
      schema: 'SmsBatch',
      example: SMS_EXAMPLES.batch,
    },
    errors: ['AlreadySent'],
  })
  async cancel(@AccountId() tenant: string, @ReferenceId() id: string): Promise<BatchAnswer> {
    return this.#answer(await this.sms.cancel(id, { tenant }));
  }

  async #answer(batch: BatchView): Promise<BatchAnswer> {
    const to = await this.sms.recipients(batch.id, { tenant: batch.tenant });
    return { ...batchSummary(batch), to };
  }
}
