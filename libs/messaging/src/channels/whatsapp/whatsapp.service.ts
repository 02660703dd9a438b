import { Inject, Injectable } from '@nestjs/common';
import type { MessageCategory } from '../../message/message.js';
import type { Template, TemplateDefinition, TemplateParams } from '../../message/templates.js';
import type { SubmittedMessage } from '../../message/views.js';
import type { Duration } from '../../ports/option-schema.js';
import { MESSAGING_SETTINGS, type MessagingSettings } from '../../ports/messaging-options.js';
import {
  ChannelContext,
  ChannelService,
  type CostEstimate,
  type EstimateOptions,
} from '../channel.service.js';
import { type ChannelMessage, given, type Receipt, type SendOptions } from '../send.js';

interface WhatsAppAddress extends Pick<ChannelMessage, 'sendAt'> {
  /** Digits with country code. @default the `whatsapp.from` option, else the provider's choice */
  readonly from?: string;
  /** Digits with country code; a leading plus, spaces, dashes and brackets are removed. */
  readonly to: string;
}

/** Free-form text, only inside an open 24-hour window (interface section 2.3). */
export interface WhatsAppText extends WhatsAppAddress {
  readonly text: string;
}

export interface WhatsAppTemplate extends WhatsAppAddress {
  /** Its parameters are checked where the `whatsapp.templates` option has the template. */
  readonly template: string;
  readonly language: string;
  /** Values by position; values by name where the template is known. */
  readonly params?: readonly string[] | Readonly<Record<string, string>>;
  /** Category of a template that the `whatsapp.templates` option does not have. */
  readonly category?: MessageCategory;
}

/** A template of `defineTemplates()`: the compiler checks its parameters. */
export type WhatsAppKnownTemplate<P extends TemplateDefinition['params']> = WhatsAppAddress & {
  readonly template: Template<P>;
  /** @default the template's language */
  readonly language?: string;
} & (P extends readonly [] | 0
    ? { readonly params?: TemplateParams<P> }
    : { readonly params: TemplateParams<P> });

type AnyTemplate = Omit<WhatsAppTemplate, 'template' | 'language' | 'params'> &
  Partial<Record<'template' | 'language' | 'params', unknown>>;

/** Result of `sendTemplate()` and `sendText()`. */
export interface WhatsAppReceipt extends Receipt {
  /**
   * Resolves with the message once its submit has an outcome; after `timeout` (`'10s'`) while still
   * `queued` or `sending`. Where the send joined a transaction, call it after the commit.
   */
  outcome(options?: { readonly timeout?: Duration }): Promise<SubmittedMessage>;
}

export interface WhatsAppEstimate extends CostEstimate {
  /** `null`: the template's category is unknown. */
  readonly category: MessageCategory | null;
}

/**
 * Sends WhatsApp messages and reads their status. Templates start conversations; texts need the
 * recipient's 24-hour window (interface section 3.1). Both need the recipient's opt-in.
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
    super('whatsapp', context);
  }

  /**
   * Accepts a template message as `SmsService.send()` does, with its options and errors.
   * @throws MessageValidationError naming each wrong field, such as `params.order`
   * @throws PolicyError where policy denies it (`opt_in_required`, `opted_out`, …)
   */
  sendTemplate<const P extends TemplateDefinition['params']>(
    message: WhatsAppKnownTemplate<P>,
    options?: SendOptions,
  ): Promise<WhatsAppReceipt>;
  sendTemplate(message: WhatsAppTemplate, options?: SendOptions): Promise<WhatsAppReceipt>;
  async sendTemplate(message: AnyTemplate, options: SendOptions = {}): Promise<WhatsAppReceipt> {
    return this.#followed(await this.enqueue(withContent(given(message)), options), options);
  }

  /**
   * Accepts a free-form text. The window must be open now and when the message leaves.
   * @throws PolicyError `window_closed`, and the errors of {@link sendTemplate}
   */
  async sendText(message: WhatsAppText, options: SendOptions = {}): Promise<WhatsAppReceipt> {
    const { from, to, text, sendAt } = given(message);
    const content = { kind: 'text', text } as const;
    return this.#followed(await this.enqueue({ from, to, content, sendAt }, options), options);
  }

  /**
   * The first receipt of this template under `idempotencyKey`, also where policy would now deny the
   * send. `undefined`: the key was not used.
   * @throws MessageValidationError naming each wrong field
   * @throws IdempotencyKeyReusedError where the key was used for other content
   */
  async replayOf(
    message: WhatsAppTemplate,
    options: SendOptions & { readonly idempotencyKey: string },
  ): Promise<WhatsAppReceipt | undefined> {
    const receipt = await this.replay(withContent(message), options);
    return receipt && this.#followed(receipt, options);
  }

  /**
   * Price of one message, without a send: a text costs as `service`, a template by its category.
   * @param message a text, or a template of `defineTemplates()` or by name
   */
  async estimate(
    message: { readonly text: string } | Pick<WhatsAppTemplate, 'template' | 'category'> | Template,
    options: EstimateOptions = {},
  ): Promise<WhatsAppEstimate> {
    const category = this.#categoryOf(message) ?? null;
    return { category, ...(await this.costOf({ parts: 1, category }, options)) };
  }

  #categoryOf(message: Parameters<WhatsAppService['estimate']>[0]): MessageCategory | undefined {
    if ('text' in message) return 'service';
    if ('name' in message) return message.category;
    return this.settings.whatsapp.templates[message.template]?.category ?? message.category;
  }

  #followed(receipt: Receipt, { tenant = '' }: SendOptions): WhatsAppReceipt {
    return {
      ...receipt,
      outcome: (options = {}) => this.outcome(`${receipt.id}-0`, { ...options, tenant }),
    };
  }
}

function withContent({ from, to, sendAt, ...template }: AnyTemplate): ChannelMessage {
  return { from, to, sendAt, content: { kind: 'template', ...template } };
}
