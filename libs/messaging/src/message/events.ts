import type { InboundContent } from './content/inbound-content.js';
import type { Channel } from './message.js';
import type { ChannelStatus } from './status.js';

/** One delivery report from a parser or a poll, not yet matched with a message. */
export interface DeliveryReport {
  /** The library's id of the submission, where the report contains it or the poll used it. */
  readonly submissionId?: string | undefined;
  /** The provider's reference of the submission, if any. */
  readonly reference: string | null;
  readonly messageId: string | null;
  /** Address key of the recipient, such as digits with country code. */
  readonly recipient: string | null;
  /**
   * A status, or an event of the channel such as `delayed`, which changes no status. `null`: a
   * status without a mapping; the report is stored and changes no status.
   */
  readonly status: ChannelStatus | null;
  /** The provider's own word for the status. */
  readonly rawStatus: string;
  readonly errorCode: string | null;
  /** When the SMSC made the report; `null` where the provider omits it. */
  readonly providerTime: Date | null;
  /** Further data, such as the category and the answer of a bounce. @default none */
  readonly details?: ReportDetails | undefined;
  /**
   * The submit that the report is about, where its answer may have been lost with its id: then the
   * report is of the only `unknown` message with this sender, this recipient and this time.
   */
  readonly submit?: ReportedSubmit | undefined;
}

/** What a report says of the submit of its message. */
export interface ReportedSubmit {
  readonly sender: string;
  /** By the provider's clock; it may lack the seconds. */
  readonly at: Date;
}

/** Further data of a report, kept as JSON of at most 8,000 characters. */
export type ReportDetails = Readonly<Record<string, string | number | null>>;

/** Consent that a person gave or took back in the settings of the platform. */
export interface InboundPreference {
  /** Category of messages, such as `marketing`. */
  readonly category: string;
  readonly state: 'opted_in' | 'opted_out';
}

export interface InboundMessage {
  /** The provider's id, at most 255 characters; identifies the message. */
  readonly messageId: string;
  readonly channel: Channel;
  /**
   * Sender's address, such as digits with country code, or the short code or name that wrote;
   * `null` where only the `bsuid` is known.
   */
  readonly from: string | null;
  /** WhatsApp's business-scoped user id of the sender. */
  readonly bsuid: string | null;
  /** The number or address that received the message. */
  readonly to: string;
  /**
   * The text, the caption of media, the title of a pressed button or chosen row, or the JSON of a
   * filled form; `null`: none of them.
   */
  readonly text: string | null;
  /** Media, a location and the like. @default the text */
  readonly content?: InboundContent;
  /** The name that the sender shows on the platform. @default none */
  readonly profileName?: string | null;
  /** The provider's id of the message that it answers, `context` on WhatsApp. @default none */
  readonly repliesTo?: string | null;
  /** `null` where the provider omits it. */
  readonly sentAt: Date | null;
  /**
   * `false`: `from` is not proven, as in e-mail without a valid signature, so that words of the text
   * change no consent. @default true
   */
  readonly authentic?: boolean;
  /**
   * `false`: the platform does not count it as a message of the sender to this number, such as a
   * message in a group: it opens no window, and its words opt out but never in. @default true
   */
  readonly opensWindow?: boolean;
  /**
   * The sender's choice in the settings of the platform, which is no message: it changes this consent
   * and nothing else. @default none
   */
  readonly preference?: InboundPreference;
  /** Tenant of the message, where the transport has it. @default the `inbound.tenant` option */
  readonly tenant?: string;
}

/** Event names, for `@OnEvent()`. */
export const MESSAGE_STATUS_CHANGED = 'messaging.message.status';
export const BATCH_COMPLETED = 'messaging.batch.completed';
export const INBOUND_RECEIVED = 'messaging.inbound';
export const VAS_ORDER_OPEN = 'messaging.vas.open';
export const NOTIFICATION_FELL_BACK = 'messaging.notification.fell-back';
export const NOTIFICATION_ENDED = 'messaging.notification.ended';
export const NOTIFICATION_DOUBLED = 'messaging.notification.doubled';

export interface MessagingEvents {
  readonly [MESSAGE_STATUS_CHANGED]: MessageStatusChanged;
  readonly [BATCH_COMPLETED]: BatchCompleted;
  readonly [INBOUND_RECEIVED]: InboundReceived;
  readonly [VAS_ORDER_OPEN]: VasOrderOpen;
  readonly [NOTIFICATION_FELL_BACK]: NotificationFellBack;
  readonly [NOTIFICATION_ENDED]: NotificationEnded;
  readonly [NOTIFICATION_DOUBLED]: NotificationDoubled;
}

/** Both of a send that has tags or metadata, as long as its content is kept. */
export interface EventLabels {
  readonly tags?: readonly string[];
  readonly metadata?: Readonly<Record<string, string>>;
}

/**
 * A message's status rose, or an event came. Published once, after the commit that recorded it. A
 * cancel publishes one for each message that it stopped, also for those that had never started.
 */
