import {
  type SendOptions,
  type SubmittedMessage,
  type WhatsAppReceipt,
  WhatsAppService,
} from '@dundun/messaging';
import { PermanentFailure, SubmitFailure } from '@dundun/messaging/ports';
import { Controller, Get, Inject, type OnModuleDestroy, Param, Post, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AccountId, Auth, Spends } from '../../accounts/auth.guard.js';
import type { Spending } from '../../accounts/credentials.js';
import { PendingSends } from '../../accounts/limits.js';
import { TemplateRegistry, templateView } from '../../accounts/templates.js';
import { type Cost, MessageCosts } from '../../billing/charging/message-costs.js';
import { type Environment, ENVIRONMENT } from '../../config/environment.js';
import { ApiError } from '../../http/api-error.js';
import { inWireFields, isNotSetUp, notSetUp } from '../../http/error-mapping.js';
import { readText } from '../../http/fields.js';
import type { HttpReply } from '../../http/http-message.js';
import { Operation } from '../../http/operation.decorator.js';
import { ListQuery, pageOf } from '../../http/page.dto.js';
import {
  BytesBody,
  type FileBody,
  IdempotencyKey,
  JsonBody,
  ValidQuery,
} from '../../http/request.decorators.js';
import { Metrics } from '../../metrics/metrics.js';
import { SendingRules } from './sending-rules.js';
import {
  headerOf,
  libraryButtonOf,
  messageOf,
  sendAnswerOf,
  type SendMedia,
  type SendTemplate,
  type SendText,
  SendWhatsApp,
  SendWhatsAppAnswer,
  sourceOf,
  TemplatePage,
  UploadedMedia,
  UploadQuery,
  WHATSAPP_TEXT,
  WhatsAppMessage,
} from './whatsapp.dto.js';

/** Requests of one process that may wait; further ones get the current state at once. */
const MAX_WAITS = 1_000;

/** Form of a message id; a text of another form gets 404. */
const MESSAGE_ID = /^[\x21-\x7e]{1,255}$/;

/** WhatsApp messages and templates (interface sections 2.3, 2.4 and 4.2). */
@Controller('whatsapp/ng/v1')
@ApiTags('WhatsApp')
export class WhatsAppController implements OnModuleDestroy {
  readonly #giveUps = new Set<() => void>();
  #isStopping = false;

  constructor(
    private readonly whatsApp: WhatsAppService,
    private readonly templates: TemplateRegistry,
    private readonly rules: SendingRules,
    private readonly pending: PendingSends,
    private readonly metrics: Metrics,
    @Inject(ENVIRONMENT) private readonly environment: Environment,
    private readonly costs: MessageCosts,
  ) {}

