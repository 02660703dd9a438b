import type { InboundMessage } from './inbound-message.js';
import type { Channel } from './message.js';
import type { ChannelStatus } from './status.js';

/** Event names, for `@OnEvent()`. */
export const MESSAGE_STATUS_CHANGED = 'messaging.message.status';
export const BATCH_COMPLETED = 'messaging.batch.completed';
export const INBOUND_RECEIVED = 'messaging.inbound';

/** A message's status rose. Published once, after the commit that raised it. */
export interface MessageStatusChanged {
  readonly tenant: string;
  readonly channel: Channel;
  readonly batchId: string;
  /** `{batchId}-{position}`. */
  readonly messageId: string;
  /** The provider's id of the message, once it is known. */
  readonly providerId: string | null;
  readonly sender: string;
  /** Digits with country code. */
  readonly recipient: string;
  readonly previous: ChannelStatus;
  readonly status: ChannelStatus;
  readonly errorCode: string | null;
  /** When the SMSC reported it, else when we learned it. */
  readonly providerTime: Date;
  /** 1 for the first change of this message from `sent` on, then 2, … */
  readonly sequence: number;
  /** What the batch asked for. */
  readonly deliveryReport: 'none' | 'yes';
}

/** Every recipient of the batch has left `queued` and `sending`; reports may still come. */
export interface BatchCompleted {
  readonly tenant: string;
  readonly channel: Channel;
  readonly batchId: string;
}

/** Somebody wrote to us. Published once for each message, after the commit that took it. */
export interface InboundReceived extends InboundMessage {
  readonly tenant: string;
  /** Who wrote, as `ContactsService` knows them. */
  readonly contactId: string;
  /** When they wrote, or, where the provider does not say or is ahead, when we learned it. */
  readonly sentAt: Date;
  /** What this message changed their consent for the channel to. */
  readonly consent: 'opted_in' | 'opted_out' | null;
}
