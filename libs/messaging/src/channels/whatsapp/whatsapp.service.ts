import { Inject, Injectable } from '@nestjs/common';
import { MessageStore } from '../../store/message-store.js';
import { type FieldError, MessagingConfigError } from '../../message/errors.js';
import type { MessageContent } from '../../message/message.js';
import type { Template, TemplateDefinition } from '../../message/templates.js';
import type { SubmittedMessage } from '../../message/views.js';
import type {
  WhatsAppKnownTemplate,
  WhatsAppTemplate,
  WhatsAppText,
} from '../../message/whatsapp-message.js';
import { type Clock, MESSAGING_CLOCK } from '../../ports/clock.js';
import { type Duration, milliseconds } from '../../ports/duration.js';
import { LANE_WAKER, type LaneWaker } from '../../ports/lane-waker.js';
import { MESSAGE_TRANSPORT, type MessageTransport } from '../../ports/message-transport.js';
import { MESSAGING_SETTINGS, type MessagingSettings } from '../../ports/messaging-settings.js';
import { MESSAGING_RATE_CARD, type RateCard } from '../../ports/rate-card.js';
import { ChannelService, type TenantOption } from '../channel.service.js';
import { type EstimateOptions, type WhatsAppEstimate, whatsAppEstimate } from '../estimates.js';
import { Intake } from '../intake.js';
import type { Receipt } from '../receipt.js';
import type { SendOptions } from '../send-options.js';
import { submitOutcome } from '../submit-outcome.js';
import { type Asked, templateContent, textContent, whatsAppBatch } from './whatsapp-batch.js';

/** What `sendTemplate()` and `sendText()` resolve with. */
export interface WhatsAppReceipt extends Receipt {
  /**
   * The message once the outcome of its submit is known: its status, the platform's id, category, cost,
   * currency and sender. After `timeout` (`'10s'`) it resolves with what is known by then: the status is
   * `queued` or `sending`. Where the send joined a transaction, to be called after its commit.
   */
  outcome(options?: { readonly timeout?: Duration }): Promise<SubmittedMessage>;
}

/**
 * Sends WhatsApp messages and follows them: templates start conversations, texts pass only while the
 * recipient's 24-hour window is open (interface section 3.1), and nobody gets either who has not opted in.
 *
 * @example
 * const receipt = await whatsApp.sendTemplate({ to, template: templates.order_update, params: { name, order } });
 * const { status, providerId, cost } = await receipt.outcome({ timeout: '10s' });
 */
@Injectable()
export class WhatsAppService extends ChannelService {
  protected readonly channel = 'whatsapp';

  constructor(
    @Inject(MessageStore) store: MessageStore,
    @Inject(LANE_WAKER) waker: LaneWaker,
    @Inject(MESSAGING_CLOCK) private readonly clock: Clock,
    @Inject(MESSAGING_SETTINGS) private readonly settings: MessagingSettings,
    @Inject(MESSAGE_TRANSPORT) private readonly transport: MessageTransport,
    @Inject(Intake) private readonly intake: Intake,
    @Inject(MESSAGING_RATE_CARD) private readonly rates: RateCard,
  ) {
    super(store, waker);
  }

  /**
   * Accepts a template message. Resolves as `SmsService.send()` does, and takes the same options.
   *
   * @throws MessageValidationError naming each wrong field, such as `params.order`; nothing was stored
   * @throws PolicyError where policy denies it (`opt_in_required`, `opted_out`, …); nothing was stored
   * @throws IdempotencyKeyReusedError where the key was used for other content
   * @throws IdempotencyKeyInUseError where somebody's open transaction holds the key; try again
   * @throws TransactionRequiredError where `manager` is in no transaction of the module's data source
   * @throws MessagingConfigError where the transport does not send WhatsApp
   */
  sendTemplate<const P extends TemplateDefinition['params']>(
    message: WhatsAppKnownTemplate<P>,
    options?: SendOptions,
  ): Promise<WhatsAppReceipt>;
  sendTemplate(message: WhatsAppTemplate, options?: SendOptions): Promise<WhatsAppReceipt>;
  async sendTemplate(message: Asked, options: SendOptions = {}): Promise<WhatsAppReceipt> {
    const errors: FieldError[] = [];
    const content = templateContent(message, this.settings.whatsapp, errors);
    return this.#send(message, content, errors, options);
  }

  /**
   * Accepts a free-form text, while the recipient's window is open: now, and again when it leaves.
   *
   * @throws PolicyError `window_closed`, and as {@link sendTemplate}
   */
  async sendText(message: WhatsAppText, options: SendOptions = {}): Promise<WhatsAppReceipt> {
    const errors: FieldError[] = [];
    const content = textContent(message, this.settings.whatsapp, errors);
    return this.#send(message, content, errors, options);
  }

  /**
   * What the first send of this template under `idempotencyKey` was answered with, whether or not it could
   * be sent now; `undefined`: there was none.
   *
   * @throws MessageValidationError naming each wrong field
   * @throws IdempotencyKeyReusedError where the key was used for other content
   */
  async replayOf(
    message: WhatsAppTemplate,
    options: SendOptions & { readonly idempotencyKey: string },
  ): Promise<WhatsAppReceipt | undefined> {
    const errors: FieldError[] = [];
    const content = templateContent(message, this.settings.whatsapp, errors);
    const { manager } = options;
    const tx = manager && this.store.database.join(manager);
    const batch = whatsAppBatch(message, content, errors, options, this.settings, this.clock);
    const receipt = await this.intake.replayOf(batch, tx);
    return receipt && this.#followed(receipt, options);
  }

  /**
   * One message as it stands.
   * @param id `{batchId}-0`, or the platform's once it is known
   * @throws MessageNotFoundError
   */
  message(id: string, { tenant = '' }: TenantOption = {}): Promise<SubmittedMessage> {
    return this.store.reads.message(id, { tenant, channel: this.channel });
  }

  /**
   * What one message would cost: a text is `service`, a template what it was approved as. Nothing is sent
   * or stored.
   * @param message a text, or a template of `defineTemplates()` or by name
   */
  estimate(
    message: { readonly text: string } | Pick<WhatsAppTemplate, 'template' | 'category'> | Template,
    options: EstimateOptions = {},
  ): Promise<WhatsAppEstimate> {
    const category =
      'text' in message
        ? 'service'
        : 'name' in message
          ? message.category
          : (this.settings.whatsapp.templates?.[message.template]?.category ?? message.category);
    return whatsAppEstimate(category ?? null, this.rates, options);
  }

  async #send(
    message: Asked,
    content: MessageContent,
    errors: FieldError[],
    options: SendOptions,
  ): Promise<WhatsAppReceipt> {
    const { channels } = this.transport.capabilities;
    if (channels && !channels.includes(this.channel))
      throw new MessagingConfigError(
        `transport: ${this.transport.name} does not send WhatsApp; with http that takes the apiKey (svk_…)`,
      );
    const { manager } = options;
    const tx = manager && this.store.database.join(manager);
    const batch = whatsAppBatch(message, content, errors, options, this.settings, this.clock);
    return this.#followed(await this.intake.take(batch, content, tx), options);
  }

  #followed(receipt: Receipt, { tenant = '' }: SendOptions): WhatsAppReceipt {
    const scope = { tenant, channel: this.channel } as const;
    return {
      ...receipt,
      outcome: ({ timeout = '10s' } = {}) =>
        submitOutcome(this.store, this.clock, receipt.id, scope, milliseconds('timeout', timeout)),
    };
  }
}