  /** Waiting requests answer with the current state. */
  onModuleDestroy(): void {
    this.#isStopping = true;
    for (const giveUp of this.#giveUps) giveUp();
  }

  @Post('sendwhatsapp')
  @Auth('api_key', 'whatsapp:send')
  @Operation('Send a message', {
    description:
      'A template at any time; a free text or a file within 24 hours after the recipient wrote. The recipient must have opted in. The answer waits for the platform. An outcome that is not known by then is `queued` or `unknown`, and the send continues.',
    answer: SendWhatsAppAnswer,
    success: 'The message is accepted and stored; the answer has the outcome of the submit.',
    idempotent: true,
  })
  async sendWhatsApp(
    @Spends() spending: Spending,
    @IdempotencyKey() idempotencyKey: string | undefined,
    @JsonBody(SendWhatsApp) request: SendTemplate | SendText | SendMedia,
    @Res({ passthrough: true }) reply: HttpReply,
  ): Promise<SendWhatsAppAnswer> {
    const from = await this.rules.numberOf(spending.tenant);
    const options = { ...spending, idempotencyKey };
    const receipt = await this.pending
      .during(1, () => {
        switch (request.message_type) {
          case 'text':
            return this.#sendText(from, request, options);
          case 'media':
            return this.#sendMedia(from, request, options);
          case 'template':
            return this.#sendTemplate(from, request, options);
        }
      })
      .catch((error: unknown) => {
        throw isNotSetUp(error) ? notSetUp(error, 'WhatsApp') : error;
      });
    if (receipt.replayed) reply.header('idempotent-replayed', 'true');
    else this.metrics.accepted('whatsapp', 1);
    const outcome = await this.#outcome(receipt);
    return sendAnswerOf(outcome, await this.#costOf(outcome));
  }

  @Post('media')
  @Auth('api_key', 'whatsapp:send')
  @Operation('Upload a file', {
    description:
      'The bytes are the body, and `Content-Type` their type: an image (JPEG, PNG, at most 5 MiB; WebP as sticker, 500 KiB), a video or audio, or a document, at most 16 MiB. Larger documents go by a link.',
    answer: UploadedMedia,
    success: 'The platform has the file.',
  })
  async uploadWhatsAppMedia(
    @AccountId() account: string,
    @BytesBody('image/*', 'audio/*', 'video/*', 'application/*', 'text/plain') file: FileBody,
    @ValidQuery(UploadQuery) { filename }: UploadQuery,
  ): Promise<UploadedMedia> {
    const from = await this.rules.numberOf(account);
    try {
      const media = { ...file, filename, from };
      return { media_id: await this.whatsApp.uploadMedia(media, { tenant: account }) };
    } catch (error) {
      if (error instanceof SubmitFailure) throw uploadFailure(error);
      throw inWireFields(error, { content: '', contentType: 'Content-Type' });
    }
  }

  @Get('messages/:messageId')
  @Auth('api_key', 'whatsapp:read')
  @Operation('Read a message', {
    description: 'By the platform’s id or by the id it had before.',
    answer: WhatsAppMessage,
    success: 'The message as it stands.',
  })
  async readWhatsAppMessage(
    @AccountId() tenant: string,
    @Param('messageId') id: string,
  ): Promise<WhatsAppMessage> {
    if (!MESSAGE_ID.test(id)) throw new ApiError('not_found', `No message ${id.slice(0, 64)}`);
    const message = await this.whatsApp.timeline(id, { tenant });
    return messageOf(message, await this.#costOf(message));
  }

  @Get('templates')
  @Auth('api_key', 'whatsapp:read')
  @Operation('List templates', {
    description: 'The templates of the account, each with its language, category and state.',
    answer: TemplatePage,
    success: 'A page of templates, by name and language.',
  })
  async listTemplates(
    @AccountId() account: string,
    @ValidQuery(ListQuery) query: ListQuery,
  ): Promise<TemplatePage> {
    return pageOf(await this.templates.list(account, query), templateView);
  }

  /** A send has one recipient. */
  async #costOf({ batchId }: SubmittedMessage): Promise<Cost | undefined> {
    return (await this.costs.ofBatches([batchId])).get(batchId);
  }

  /** The outcome of the submit, or the current state after `WHATSAPP_WAIT`. */
  async #outcome(receipt: WhatsAppReceipt): Promise<SubmittedMessage> {
    if (this.#isStopping || this.#giveUps.size >= MAX_WAITS) return receipt.outcome({ timeout: 0 });
    let giveUp = (): void => undefined;
    const stopped = new Promise<undefined>((resolve) => (giveUp = () => resolve(undefined)));
    this.#giveUps.add(giveUp);
    try {
      const outcome = receipt.outcome({ timeout: this.environment.WHATSAPP_WAIT });
      return (await Promise.race([outcome, stopped])) ?? (await receipt.outcome({ timeout: 0 }));
    } finally {
      this.#giveUps.delete(giveUp);
    }
  }

  async #sendText(from: string, request: SendText, options: SendOptions): Promise<WhatsAppReceipt> {
    const { text = '', field } = readText(request, WHATSAPP_TEXT);
    const { to, tags, metadata } = request;
    try {
      return await this.whatsApp.sendText({ from, to, text, tags, metadata }, options);
    } catch (error) {
      throw inWireFields(error, { text: field });
    }
  }

  async #sendMedia(
    from: string,
    request: SendMedia,
    options: SendOptions,
  ): Promise<WhatsAppReceipt> {
    const { to, media, tags, metadata } = request;
    const { type, caption } = media;
    const file = { type, caption, ...sourceOf(media, 'media') };
    try {
      return await this.whatsApp.sendMedia({ from, to, ...file, tags, metadata }, options);
    } catch (error) {
      throw inWireFields(error, (path) =>
        Object.hasOwn(file, path) ? `media.${path.replace('mediaId', 'media_id')}` : path,
      );
    }
  }

  async #sendTemplate(
    from: string,
    request: SendTemplate,
    options: SendOptions & { readonly tenant: string },
  ): Promise<WhatsAppReceipt> {
    const { to, template_name: template, language, params, tags, metadata } = request;
    const { tenant, idempotencyKey } = options;
    const { header, buttons } = request.components ?? {};
    const components = {
      ...(header && { header: headerOf(header) }),
      ...(buttons && { buttons: buttons.map(libraryButtonOf) }),
    };
    const message = { from, to, template, language, params, ...components, tags, metadata };
    try {
      const approved = await this.rules.templateOf(tenant, request);
      return await this.whatsApp.sendTemplate({ ...message, ...approved }, options);
    } catch (error) {
      // The key may belong to a send from before the template was withdrawn.
      const first =
        error instanceof ApiError &&
        idempotencyKey !== undefined &&
        (await this.whatsApp.replayOf(message, { tenant, idempotencyKey }));
      if (first) return first;
      throw inWireFields(error, templateFieldOf);
    }
  }
}

/** The field of a request that a field of the library stands for. */
function templateFieldOf(path: string): string {
  if (path === 'template') return 'template_name';
  if (!/^(?:header|buttons)\b/.test(path)) return path;
  const field = path.replace('mediaId', 'media_id').replace(/\.(?:suffix|payload|code)$/, '.value');
  return `components.${field}`;
}

/** The answer where the platform has not taken an upload. */
function uploadFailure(error: SubmitFailure): ApiError {
  return error instanceof PermanentFailure
    ? new ApiError('invalid_field', 'The platform refused the file', { cause: error })
    : new ApiError('unavailable', 'The platform did not take the file; try again', {
        cause: error,
      });
}
