import { Inject, Injectable } from '@nestjs/common';
import {
  MessagingConfigError,
  MessagingError,
  SubmitFailure,
  validated,
} from '../../message/errors.js';
import type { ReportDetails } from '../../message/events.js';
import type { MessageCategory } from '../../message/message.js';
import {
  type PlatformTemplate,
  SyncedTemplates,
  type Template,
  type TemplateDefinition,
  TemplateNotApprovedError,
  type TemplateParams,
} from '../../message/templates.js';
import type { MessageTimeline, SubmittedMessage, TenantOption } from '../../message/views.js';
import type {
  MediaContent,
  TemplateButton,
  TemplateHeader,
} from '../../message/content/whatsapp-content.js';
import {
  MESSAGE_TRANSPORTS,
  type MediaUpload,
  type MessageTransport,
  type Transports,
} from '../../ports/message-transport.js';
import type { Duration } from '../../ports/option-schema.js';
import { MESSAGING_SETTINGS, type MessagingSettings } from '../../ports/messaging-settings.js';
import { times } from '../../ports/rate-card.js';
import { Router } from '../../routing/router.js';
import {
  ChannelContext,
  ChannelService,
  type CostEstimate,
  type EstimateOptions,
} from '../channel.service.js';
import { checkUpload } from './whatsapp-content.js';
import { CONTENT_FIELDS, knownTemplate, withAnyTemplate } from './whatsapp.channel.js';
import { type KnownFields, LABEL_FIELDS, refuseUnknownFields } from '../known-fields.js';
import { type ChannelMessage, given, type Receipt, type SendOptions } from '../send.js';

/** Milliseconds: a document may have 100 MB. */
const UPLOAD_TIMEOUT = 300_000;

interface WhatsAppAddress extends Pick<ChannelMessage, 'sendAt' | 'tags' | 'metadata'> {
  /** Digits with country code. @default the `whatsapp.from` option, else the provider's choice */
  readonly from?: string;
  /**
   * Digits with country code; a leading plus, spaces, dashes and brackets are removed. Or
   * `platform:{id}`: the business-scoped user id of a person who hides the number.
   */
  readonly to: string;
}

/** Free-form text, only inside an open 24-hour window. */
export interface WhatsAppText extends WhatsAppAddress {
  readonly text: string;
}

/** Media, only inside an open 24-hour window: by a link, which the platform fetches, or an upload. */
export interface WhatsAppMedia extends WhatsAppAddress, Omit<MediaContent, 'kind'> {}

/** Values of a template beside the parameters of its body. */
interface TemplateParts {
  /** Variable or media of the header, where the template has one. */
  readonly header?: TemplateHeader;
  /** Values of the buttons that have a variable. */
  readonly buttons?: readonly TemplateButton[];
}

export interface WhatsAppTemplate extends WhatsAppAddress, TemplateParts {
  /** One of the option `whatsapp.templates`; with `'open'` any, whose parameters are not checked. */
  readonly template: string;
  readonly language: string;
  /** Values by position; values by name where the template is known. */
  readonly params?: readonly string[] | Readonly<Record<string, string>>;
  /** With `whatsapp.templates: 'open'`: the template's category. @default the option's */
  readonly category?: MessageCategory;
  /**
   * Names of `params` at the platform, in their order, where its template has variables by name.
   * @default with `whatsapp.templates: 'synced'` the platform's, else none
   */
  readonly paramNames?: readonly string[];
}

