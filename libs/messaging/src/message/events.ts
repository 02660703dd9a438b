import type { Channel } from './message.js';
import type { MessageStatus } from './status.js';

/** Event names, for `@OnEvent()`. */
export const MESSAGE_STATUS_CHANGED = 'messaging.message.status';
export const BATCH_COMPLETED = 'messaging.batch.completed';

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
  readonly previous: MessageStatus;
  readonly status: MessageStatus;
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
