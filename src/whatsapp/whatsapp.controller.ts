import {
  type MessageCategory,
  MessageValidationError,
  MessagingConfigError,
  type WhatsAppReceipt,
  WhatsAppService,
} from '@dundun/messaging';
import { Controller, Get, HttpCode, Param, Post, Res } from '@nestjs/common';
import { AccountId, Auth } from '../accounts/auth.decorators.js';
import { PendingSends } from '../accounts/pending-sends.js';
import { TemplateRegistry } from '../accounts/template.registry.js';
import { WhatsAppNumbers } from '../accounts/whatsapp-numbers.js';
import { ApiError } from '../http/api-error.js';
import { Documented } from '../http/documented.decorator.js';
import type { HttpReply } from '../http/http-message.js';
import { IdempotencyKey } from '../http/idempotency-key.js';
import { JsonBody } from '../http/json-body.decorator.js';
import { IDEMPOTENCY_KEY, IDEMPOTENT_REPLAYED } from '../http/schema.js';
import { inWireFields } from '../http/wire-fields.js';
import { Metrics } from '../metrics/metrics.js';
import {
  messageAnswer,
  type SendWhatsAppAnswer,
  sendWhatsAppAnswer,
  type WhatsAppMessageAnswer,
} from './message.view.js';
import { OutcomeWaits } from './outcome-waits.js';
import { readSendWhatsApp, type SendWhatsApp } from './send-whatsapp.js';
import { WHATSAPP_EXAMPLES } from './whatsapp.examples.js';

/** What may be a message's id; anything else is not looked for. */
const MESSAGE_ID = /^[\x21-\x7e]{1,255}$/;

/** WhatsApp messages (interface sections 2.3, 2.4 and 4.2). */
@Controller('whatsapp/ng/v1')
export class WhatsAppController {
  constructor(
    private readonly whatsApp: WhatsAppService,
    private readonly templates: TemplateRegistry,
    private readonly numbers: WhatsAppNumbers,
    private readonly pending: PendingSends,
    private readonly waits: OutcomeWaits,
    private readonly metrics: Metrics,
  ) {}

  /** Waits for the platform's answer, `WHATSAPP_WAIT` at most. */
  @Post('sendwhatsapp')
  @HttpCode(200)
  @Auth('api_key', 'whatsapp:send')
  @Documented({
    operationId: 'sendWhatsApp',
    summary: 'Send a message',
    description:
      'A template at any time, a free text within 24 hours of what the recipient wrote, either only to those who opted in. The answer waits for the platform’s; what is not known by then is `queued` or `unknown` and goes on.',
    tag: 'WhatsApp',
    headers: { 'Idempotency-Key': IDEMPOTENCY_KEY },
    body: { schema: 'SendWhatsApp', examples: WHATSAPP_EXAMPLES.send },
    answer: {
      status: 200,
      description: 'Accepted and durable, and what became of the submit.',
      schema: 'SendWhatsAppAnswer',
      example: WHATSAPP_EXAMPLES.sendAnswer,
      headers: { 'idempotent-replayed': IDEMPOTENT_REPLAYED },
    },
    errors: ['IdempotencyConflict'],
  })
  async send(
    @AccountId() account: string,
    @IdempotencyKey() idempotencyKey: string | undefined,
    @JsonBody(readSendWhatsApp) request: SendWhatsApp,
    @Res({ passthrough: true }) reply: HttpReply,
  ): Promise<SendWhatsAppAnswer> {
    const category = await this.#categoryOf(account, request);
    const from = await this.numbers.of(account);
    if (from === undefined)
      throw new ApiError('sender_not_registered', 'This account has no WhatsApp number');
    const receipt = await this.#accept(account, idempotencyKey, from, category, request);
    if (receipt.replayed) reply.header('idempotent-replayed', 'true');
    else this.metrics.accepted('whatsapp', 1);
    return sendWhatsAppAnswer(await this.waits.outcome(receipt));
  }

  @Get('messages/:messageId')
  @Auth('api_key', 'whatsapp:read')
  @Documented({
    operationId: 'readWhatsAppMessage',
    summary: 'Read a message',
    description: 'By the platform’s id or by the one it had before.',
    tag: 'WhatsApp',
    answer: {
      status: 200,
      description: 'The message as it stands.',
      schema: 'WhatsAppMessage',
      example: WHATSAPP_EXAMPLES.message,
    },
  })
  async read(
    @AccountId() tenant: string,
    @Param('messageId') id: string,
  ): Promise<WhatsAppMessageAnswer> {
    if (!MESSAGE_ID.test(id)) throw new ApiError('not_found', `No message ${id.slice(0, 64)}`);
    return messageAnswer(await this.whatsApp.timeline(id, { tenant }));
  }

  /** What the message will be charged as, or why its template cannot be sent: 422. */
  async #categoryOf(account: string, request: SendWhatsApp): Promise<MessageCategory | ApiError> {
    if (request.type === 'text') return 'service';
    const { template: name, language, params } = request;
    const template = await this.templates.find(account, name, language);
    if (template?.status !== 'approved')
      return new ApiError(
        'template_not_approved',
        `There is no approved template ${name} in ${language}`,
        { details: [{ path: 'template_name', message: 'must be an approved template' }] },
      );
    const { category, paramsCount } = template;
    if (params.length !== paramsCount)
      return new ApiError(
        'template_params_mismatch',
        `The template ${name} takes ${paramsCount} params, not ${params.length}`,
        { details: [{ path: 'params', message: `must have ${paramsCount} entries` }] },
      );
    return category;
  }

  async #accept(
    tenant: string,
    idempotencyKey: string | undefined,
    from: string,
    category: MessageCategory | ApiError,
    request: SendWhatsApp,
  ): Promise<WhatsAppReceipt> {
    const options = { tenant, idempotencyKey };
    const { to } = request;
    const place = this.pending.take(1);
    try {
      if (request.type === 'text')
        return await this.whatsApp.sendText({ from, to, text: request.text }, options);
      const { template, language, params } = request;
      const message = { from, to, template, language, params };
      if (!(category instanceof ApiError))
        return await this.whatsApp.sendTemplate({ ...message, category }, options);
      // It may have been sent under this key while it still could be.
      const first =
        idempotencyKey && (await this.whatsApp.replayOf(message, { tenant, idempotencyKey }));
      if (!first) throw category;
      return first;
    } catch (error) {
      if (error instanceof MessagingConfigError)
        throw new ApiError('unavailable', 'This service has no way to WhatsApp set up', {
          headers: { 'retry-after': '60' },
          cause: error,
        });
      if (!(error instanceof MessageValidationError)) throw error;
      const text = request.type === 'text' ? request.textField : 'text';
      throw inWireFields(error, { template: 'template_name', text });
    } finally {
      this.pending.leave(place);
    }
  }
}
