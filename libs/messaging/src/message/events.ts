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
  /** Address key: the digits of a phone number, an e-mail address, or `platform:{id}`. */
  readonly recipient: string;
  readonly previous: ChannelStatus;
  readonly status: ChannelStatus;
  readonly errorCode: string | null;
  /** Time of the provider's report; the time of arrival where the report has none. */
  readonly providerTime: Date;
  /** 1 for the first change of this message from `sent` on, then 2, … */
  readonly sequence: number;
  readonly deliveryReport: 'none' | 'yes';
}

/** No message of the batch is `queued` or `sending` any more; reports may follow. */
export interface BatchCompleted {
  readonly tenant: string;
  readonly channel: Channel;
  readonly batchId: string;
}

/** An inbound message was stored. Published once for each message, after the commit. */
export interface InboundReceived extends InboundMessage {
  readonly tenant: string;
  /** Id of the sender's contact in `ContactsService`. */
  readonly contactId: string;
  /** Time of the message; the time of arrival where the provider's is missing or in the future. */
  readonly sentAt: Date;
  /** The sender's new consent for the channel, if this message changed it. */
  readonly consent: 'opted_in' | 'opted_out' | null;
}
