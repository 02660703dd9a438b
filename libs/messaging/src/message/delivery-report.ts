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
  /** `null`: a status without a mapping; the report is stored and changes no status. */
  readonly status: ChannelStatus | null;
  /** The provider's own word for the status. */
  readonly rawStatus: string;
  readonly errorCode: string | null;
  /** When the SMSC made the report; `null` where the provider omits it. */
  readonly providerTime: Date | null;
}