export interface MessageStatusChanged extends EventLabels {
  readonly tenant: string;
  readonly channel: Channel;
  readonly batchId: string;
  /** `{batchId}-{position}`. */
  readonly messageId: string;
  /** The provider's id of the message, once it is known. */
  readonly providerId: string | null;
  readonly sender: string;
  /** Address key: the digits of a phone number, an e-mail address, or `platform:{id}`. */
  readonly recipient: string;
  readonly previous: ChannelStatus;
  readonly status: ChannelStatus;
  /** Event of the channel that left the status as it was, such as `delayed`. */
  readonly event?: string;
  /** Further data of the report. */
  readonly details?: ReportDetails;
  readonly errorCode: string | null;
  /** Time of the provider's report; the time of arrival where the report has none. */
  readonly providerTime: Date;
  /**
   * Number of this change: 1 for the message's first change from `sent` on, then 2, …, without gaps.
   * Events such as `delayed` and a cancel are changes, too. 0 for the change to `unknown`, which is
   * below `sent` and has no number.
   */
  readonly sequence: number;
  readonly deliveryReport: boolean;
}

/** A batch of which messages were cancelled before they had started. */
export interface CancelledBatch extends EventLabels {
  readonly tenant: string;
  readonly channel: Channel;
  readonly batchId: string;
  readonly sender: string;
  /** The recipient of its only message; `null`: the batch has several. */
  readonly recipient: string | null;
  /** Messages that had not started. */
  readonly messages: number;
  readonly cancelledAt: Date;
}

/**
 * No message of the batch is `queued` or `sending` any more; reports may follow. Published once for a
 * batch: not again where a call of it is dialled again.
 */
export interface BatchCompleted {
  readonly tenant: string;
  readonly channel: Channel;
  readonly batchId: string;
}

/** An order has had no outcome for a day. Published once, by one process; a person may settle it. */
export interface VasOrderOpen {
  readonly tenant: string;
  readonly orderId: string;
  readonly clientReference: string;
  readonly since: Date;
}

/**
 * `pending → delivered | failed | undecided | cancelled`. A report after the end may still raise it:
 * to `delivered`, and `undecided` to `failed`.
 */
export type NotificationStatus = 'pending' | 'delivered' | 'failed' | 'undecided' | 'cancelled';

/**
 * Why the next channel took over: policy `denied` the message, it `failed`, it was `not_started` in
 * time and was cancelled, or it was `not_delivered` in time and may arrive as well.
 */
export type FallbackReason = 'denied' | 'failed' | 'not_started' | 'not_delivered';

/** A notification went on to its next channel. Published once, after the commit. */
export interface NotificationFellBack extends EventLabels {
  readonly tenant: string;
  readonly notificationId: string;
  readonly reason: FallbackReason;
  /** The channel that did not deliver. */
  readonly from: Channel;
  /** Its error code, such as policy's. */
  readonly errorCode: string | null;
  readonly to: Channel;
  /** The message on the channel `to`. */
  readonly messageId: string;
}

/** A notification has an end. Published again where a later report raises it. */
export interface NotificationEnded extends EventLabels {
  readonly tenant: string;
  readonly notificationId: string;
  readonly status: Exclude<NotificationStatus, 'pending'>;
  readonly previous: NotificationStatus;
  /** The channels whose messages arrived; one, unless a report came after a fallback. */
  readonly deliveredBy: readonly Channel[];
}

/** A further message of a delivered notification arrived. */
export interface NotificationDoubled extends EventLabels {
  readonly tenant: string;
  readonly notificationId: string;
  readonly deliveredBy: readonly Channel[];
}

/**
 * An event of a notification with its name, for `StatusListener.onNotifications()`.
 * @example
 * for (const { event, change } of changes)
 *   if (event === NOTIFICATION_ENDED) await manager.insert(Outbox, { id: change.notificationId });
 */
export type NotificationChange<Name extends NotificationEventName = NotificationEventName> = {
  [Event in Name]: { readonly event: Event; readonly change: MessagingEvents[Event] };
}[Name];

type NotificationEventName =
  | typeof NOTIFICATION_FELL_BACK
  | typeof NOTIFICATION_ENDED
  | typeof NOTIFICATION_DOUBLED;

/** An inbound message was stored. Published once for each message, after the commit. */
export interface InboundReceived extends InboundMessage {
  /** Id of the message in `InboundService`, as long as its text is kept. */
  readonly id: string;
  readonly tenant: string;
  /** Id of the sender's contact in `ContactsService`. */
  readonly contactId: string;
  readonly content: InboundContent;
  readonly profileName: string | null;
  readonly repliesTo: string | null;
  /** Time of the message; the time of arrival where the provider's is missing or in the future. */
  readonly sentAt: Date;
  /** The sender's new consent for the channel, if this message changed it. */
  readonly consent: 'opted_in' | 'opted_out' | null;
}
