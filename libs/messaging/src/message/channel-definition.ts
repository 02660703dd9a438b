import type { AddressKind } from './address.js';
import type { FieldError } from './errors.js';
import type { ConsentCategory, MessageContent } from './message.js';
import type { StatusDefinition } from './status.js';

/**
 * All that the library and the gateway know about a channel. The members after `content` are
 * optional: without one, the channel lacks that feature. The README has a whole app (“A channel of your
 * own”).
 * @example
 * const checkText: ContentCheck = ({ text }, errors) => {
 *   if (typeof text !== 'string' || text === '')
 *     errors.push({ path: 'content.text', message: 'must be a text' });
 *   return { content: { kind: 'text', text: String(text) } };
 * };
 * const telegram: ChannelDefinition = {
 *   name: 'telegram',
 *   addressKinds: ['platform'],
 *   statuses: { sent: { rank: 40, reported: true }, read: { rank: 100, terminal: true, reported: true } },
 *   accepted: 'sent',
 *   content: { text: checkText },
 * };
 * // The transport has `telegram` among its `capabilities.channels`.
 * MessagingModule.forRoot({ channels: [telegram], transport });
 */
export interface ChannelDefinition {
  /** At most 16 small letters, digits and dashes, such as `sms`. */
  readonly name: string;
  /** The channel's name in texts for people, such as `WhatsApp`. @default `name` */
  readonly title?: string;
  /** Address kinds of recipients; a recipient given as text becomes the first kind it fits. */
  readonly addressKinds: readonly [AddressKind, ...AddressKind[]];
  /** Besides `queued`, `sending`, `unknown`, `expired`, `failed`, `rejected`, `cancelled`. */
  readonly statuses: Readonly<Record<string, StatusDefinition>>;
  /** The status of a message after the provider accepted it, such as `sent`. */
  readonly accepted: string;
  /**
   * Events that reports may name in place of a status, such as `delayed`: listeners get them, and
   * the status stays. @default none
   */
  readonly events?: readonly string[];
  /** The channel's kinds of content, each with its check. */
  readonly content: Readonly<Record<string, ContentCheck>>;
  /**
   * Sender and content of a message, from the fields that the channel's service takes, such as
   * `{ from, body }`. @default its `from` and `content`
   */
  readonly messageOf?: (fields: Readonly<Record<string, unknown>>) => MessageParts;
  /**
   * Names of the fields that `messageOf` takes; another one in a notification is refused.
   * @default `from` and `content`, or any where `messageOf` is given
   */
  readonly fields?: Readonly<Record<string, true>>;
  /** Content of a message with a one-time code. @default the channel carries no codes */
  readonly oneTimeCode?: (code: OneTimeCode, errors: FieldError[]) => MessageParts['content'];
  /** Checks `from`. @default any text of 1 to 255 characters without control characters */
  readonly sender?: SenderCheck;
  /** Largest number of recipients per send. @default 100000 */
  readonly maxRecipients?: number;
  /** Contact groups in `to`: `expand` to their members, or `pass` on. @default not allowed */
  readonly groups?: 'expand' | 'pass' | undefined;
  /** Default of a message's `deliveryReport`. @default true */
  readonly deliveryReport?: boolean | undefined;
  /** Sends a message again after some of its statuses. @default never */
  readonly redial?: RedialRules;
  readonly consent?: ConsentRules;
  /** Statuses and events after which the recipient is suppressed on the channel. @default none */
  readonly suppression?: Readonly<Record<string, SuppressionRule>>;
  readonly pricing?: PricingRules;
  readonly wire?: WireForm;
  /**
   * Each message has an effect that cannot be taken back, such as airtime for a number. A submission
   * without an answer is not repeated: it is `unknown`, and the provider is asked, in the end once a
   * day, until it knows. Lanes are `{tenant}:{name}`, and a restored database holds them until
   * `HoldsService.releaseRestoredChannel()`. @default the messages may be repeated
   */
  readonly irrevocable?: IrrevocableRules;
  /** `exempt`: retention never erases the channel's messages. @default 'timed' */
  readonly retention?: 'timed' | 'exempt';
}

/** Bytes of an attachment, which the content names by their digest. */
export interface StoredAttachment {
  /** SHA-256 in hexadecimal digits. */
  readonly digest: string;
  readonly content: Buffer;
}

/** A message without its recipients, not checked yet. */
export interface MessageParts {
  readonly from?: unknown;
  readonly content: { readonly kind: string; readonly [field: string]: unknown };
}

