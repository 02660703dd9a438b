import type { Channel, MessageClass } from '../message/message.js';

/** A validated send, ready to be stored. Times and durations in milliseconds. */
export interface NewBatch {
  readonly id: string;
  readonly tenant: string;
  readonly channel: Channel;
  readonly lane: string;
  readonly class: MessageClass;
  readonly sender: string;
  /** JSON. */
  readonly content: string;
  readonly deliveryReport: boolean;
  readonly parts: number;
  /** Those policy denied come first. */
  readonly recipients: readonly string[];
  /** Policy's code for each of the first recipients. */
  readonly denied: readonly string[];
  readonly createdAt: number;
  readonly sendAt: number | null;
  readonly validFor: number | null;
  readonly idempotencyKey: string | null;
  readonly fingerprint: string | null;
}
