import { type CallView, type ListedCall, VoiceService } from '@dundun/messaging';
import { Controller, Delete, Get, Post, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { isUUID } from 'class-validator';
import { AccountId, Auth, Spends } from '../../accounts/auth.guard.js';
import type { Spending } from '../../accounts/credentials.js';
import { PendingSends } from '../../accounts/limits.js';
import { type Cost, MessageCosts } from '../../billing/charging/message-costs.js';
import { ApiError } from '../../http/api-error.js';
import { inWireFields, isNotSetUp, notSetUp } from '../../http/error-mapping.js';
import type { HttpReply } from '../../http/http-message.js';
import { Operation } from '../../http/operation.decorator.js';
import { pageOf } from '../../http/page.dto.js';
import {
  IdempotencyKey,
  JsonBody,
  MessageOrBatchId,
  ValidQuery,
} from '../../http/request.decorators.js';
import { parseTimestamp } from '../../http/rfc3339.js';
import { sendAnswerOf } from '../../http/batch.dto.js';
import { Metrics } from '../../metrics/metrics.js';
import { AccountSenders } from '../../senders/account-senders.js';
import { CALL_FIELDS, messageOf } from './call-message.js';
import {
  callBatchOf,
  CallEstimateAnswer,
  callEstimateOf,
  callOf,
  CallOrBatch,
  CallPage,
  callRecordOf,
  CallsQuery,
  EstimateCall,
  SendCall,
  SendCallAnswer,
} from './voice.dto.js';

const SECOND = 1_000;

/** Calls: paths of the interface for its product Voice. */
@Controller('ng/v1/voice/calls')
@ApiTags('Voice')
export class VoiceController {
  constructor(
    private readonly voice: VoiceService,
    private readonly senders: AccountSenders,
    private readonly pending: PendingSends,
    private readonly metrics: Metrics,
    private readonly costs: MessageCosts,
  ) {}

  @Post()
  @Auth('api_token', 'voice:send')
  @Operation('Call one or many numbers', {
    description:
      'Exactly one of `text`, `audio_url` and `code` is said. A call whose outcome is not known is never dialled again.',
    answer: SendCallAnswer,
    success: 'The calls are accepted and stored.',
    idempotent: true,
  })
  async sendCall(
    @Spends() spending: Spending,
    @IdempotencyKey() idempotencyKey: string | undefined,
    @JsonBody(SendCall) request: SendCall,
    @Res({ passthrough: true }) reply: HttpReply,
  ): Promise<SendCallAnswer> {
    const { from, to, send_at, delivery_report, tags, metadata } = request;
    const refusal = await this.senders.refusalOf(spending.tenant, 'voice', from);
    if (refusal) throw refusal;
    const deliveryReport = delivery_report === 'yes';
    const sendAt = parseTimestamp(send_at);
    const message = messageOf(request, { to, deliveryReport, sendAt, tags, metadata });
    const receipt = await this.pending
      .during(to.length, () => this.voice.send(message, { ...spending, idempotencyKey }))
      .catch(refuse);
    if (receipt.replayed) reply.header('idempotent-replayed', 'true');
    else this.metrics.accepted('voice', receipt.recipients);
    return sendAnswerOf(receipt);
  }

  @Get()
  @Auth('api_token', 'voice:read')
  @Operation('List calls', {
    description:
      'One row for each number, the newest send first. A call must match all filters. A page looks at 1,000 sends, and with `to` or `status` at 10,000 numbers, so it can have fewer rows than `limit`, even none: go on until `next_cursor` is null.',
    answer: CallPage,
    success: 'A page of calls.',
    errors: ['NotFound'],
  })
  async listCalls(
    @AccountId() tenant: string,
    @ValidQuery(CallsQuery) query: CallsQuery,
  ): Promise<CallPage> {
    const { reference_id, since, until, cursor, limit, to, status } = query;
    const page = await this.voice.list({
      tenant,
      to,
      status,
      limit,
      batchId: reference_id?.toLowerCase(),
      since: parseTimestamp(since),
      until: parseTimestamp(until),
      ...(cursor !== undefined && { cursor }),
    });
    const costOf = await this.#costsOf(page.data);
    return pageOf(page, (call) => callOf(call, costOf(call)));
  }

  @Get(':callId')
  @Auth('api_token', 'voice:read')
  @Operation('Read a call, or a whole send', {
    description:
      'By `message_id`, or by `reference_id`, which reads the call where the send has one number.',
    answer: CallOrBatch,
    success: 'The call, or the send, as it is now.',
  })
  async readCall(
    @AccountId() tenant: string,
    @MessageOrBatchId('callId') id: string,
  ): Promise<CallOrBatch> {
    if (!isUUID(id)) return this.#record(await this.voice.call(id, { tenant }));
    return this.#read(tenant, id);
  }

  @Delete(':callId')
  @Auth('api_token', 'voice:send')
  @Operation('Cancel a call', {
    description:
      'Cancels the calls of a send that are not dialled yet, and those that wait to be dialled again; by `message_id` only where the send has one number. A second cancellation is no error.',
    answer: CallOrBatch,
    success: 'The call, or the send, as it is now.',
    errors: ['AlreadySent', 'Unprocessable'],
  })
  async cancelCall(
    @AccountId() tenant: string,
    @MessageOrBatchId('callId') id: string,
  ): Promise<CallOrBatch> {
    const reference = isUUID(id) ? id : await this.#onlyCallOf(tenant, id);
    await this.voice.cancel(reference, { tenant });
    return this.#read(tenant, reference);
  }

  @Post('estimate')
  @Auth('api_token', 'voice:send')
  @Operation('Length and price of a call', {
    description: 'Nothing is dialled or stored.',
    answer: CallEstimateAnswer,
    success: 'What one answered call takes.',
  })
  async estimateCall(
    @AccountId() tenant: string,
    @JsonBody(EstimateCall) request: EstimateCall,
  ): Promise<CallEstimateAnswer> {
    const { to } = request;
    const estimate = await this.voice
      .estimate(speechOf(request), { tenant, ...(to !== undefined && { to }) })
      .catch(refuse);
    return callEstimateOf(estimate);
  }

  /** The send of a call that has no other number. */
  async #onlyCallOf(tenant: string, messageId: string): Promise<string> {
    const { batchId } = await this.voice.message(messageId, { tenant });
    const { recipients } = await this.voice.batch(batchId, { tenant });
    if (recipients > 1)
      throw new ApiError(
        'invalid_field',
        `The send has ${recipients} numbers; cancel it by its reference_id ${batchId}`,
      );
    return batchId;
  }

  async #read(tenant: string, id: string): Promise<CallOrBatch> {
    const batch = await this.voice.batch(id, { tenant });
    if (batch.recipients > 1) return callBatchOf(batch, (await this.costs.ofBatches([id])).get(id));
    return this.#record(await this.voice.call(`${id}-0`, { tenant }));
  }

  async #record(call: CallView): Promise<CallOrBatch> {
    const costOf = await this.#costsOf([call]);
    return callRecordOf(call, costOf(call));
  }

  async #costsOf(calls: readonly (CallView | ListedCall)[]) {
    const costed = (call: CallView | ListedCall) => {
      const { batchId, recipient, status, billedSeconds: seconds } = call;
      return { batchId, recipient, status, seconds, channel: 'voice' };
    };
    const costOf = await this.costs.ofMessages(calls.map(costed));
    return (call: CallView | ListedCall): Cost | undefined => costOf(costed(call));
  }
}

function speechOf({ text, language, voice, audio_url, code, repeat, max_duration }: EstimateCall) {
  const maxDuration = max_duration * SECOND;
  return { text, audioUrl: audio_url, code, language, voice, repeat, maxDuration };
}

const WIRE = { ...CALL_FIELDS, sendAt: 'send_at' };

/** With the fields of the interface. */
function refuse(error: unknown): never {
  if (isNotSetUp(error)) throw notSetUp(error, 'Voice');
  throw inWireFields(error, WIRE);
}
