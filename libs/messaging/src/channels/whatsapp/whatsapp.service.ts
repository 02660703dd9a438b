import { Inject, Injectable } from '@nestjs/common';
import type { MessageCategory } from '../../message/category.js';
import type { Template, TemplateDefinition } from '../../message/templates.js';
import type { SubmittedMessage } from '../../message/views.js';
import type { Duration } from '../../ports/duration.js';
import { MESSAGING_SETTINGS, type MessagingSettings } from '../../ports/messaging-settings.js';
import {
  ChannelContext,
  ChannelService,
  type CostEstimate,
  type EstimateOptions,
} from '../channel.service.js';
import type { ChannelMessage, Receipt, SendOptions } from '../send.js';
import type { WhatsAppKnownTemplate, WhatsAppTemplate, WhatsAppText } from './whatsapp-message.js';

/** Result of `sendTemplate()` and `sendText()`. */
export interface WhatsAppReceipt extends Receipt {
  /**
   * Resolves with the message once its submit has an outcome: status, the platform's id, category,
   * cost, currency and sender. After `timeout` (`'10s'`) it resolves with the current state,
   * `queued` or `sending`. Where the send joined a transaction, call it after the commit.
   */
  outcome(options?: { readonly timeout?: Duration }): Promise<SubmittedMessage>;
}

/** Price of one WhatsApp message. */
export interface WhatsAppEstimate extends CostEstimate {
  /** `null`: the template's category is unknown. */
  readonly category: MessageCategory | null;
}

/**
 * Sends WhatsApp messages and reads their status. Templates start conversations. Texts need the
 * recipient's 24-hour window to be open (interface section 3.1). Both need the recipient's opt-in.
 *
 * @example
 * const receipt = await whatsApp.sendTemplate({ to, template: templates.order_update, params: { name, order } });
 * const { status, providerId, cost } = await receipt.outcome({ timeout: '10s' });
 */
@Injectable()
export class WhatsAppService extends ChannelService {
  constructor(
    @Inject(ChannelContext) context: ChannelContext,
    @Inject(MESSAGING_SETTINGS) private readonly settings: MessagingSettings,
  ) {
    super(context.channels.get('whatsapp'), context);
  }

  /**
   * Accepts a template message. Resolves as `SmsService.send()` does, and takes the same options.
   *
   * @throws MessageValidationError naming each wrong field, such as `params.order`; nothing was stored
   * @throws PolicyError where policy denies it (`opt_in_required`, `opted_out`, …); nothing was stored
   * @throws IdempotencyKeyReusedError where the key was used for other content
   * @throws IdempotencyKeyInUseError where another open transaction holds the key; try again
   * @throws TransactionRequiredError where `manager` is in no transaction of the module's data source
   * @throws NoRouteError where no provider carries WhatsApp; nothing was stored
   */
  sendTemplate<const P extends TemplateDefinition['params']>(
    message: WhatsAppKnownTemplate<P>,
    options?: SendOptions,
  ): Promise<WhatsAppReceipt>;
  sendTemplate(message: WhatsAppTemplate, options?: SendOptions): Promise<WhatsAppReceipt>;
  async sendTemplate(message: TemplateInput, options: SendOptions = {}): Promise<WhatsAppReceipt> {
    return this.#followed(await this.enqueue(templateMessage(message), options), options);
  }

  /**
   * Accepts a free-form text. The recipient's window must be open now and when the message leaves.
   *
   * @throws PolicyError `window_closed`, and the errors of {@link sendTemplate}
   */
  async sendText(message: WhatsAppText, options: SendOptions = {}): Promise<WhatsAppReceipt> {
    const { from, to, text, sendAt } = message;
    const content = { kind: 'text', text } as const;
    return this.#followed(await this.enqueue({ from, to, content, sendAt }, options), options);
  }

  /**
   * The receipt of the first send of this template under `idempotencyKey`, also where policy would
   * now deny the send. `undefined`: the key was not used.
   *
   * @throws MessageValidationError naming each wrong field
   * @throws IdempotencyKeyReusedError where the key was used for other content
   */
  async replayOf(
    message: WhatsAppTemplate,
    options: SendOptions & { readonly idempotencyKey: string },
  ): Promise<WhatsAppReceipt | undefined> {
    const receipt = await this.replay(templateMessage(message), options);
    return receipt && this.#followed(receipt, options);
  }

  /**
   * Price of one message. A text is charged as `service`, a template by its approved category.
   * Nothing is sent or stored.
   * @param message a text, or a template of `defineTemplates()` or by name
   */
  async estimate(
    message: { readonly text: string } | Pick<WhatsAppTemplate, 'template' | 'category'> | Template,
    options: EstimateOptions = {},
  ): Promise<WhatsAppEstimate> {
    const category =
      'text' in message
        ? 'service'
        : 'name' in message
          ? message.category
          : (this.settings.whatsapp.templates[message.template]?.category ?? message.category);
    const cost = await this.costOf({ parts: 1, category: category ?? null }, options);
    return { category: category ?? null, ...cost };
  }

  #followed(receipt: Receipt, { tenant = '' }: SendOptions): WhatsAppReceipt {
    return {
      ...receipt,
      outcome: (options = {}) => this.outcome(`${receipt.id}-0`, { ...options, tenant }),
    };
  }
}

/** A template message, with a defined template or with a template name. */
type TemplateInput = Omit<WhatsAppTemplate, 'template' | 'language' | 'params'> &
  Partial<Record<'template' | 'language' | 'params', unknown>>;

function templateMessage(message: TemplateInput): ChannelMessage {
  const { from, to, sendAt, template, language, params, category } = message;
  return { from, to, sendAt, content: { kind: 'template', template, language, params, category } };
}
