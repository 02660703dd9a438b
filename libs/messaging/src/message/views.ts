import type { Channel, MessageContent } from './message.js';
import type { BatchStatus, ChannelStatus, MessageStatus, ReportedStatus } from './status.js';

/** A page of a list; `nextCursor` is `null` on the last one. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly nextCursor: string | null;
}

export type StatusCounts = Partial<Record<MessageStatus, number>>;

/** A batch read back. */
export interface BatchView {
  /** UUIDv7; the `reference_id` of the interface. */
  readonly id: string;
  readonly tenant: string;
  readonly channel: Channel;
  readonly sender: string;
  /** `null` once retention erased it. */
  readonly content: MessageContent | null;
  readonly deliveryReport: 'none' | 'yes';
  readonly status: BatchStatus;
  readonly createdAt: Date;
  readonly sendAt: Date | null;
  readonly validUntil: Date | null;
  /** Unique recipients. */
  readonly recipients: number;
  /** SMS parts of one message; 0 where the channel has none. */
  readonly parts: number;
  /** Messages by status, zeros left out. */
  readonly counts: StatusCounts;
}

/** One recipient's message read back. */
export interface MessageView {
  /** `{batchId}-{position}`. */
  readonly id: string;
  readonly batchId: string;
  readonly position: number;
  /** Address key of the recipient: the digits of a phone number, an e-mail address, or `platform:{id}`. */
  readonly recipient: string;
  readonly status: MessageStatus;
  readonly errorCode: string | null;
  readonly attempts: number;
}

/** One message, with the answer to its submit. */
export interface SubmittedMessage extends MessageView {
  /** Content that was or will be sent; `null` once retention erased it. */
  readonly content: MessageContent | null;
  /** From the answer, else as it was sent. */
  readonly sender: string;
  /** The provider's id of the message, once it is known. */
  readonly providerId: string | null;
  /** Billing category, where the answer gave it. */
  readonly category: string | null;
  /** Price charged, a decimal number, where the answer gave it. */
  readonly cost: string | null;
  readonly currency: string | null;
  readonly acceptedAt: Date;
  /** When it was first about to leave, with the submission it is in; `null` before that, and while it is queued again. */
  readonly sentAt: Date | null;
}

/** The life of one message. */
export interface MessageTimeline extends SubmittedMessage {
  /** The submit's outcome and every report, oldest first; `sequence` numbers those that moved the status. */
  readonly reports: readonly ReportView[];
}

/** One entry of the append-only report log. */
export interface ReportView {
  readonly batchId: string;
  /** `null`: none of the batch's messages is meant, such as a member of a group only the provider knows. */
  readonly messageId: string | null;
  readonly sender: string;
  /** Address key of the recipient; empty where retention erased it or the report named none. */
  readonly recipient: string;
  /** `null`: a status without a mapping. */
  readonly status: ReportedStatus | null;
  readonly rawStatus: string;
  readonly errorCode: string | null;
  /** Time of the provider's report, else of its arrival. */
  readonly providerTime: Date;
  readonly receivedAt: Date;
  /** Which change of the message's status this was; `null` where it moved nothing. */
  readonly sequence: number | null;
}

export interface ReportFilter {
  readonly tenant?: string;
  /** At most 100. */
  readonly batchIds?: readonly string[];
  /** The key the batch was sent with. */
  readonly idempotencyKey?: string;
  readonly to?: string;
  readonly status?: ChannelStatus;
  /** Received at or after. */
  readonly since?: Date;
  readonly cursor?: string;
  /** @default 100, at most 1000 */
  readonly limit?: number;
}
