import type { Address, AddressKind } from './address.js';
import type { FieldError } from './errors.js';
import type { MessageContent } from './message.js';
import type { StatusDefinition } from './status.js';

/**
 * Everything the library and the gateway need to know of a channel; nothing else decides by a channel's
 * name. The parts after `accepted` are optional: without one, the channel does not have that feature.
 *
 * @example
 * const telegram: ChannelDefinition = {
 *   name: 'telegram',
 *   addressKinds: ['platform'],
 *   statuses: { sent: { rank: 40, reported: true }, read: { rank: 100, terminal: true, reported: true } },
 *   accepted: 'sent',
 *   content: { text: checkText },
 * };
 * MessagingModule.forRoot({ channels: [telegram], … });
 */
export interface ChannelDefinition {
  /** At most 16 small letters, digits and dashes, such as `sms`. */
  readonly name: string;
  /** The channel's name in texts for people, such as `WhatsApp`. @default `name` */
  readonly title?: string;
  /** Kinds of address a recipient may have; a recipient given as text is read as the first kind it fits. */
  readonly addressKinds: readonly [AddressKind, ...AddressKind[]];
  /**
   * The channel's own statuses, beside those that every channel has: `queued`, `sending`, `unknown`, `expired`,
   * `failed`, `rejected` and `cancelled`.
   */
  readonly statuses: Readonly<Record<string, StatusDefinition>>;
  /** The status of a message that the provider has accepted, such as `sent`. */
  readonly accepted: string;
  /** Kinds of content the channel carries, each with its check. */
  readonly content: Readonly<Record<string, ContentCheck>>;
  /** Checks `from`. @default any text of 1 to 255 characters without control characters */
  readonly sender?: SenderCheck;
  /** Most recipients of one send. @default 100000 */
  readonly maxRecipients?: number;
  /**
   * Ids of contact groups may stand among the recipients. `expand`: their members take their place. `pass`:
   * the provider knows the groups. @default they are no recipients
   */
  readonly groups?: 'expand' | 'pass' | undefined;
  /** Default of a message's `deliveryReport`. @default 'yes' */
  readonly deliveryReport?: 'none' | 'yes' | undefined;
  /** Lane of a message where the `lane` option gives none. @default `{tenant}:{channel}` */
  readonly lane?: (of: { readonly tenant: string }) => string;
  readonly consent?: ConsentRules;
  readonly pricing?: PricingRules;
  readonly wire?: WireForm;
  readonly simulate?: Simulation;
  /** `exempt`: retention never erases the channel's messages. @default 'timed' */
  readonly retention?: 'timed' | 'exempt';
}

/** Content that passed its check. */
export interface CheckedContent {
  /** What the store keeps and the provider gets. */
  readonly content: MessageContent;
  /** Billing units of one message, such as the parts of an SMS. @default 0 */
  readonly parts?: number;
}

/**
 * Checks content of one kind as the caller gave it and adds each wrong field to `errors`. The answer counts
 * only where nothing was added.
 */
export type ContentCheck = (
  given: Readonly<Record<string, unknown>>,
  errors: FieldError[],
) => CheckedContent;

/** Checks and normalises a sender, and adds to `errors` (path `from`) what is wrong; `''`: the provider chooses. */
export type SenderCheck = (from: unknown, errors: FieldError[]) => string;

/** What a recipient must have agreed to. */
export interface ConsentRules {
  /** Only recipients who opted in get messages. @default false: all but those who opted out */
  readonly required?: boolean;
  /** Categories that consent is kept for, beside `transactional` and `marketing`. @default none */
  readonly categories?: readonly string[];
  /** Free-form text passes only within 24 hours after the recipient wrote. @default false */
  readonly serviceWindow?: boolean;
}

/** How messages are charged and counted. */
export interface PricingRules {
  /** Each message has a category with a price of its own; otherwise `parts` times the channel's one price. */
  readonly categories?: readonly string[];
  /** Category by kind of content, where the content names none. A price needs it, a cap counts by it. */
  readonly categoryOf?: Readonly<Record<string, string>>;
  /** Category that a frequency cap counts content of unknown category as. */
  readonly presumedCategory?: string;
}

/** The channel's form in callbacks of the gateway. */
export interface WireForm {
  /** `type` of the callback about a status, such as `sms.delivery_report`. */
  readonly statusEvent: string;
  /** `type` of the callback about an inbound message. @default none is sent */
  readonly receivedEvent?: string;
  /**
   * What callbacks and lists call a message: `batch`: `reference_id` is the batch's id and `message_id` ours.
   * `message`: `reference_id` is our id of the message and `message_id` the provider's, once it is known.
   */
  readonly identifiedBy: 'batch' | 'message';
}

/** What the simulator does with a recipient. */
export interface SimulatedFate {
  /**
   * - `reported`: accepted, then reported. `early`: the report comes before the answer to the submit.
   * - `disordered`: reports come twice and out of order. `silent`: no report is pushed, a poll finds it.
   * - `throttled`: as `reported`, after the first submit was throttled.
   * - `lost`: the answer to the submit is lost, a poll finds the report. `vanished`: no poll finds it either.
   * - `replying`: as `reported`, then the recipient writes back. `refused`: refused at submit.
   */
  readonly course:
    | 'reported'
    | 'early'
    | 'disordered'
    | 'silent'
    | 'throttled'
    | 'lost'
    | 'vanished'
    | 'replying'
    | 'refused';
  /** The final report: status, the provider's word for it, and the error code. */
  readonly status: string;
  readonly rawStatus: string;
  readonly errorCode?: string;
}

/** How the simulator plays the channel's provider. */
export interface Simulation {
  /** What happens to a message to this address; the same each time. */
  readonly fateOf: (to: Address) => SimulatedFate;
  /** Report of a message that is on its way, as a `disordered` fate gives it. */
  readonly underway: { readonly status: string; readonly rawStatus: string };
  /** Report that follows the final one of this status, such as `read` after `delivered`. @default none */
  readonly followUp?: {
    readonly after: string;
    readonly status: string;
    readonly rawStatus: string;
  };
  /** The answer to a submit gives each message an id with this prefix, a category, a cost and a sender. @default it gives a reference alone */
  readonly idPrefix?: string;
  /** Text of the message that a `replying` recipient writes. @default none is written */
  readonly reply?: string;
}
