import type { ChannelStatus } from './status.js';

/** One delivery report as a parser or a poll yields it, before it is matched with a message. */
export interface DeliveryReport {
  /** Our id of the submission, where the provider was asked by it or gives it back. */
  readonly submissionId?: string | undefined;
  /** The provider's reference of the submission, where it gives one. */
  readonly reference: string | null;
  /** The provider's id of this one message, where it gives one. */
  readonly messageId: string | null;
  /** Address key of the recipient, such as digits with country code. */
  readonly recipient: string | null;
  /** `null`: a status without a mapping; it is kept and counted, and changes nothing. */
  readonly status: ChannelStatus | null;
  /** The provider's own word for the status. */
  readonly rawStatus: string;
  readonly errorCode: string | null;
  /** When the SMSC made the report; `null` where it does not give it. */
  readonly providerTime: Date | null;
}