/** A code, and the options that tell how a channel states it. */
export interface OneTimeCode {
  /** 4 to 8 digits. */
  readonly code: string;
  readonly from: string | undefined;
  /** The text of the option `verification.text`, with the code. */
  readonly text: () => string;
  readonly subject: string;
  /** An approved template whose one parameter is the code. */
  readonly template: { readonly name: string; readonly language: string } | undefined;
}

export interface CheckedContent {
  readonly content: MessageContent;
  /** Stored beside the content, once for all recipients. @default none */
  readonly attachments?: readonly StoredAttachment[];
  /** Billing units of one message, such as the parts of an SMS. @default 0 */
  readonly parts?: number;
}

/** Checks content of one kind. The result is ignored where it adds wrong fields to `errors`. */
export type ContentCheck = (
  given: Readonly<Record<string, unknown>>,
  errors: FieldError[],
) => CheckedContent;

/** `alphanumeric`: 1 to 11 letters, digits and spaces; `short_code`: 3 to 8 digits. */
export type SenderKind = 'alphanumeric' | 'number' | 'short_code';

/**
 * Checks and normalises a sender, with errors at `from`; `''`: the provider chooses it.
 * @param kinds the kinds of senders that the message's provider takes @default every kind
 */
export type SenderCheck = (
  from: unknown,
  errors: FieldError[],
  kinds?: readonly SenderKind[],
) => string;

export interface SuppressionRule {
  /** Reason in the suppression list, such as `hard_bounce`; `unsubscribe` ends with a younger opt-in. */
  readonly reason: string;
  /** Only messages of this consent category are suppressed. @default every category */
  readonly category?: ConsentCategory;
  /** Only with one of these error codes, or as `enhanced_code` of its details. @default any */
  readonly errorCodes?: readonly string[];
  /** The `category` of its details that suppresses; where there is one, the codes do not count. */
  readonly detailsCategory?: string;
}

export interface RedialRules {
  /** Statuses of a message that the provider accepted, such as `busy`. */
  readonly after: readonly string[];
  /** Event that a report with such a status becomes while a try is left; the status stays. */
  readonly event: string;
  /** How often, and milliseconds until the next try; `undefined`: never. */
  readonly rule: (
    content: MessageContent,
  ) => { readonly times: number; readonly after: number } | undefined;
}

export interface IrrevocableRules {
  /**
   * The reference under which the provider knows a message with this content, also before its
   * answer; every transport of the channel uses it, so that reports match without an answer.
   */
  readonly referenceOf: (content: MessageContent) => string | undefined;
}

export interface ConsentRules {
  /**
   * Only recipients with an opt-in receive messages: of every category, or of these.
   * @default false: all without an opt-out
   */
  readonly required?: boolean | readonly ConsentCategory[];
  /** Consent categories in addition to `transactional` and `marketing`. @default none */
  readonly categories?: readonly string[];
  /** All but templates needs an inbound message of the recipient within 24 hours. @default false */
  readonly serviceWindow?: boolean;
  /** Error codes that say that the platform takes the window for closed: it is closed then. @default none */
  readonly windowClosedBy?: readonly string[];
  /** Consent categories that keep the quiet hours. @default all */
  readonly quietHours?: readonly ConsentCategory[];
  /** Code of a denial by the suppression list, by consent category. @default `suppressed` */
  readonly suppressedAs?: Readonly<Record<string, string>>;
}

export interface PricingRules {
  /** Categories with a price each; without it the price is `parts` times the channel's price. */
  readonly categories?: readonly string[];
  /** Category by kind of content, for content that names none. Prices and caps use it. */
  readonly categoryOf?: Readonly<Record<string, string>>;
  /** Category for frequency caps where the content's category is unknown. */
  readonly presumedCategory?: string;
}

/** The channel's callbacks of a Dundun gateway, which the provider `http` reads. */
export interface WireForm {
  /**
   * `type` of status webhooks, such as `sms.delivery_report`; `*` stands for the status or event,
   * as in `email.*`.
   */
  readonly statusEvent: string;
  /** `type` of webhooks for inbound messages. @default none is sent */
  readonly receivedEvent?: string;
  /** Status webhooks have an `event`, and the facts of a call. @default false */
  readonly call?: boolean;
  /** Status webhooks have the client reference and amounts of an order. @default false */
  readonly order?: boolean;
}