/** A template of `defineTemplates()`: the compiler checks its parameters. */
export type WhatsAppKnownTemplate<P extends TemplateDefinition['params']> = WhatsAppAddress &
  TemplateParts & {
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
 * recipient's 24-hour window. Both need the recipient's opt-in.
 * @example
 * const receipt = await whatsApp.sendTemplate({ to, template: templates.order_update, params: { name, order } });
 * const { status, providerId, cost } = await receipt.outcome({ timeout: '10s' });
 */
@Injectable()
export class WhatsAppService extends ChannelService {
  /** @internal */
  constructor(
    @Inject(ChannelContext) context: ChannelContext,
    @Inject(MESSAGING_SETTINGS) private readonly settings: MessagingSettings,
    @Inject(Router) private readonly router: Router,
    @Inject(MESSAGE_TRANSPORTS) private readonly transports: Transports,
  ) {
    super('whatsapp', context);
  }

  /**
   * Accepts a template message as `SmsService.send()` does, with its options and errors.
   * @throws MessageValidationError naming each wrong field, such as `params.order`, or `template`
   * where the option `whatsapp.templates` does not have it
   * @throws TemplateNotApprovedError with `whatsapp.templates: 'synced'`, unless the key was used
   * @throws PolicyError where policy denies it (`opt_in_required`, `opted_out`, …)
   */
  sendTemplate<const P extends TemplateDefinition['params']>(
    message: WhatsAppKnownTemplate<P>,
    options?: SendOptions,
  ): Promise<WhatsAppReceipt>;
  sendTemplate(message: WhatsAppTemplate, options?: SendOptions): Promise<WhatsAppReceipt>;
  async sendTemplate(message: AnyTemplate, options: SendOptions = {}): Promise<WhatsAppReceipt> {
    const sent = withContent(message, 'template');
    try {
      return this.#followed(await this.enqueue(sent, options), options);
    } catch (error) {
      if (!(error instanceof TemplateNotApprovedError)) throw error;
      // The first send under the key may be from before the platform withdrew the template.
      const first = options.idempotencyKey !== undefined && (await this.#firstOf(sent, options));
      if (!first) throw error;
      return this.#followed(first, options);
    }
  }

  /**
   * Accepts a free-form text. The window must be open now and when the message leaves.
   * @throws PolicyError `window_closed`, and the errors of {@link sendTemplate}
   */
  async sendText(message: WhatsAppText, options: SendOptions = {}): Promise<WhatsAppReceipt> {
    return this.#followed(await this.enqueue(withContent(message, 'text'), options), options);
  }

  /**
   * Accepts an image, a video, a document, audio or a sticker. The window must be open now and when
   * the message leaves.
   * @throws MessageValidationError naming each wrong field
   * @throws PolicyError `window_closed`, and the errors of {@link sendTemplate}
   * @example
   * await whatsApp.sendMedia({ to, type: 'image', link: 'https://cdn.example.com/map.png', caption: 'Here' });
   */
  async sendMedia(message: WhatsAppMedia, options: SendOptions = {}): Promise<WhatsAppReceipt> {
    return this.#followed(await this.enqueue(withContent(message, 'media'), options), options);
  }

  /**
   * Gives a file to the provider to which `routes` send media of the tenant and the number, without a
   * message. The id is for `mediaId` of messages of the same tenant from the same number; the WhatsApp
   * Cloud API keeps it for 30 days. An upload may be repeated.
   * @param from the number that will send it @default the option `whatsapp.from`
   * @throws MessageValidationError where the platform does not take the type, or the size
   * @throws SubmitFailure where the platform refuses it, or does not answer
   * @throws MessagingError `unsupported` where the provider takes no uploads
   * @example
   * const mediaId = await whatsApp.uploadMedia({ content, contentType: 'application/pdf', filename: 'invoice.pdf' });
   * await whatsApp.sendMedia({ to, type: 'document', mediaId });
   */
  async uploadMedia(
    { from, ...media }: MediaUpload & { readonly from?: string },
    { tenant = '' }: TenantOption = {},
  ): Promise<string> {
    validated((errors) => checkUpload(media, errors));
    const sender = validated((errors) => this.definition.sender?.(from, errors) ?? '');
    const { name: channel } = this.definition;
    const content = { kind: 'media', type: 'document' } as const;
    const provider = this.router.providerOf({ tenant, channel, sender, content });
    const transport = this.transports.get(provider) as MessageTransport;
    if (!transport.uploadMedia)
      throw new MessagingError(
        'unsupported',
        `The provider ${provider} takes no uploads; send the media by a link`,
      );
    try {
      return await transport.uploadMedia(media, sender, AbortSignal.timeout(UPLOAD_TIMEOUT));
    } catch (error) {
      if (error instanceof SubmitFailure) error.message = `${provider}: ${error.message}`;
      throw error;
    }
  }

  /**
   * The first receipt of this template under `idempotencyKey`, also where policy would now deny the
   * send, or the platform withdrew the template. `undefined`: the key was not used.
   * @throws MessageValidationError naming each wrong field
   * @throws IdempotencyKeyReusedError where the key was used for other content
   */
  async replayOf(
    message: WhatsAppTemplate,
    options: SendOptions & { readonly idempotencyKey: string },
  ): Promise<WhatsAppReceipt | undefined> {
    const receipt = await this.#firstOf(withContent(message, 'template'), options);
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

  /**
   * The platform's templates of every status, as `whatsapp.templates: 'synced'` has read them last and
   * callbacks have changed them since: without a request, and empty before the first list.
   * @throws MessagingConfigError without `'synced'`
   */
  templates(): readonly PlatformTemplate[] {
    const { templates } = this.settings.whatsapp;
    if (templates instanceof SyncedTemplates) return templates.all();
    throw new MessagingConfigError("templates(): set whatsapp.templates to 'synced'");
  }

  /**
   * As on every channel. Where the answer to the submit had no cost and a status says whether the
   * platform bills the message (`billable`), the cost is the price of the option `rateCard` for the
   * category of that status, or 0.
   */
  override async timeline(id: string, options: TenantOption = {}): Promise<MessageTimeline> {
    const message = await super.timeline(id, options);
    return { ...message, ...(await this.#billOf(message, options)) };
  }

  async #billOf(
    { cost, content, recipient, reports }: MessageTimeline,
    { tenant = '' }: TenantOption,
  ): Promise<Partial<MessageTimeline>> {
    const bills = reports.flatMap(({ details }): ReportDetails[] =>
      details && 'billable' in details ? [details] : [],
    );
    // One status that the message is billed counts, in any order of the statuses.
    const details = bills.find(({ billable }) => billable === 1) ?? bills[0];
    if (cost !== null || !details) return {};
    const sent = content?.kind === 'template' ? content.category : content && 'service';
    const category = String(details['category'] ?? sent ?? '') || null;
    const { name: channel } = this.definition;
    const item = { tenant, channel, category, recipient: recipient === '' ? null : recipient };
    const price = await this.context.rates.price(item);
    if (!price) return { category };
    const { amount, currency } = times(price, details['billable'] === 1 ? 1 : 0);
    return { category, cost: amount, currency };
  }

  #firstOf(message: ChannelMessage, options: SendOptions): Promise<Receipt | undefined> {
    const channel = withAnyTemplate(this.definition, this.settings.whatsapp);
    return this.context.enqueuer.replayOf(channel, message, options);
  }

  #categoryOf(message: Parameters<WhatsAppService['estimate']>[0]): MessageCategory | undefined {
    if ('text' in message) return 'service';
    if ('name' in message) return message.category;
    const known = knownTemplate(this.settings.whatsapp.templates, message.template);
    return known?.category ?? message.category;
  }

  #followed(receipt: Receipt, { tenant = '' }: SendOptions): WhatsAppReceipt {
    return {
      ...receipt,
      outcome: (options = {}) => this.outcome(`${receipt.id}-0`, { ...options, tenant }),
    };
  }
}

const ADDRESS_FIELDS: KnownFields<WhatsAppAddress> = {
  from: true,
  to: true,
  sendAt: true,
  ...LABEL_FIELDS,
};

const FIELDS = {
  text: { ...ADDRESS_FIELDS, ...CONTENT_FIELDS.text } satisfies KnownFields<WhatsAppText>,
  media: { ...ADDRESS_FIELDS, ...CONTENT_FIELDS.media } satisfies KnownFields<WhatsAppMedia>,
  template: {
    ...ADDRESS_FIELDS,
    ...CONTENT_FIELDS.template,
  } satisfies KnownFields<WhatsAppTemplate>,
};

/** All fields but those of the address are the content, which the channel checks. */
function withContent(
  message: WhatsAppAddress | AnyTemplate,
  kind: keyof typeof FIELDS,
): ChannelMessage {
  const { from, to, sendAt, tags, metadata, ...content } = given(message);
  refuseUnknownFields(message, FIELDS[kind]);
  return { from, to, sendAt, tags, metadata, content: { ...content, kind } };
}
