import type { Address, AddressKind } from '../../message/address.js';
import { MessagingError } from '../../message/errors.js';
import type { FallbackReason, NotificationStatus } from '../../message/events.js';
import type { Channel } from '../../message/message.js';
import type { ChannelStatus } from '../../message/status.js';
import type { Template } from '../../message/templates.js';
import type { Duration } from '../../ports/option-schema.js';
import type { EmailAddressees } from '../email/email-recipients.js';
import type { EmailMessage } from '../email/email.service.js';
import type { ChannelMessage, Receipt, SendOptions } from '../send.js';
import type { SmsMessage } from '../sms/sms.service.js';
import type { VoiceMessage } from '../voice/voice.service.js';
import type { WhatsAppTemplate, WhatsAppText } from '../whatsapp/whatsapp.service.js';

type Addressing = 'to' | 'sendAt' | 'deliveryReport' | 'tags' | 'metadata';

/**
 * The message of each channel, as its service takes it, without the recipient. An app adds its own
 * channels with `{ from, content }`, or with the fields that `messageOf` of the definition reads:
 * @example
 * declare module '@dundun/messaging' {
 *   interface NotificationMessages {
 *     readonly telegram?: {
 *       readonly from?: string;
 *       readonly content: { readonly kind: 'text'; readonly text: string };
 *     };
 *   }
 * }
 */
export interface NotificationMessages {
  readonly sms?: Omit<SmsMessage, Addressing>;
  readonly whatsapp?:
    | Omit<WhatsAppText, Addressing>
    | Omit<WhatsAppTemplate, Addressing>
    | (Omit<WhatsAppTemplate, Addressing | 'template' | 'language'> & {
        readonly template: Template;
        /** @default the template's language */
        readonly language?: string;
      });
  /** Without attachments: they would have to be stored for a channel that mostly sends nothing. */
  readonly email?: Omit<EmailMessage, Addressing | keyof EmailAddressees | 'attachments'>;
  readonly voice?: Omit<VoiceMessage, Addressing>;
}

/** When the next channel takes over from one whose message has not failed. */
export interface NotificationFallback {
  /**
   * Time, from 1 s, that each channel but the last has, from its message's acceptance or `sendAt`. A
   * message that has not started by then is cancelled and never starts later.
   * @default unlimited: only a message that failed falls back
   */
  readonly after?: Duration;
  /**
   * The status that keeps the next channel from taking over once `after` is over. `'sent'`: the message
   * was sent, or may have been; the recipient then never gets both, and gets nothing where the
   * provider stays silent. `'delivered'`: only a report that it arrived. Silence then falls back, and
   * a message whose report is late or missing arrives **twice**, once on each channel.
   * @default 'sent'
   */
  readonly unless?: 'sent' | 'delivered';
}

/**
 * One notification to one person over several channels, of which the next takes over where policy
 * denies a message or it fails, and with `fallback` also after a time.
 * @example
 * await notifications.send(
 *   {
 *     via: ['whatsapp', 'sms'],
 *     whatsapp: { template: 'order_update', language: 'en', params: ['Ada', '#17'] },
 *     sms: { from: 'ACME', body: 'Hi Ada, order #17 is on its way' },
 *     fallback: { after: '2m', unless: 'delivered' },
 *   },
 *   '+2348012345678',
 * );
 */
export interface NewNotification
  extends NotificationMessages, Pick<ChannelMessage, 'tags' | 'metadata'> {
  /** The channels in their order, each once; each has its message under its own name. */
  readonly via: readonly [Channel, ...Channel[]];
  readonly fallback?: NotificationFallback;
  /** Earliest time of the first message; a past time means at once. */
  readonly sendAt?: Date;
}

/** One address, for channels that take its kind, or one of each kind. */
export type NotificationRecipient =
  | string
  | Address
  | { readonly [Kind in AddressKind]?: string | undefined };

export interface NotificationSendOptions extends SendOptions {
  /**
   * Longest time, from the acceptance or `sendAt`, in which a message may start: on any channel.
   * @default unlimited
   */
  readonly validFor?: Duration;
}

/** Result of a send, once the notification is durable (or part of the caller's transaction). */
export interface NotificationReceipt extends Pick<Receipt, 'createdAt' | 'replayed'> {
  /** UUIDv7 of the notification. */
  readonly id: string;
  /** The first channel whose message policy allowed at the send. */
  readonly channel: Channel;
  /** The message there: `{batchId}-0`, as events have it. */
  readonly messageId: string;
}

/** One channel of a notification. */
export interface NotificationStep {
  readonly channel: Channel;
  /**
   * Status of its message. `denied`: policy denied it and nothing was stored. `waiting`: it has not
   * begun. `unused`: it did not begin and never will.
   */
  readonly status: ChannelStatus | 'denied' | 'waiting' | 'unused';
  /** `{batchId}-0`, as events and `channel('…').message()` have it; `null`: it has none. */
  readonly messageId: string | null;
  readonly errorCode: string | null;
  /** When it began; `null`: it has not. */
  readonly startedAt: Date | null;
  /** Why it took over from the step before; `null`: the first, or it has not begun. */
  readonly reason: FallbackReason | null;
}

/** A notification as `NotificationService.find()` reads it. */
export interface NotificationView {
  readonly id: string;
  readonly status: NotificationStatus;
  /** One for each channel, in their order. */
  readonly steps: readonly NotificationStep[];
  /** The channels whose messages arrived; more than one where the recipient got it twice. */
  readonly deliveredBy: readonly Channel[];
  readonly createdAt: Date;
  /** When it got its first end; `null`: it is pending. */
  readonly endedAt: Date | null;
}

export class NotificationNotFoundError extends MessagingError {
  constructor() {
    super('not_found', 'There is no such notification');
  }
}

/** The notification has ended, or its last message may have been sent: it cannot be cancelled. */
export class NotificationEndedError extends MessagingError {
  constructor(readonly status: NotificationStatus) {
    super(
      'already_sent',
      status === 'pending'
        ? 'Nothing of the notification is left to cancel: its last message has started'
        : `The notification is ${status}: nothing of it is left to cancel`,
    );
  }
}
