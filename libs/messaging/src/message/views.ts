import type { DeliveryReport, ReportDetails } from './events.js';
import type { InboundContent } from './content/inbound-content.js';
import type { BatchLabels } from './labels.js';
import type { Channel, MessageContent } from './message.js';
import type { BatchStatus, ChannelStatus } from './status.js';

/**
 * A page of a list; `nextCursor` is `null` on the last one. A page before it may have fewer entries
 * than the limit, even none.
 */
export interface Page<T> {
  readonly data: readonly T[];
  readonly nextCursor: string | null;
}

/** Messages by status; other channels than SMS and WhatsApp have statuses of their own, such as `bounced`. */
export type StatusCounts = Partial<Record<ChannelStatus, number>>;

/** A batch of a list. */
export interface ListedBatch extends BatchLabels {
  /** UUIDv7; `reference_id` in the HTTP interface of a Dundun gateway. */
  readonly id: string;
  readonly tenant: string;
  readonly channel: Channel;
  readonly sender: string;
  /** `null` after retention erased it. */
  readonly content: MessageContent | null;
  readonly deliveryReport: boolean;
  readonly status: BatchStatus;
  readonly createdAt: Date;
  readonly sendAt: Date | null;
  readonly validUntil: Date | null;
  /** Number of unique recipients. */
  readonly recipients: number;
  /** SMS parts of one message, of the longest where texts differ; 0 where the channel has none. */
  readonly parts: number;
  /**
   * Number of messages by status, without zeros. `null` for a batch of more than 1,000 recipients
   * that is still at work; read by its id it has them.
   */
  readonly counts: StatusCounts | null;
  /** Earliest start of what is left, where nothing else is left to start; `null`: it is not deferred. */
  readonly deferredUntil: Date | null;
}

export interface BatchView extends ListedBatch {
  /** Number of messages by status, without zeros. */
  readonly counts: StatusCounts;
  /**
   * Why it waits: the code of the next message that is deferred, else the reason of the hold on its
   * lane; `null`: neither, or its providers pause.
   */
  readonly reason: string | null;
  /** A hold is on its lane: what has not started waits for the release. */
  readonly held: boolean;
}

/** Result of a cancel of a tag. */
export interface CancelledBatches {
  readonly batches: number;
  /** Messages that had not started. */
  readonly messages: number;
}

export interface MessageView {
  /** `{batchId}-{position}`. */
  readonly id: string;
  readonly batchId: string;
  readonly position: number;
  /** Address key: the digits of a phone number, an e-mail address, or `platform:{id}`. */
  readonly recipient: string;
  /** Of its channel: an email may be `bounced`, a call `completed`. */
  readonly status: ChannelStatus;
  /**
   * Error of the last failure, also while the message is tried again, or the code of the policy that
   * deferred it; `null`: none, or it has succeeded since.
   */
  readonly errorCode: string | null;
  /** Number of requests with the message, also of those without an answer. */
  readonly attempts: number;
  /** Earliest start of a queued message that policy or a failure has deferred; `null`: it is not deferred. */
  readonly deferredUntil: Date | null;
}

/** One message with its submit response; its tags and metadata go with the content. */
export interface SubmittedMessage extends MessageView, BatchLabels {
  /**
   * The provider's words of the failure that `errorCode` names, at most 500 characters. Of an error
   * that is no `SubmitFailure`, its class only: the log has its message and stack.
   */
  readonly errorText: string | null;
  /** Content of the message; `null` after retention erased it. */
  readonly content: MessageContent | null;
  /** Sender from the submit response, else as given in the send. */
  readonly sender: string;
  /** The provider of its last submission; `null`: it has not started. */
  readonly provider: string | null;
  /** The provider's id of the message, once it is known. */
  readonly providerId: string | null;
  /** Billing category from the submit response, or in a timeline from a status. */
  readonly category: string | null;
  /** Charged price as a decimal number: from the submit response, or as the timeline's channel knows it. */
  readonly cost: string | null;
  readonly currency: string | null;
  readonly acceptedAt: Date;
  /**
   * When its current submission was planned and stored, before the submission waits for its turn under
   * the rate limit: not the time of the request. `null` while the message is queued.
   */
  readonly sentAt: Date | null;
}

export interface MessageTimeline extends SubmittedMessage {
  /** The submit outcome and every report, oldest first. */
  readonly reports: readonly ReportView[];
  /** Requests with the message, oldest first, at most 100. */
  readonly submissions: readonly SubmissionView[];
  /** The message that this one repeats; `null`: it repeats none, or retention deleted that one. */
  readonly resendOf: ResendView | null;
  /** The message that repeats this one; `null`: none does. */
  readonly resentAs: ResendView | null;
}

/** The other side of a message that an operator sent again. */
export interface ResendView {
  /** Id of the other message. */
  readonly messageId: string;
  /** Time of the repetition. */
  readonly at: Date;
  /** The operator, where one was named and the content of the first message is kept. */
  readonly by: string | null;
}

/** One entry of the append-only report log. */
export interface ReportView {
  readonly batchId: string;
  /** `null`: no message of the batch matches, as for a member of a provider's group. */
  readonly messageId: string | null;
  readonly sender: string;
  /** Address key of the recipient; empty where retention erased it or the report has none. */
  readonly recipient: string;
  /** `null`: a status without a mapping. */
  readonly status: ChannelStatus | null;
  /** The provider; `policy` where it denied the recipient, `operator` where one settled the message. */
  readonly source: string;
  readonly rawStatus: string;
  readonly errorCode: string | null;
  /** Time of the provider's report; the time of arrival where the report has none. */
  readonly providerTime: Date;
  readonly receivedAt: Date;
  /** As in the event of the change or channel event that the report made; `null` where it made none. */
  readonly sequence: number | null;
  /** Further data of the report, such as of a bounce. */
  readonly details: ReportDetails | null;
}

/** A report that names no message of the store; it is matched once it does, or deleted after `reports.giveUpAfter`. */
export interface UnmatchedReport extends Omit<DeliveryReport, 'submissionId' | 'details'> {
  readonly provider: string;
  /** `null`: a status without a mapping, or an event. */
  readonly status: ChannelStatus | null;
  readonly receivedAt: Date;
}

/** A message of a list, also before it has started. */
export interface ListedMessage extends MessageView {
  readonly tenant: string;
  readonly channel: Channel;
  /** The provider of its last submission; `null`: it has not started. */
  readonly provider: string | null;
  readonly sender: string;
  /** As accepted, with its variables; `null` where the content has none or was erased. */
  readonly subject: string | null;
  /** Kind of the content, such as `text`, and its template; `null`: it was erased, or carries a one-time code. */
  readonly kind: string | null;
  readonly template: string | null;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly acceptedAt: Date;
  readonly sendAt: Date | null;
  /** Of the last change of its status, as in the event of the change; 0: none was announced. */
  readonly sequence: number;
  /** ISO 3166 code of the country of the recipient's number; empty: another address, or not known. */
  readonly country: string;
  /** Parts of the text of its batch, without variables; 0 where the channel has none. */
  readonly parts: number;
  /** Charged price as a decimal number, with `currency`; `null`: none is known. */
  readonly cost: string | null;
  readonly currency: string | null;
}

/** One request to a provider, for one or more messages. */
export interface SubmissionView {
  readonly provider: string;
  /** Why `best()` gave it to the provider, in figures; `null`: it did not choose, or by its order alone. */
  readonly reason: string | null;
  /** Number of the last request under its key: a resend is a further one. */
  readonly attempt: number;
  /**
   * When the submission was planned and stored, before it waits for its turn under the rate limit: the
   * request starts later. Several submissions of one plan have the same time, and a resend keeps it.
   */
  readonly startedAt: Date;
  /** `null`: it has no outcome yet. */
  readonly finishedAt: Date | null;
  /** `refused` and `withdrawn` ones go back to the queue. */
  readonly outcome:
    | 'accepted'
    | 'rejected'
    | 'refused'
    | 'unknown'
    | 'withdrawn'
    | 'expired'
    | 'cancelled'
    | null;
  /** Error of the last failure. */
  readonly errorCode: string | null;
  /** The provider's words, as the `errorText` of a message. */
  readonly errorText: string | null;
}

/** Everything that is known of a message, with its recipient's variables filled in. */
export interface MessageRecord extends MessageTimeline, ListedMessage {
  readonly content: MessageContent | null;
  readonly sender: string;
  readonly acceptedAt: Date;
  readonly lane: string;
  /** Id of its last submission; `null`: it has not started. */
  readonly submissionId: string | null;
  readonly parts: number;
  readonly validUntil: Date | null;
  /** A message that waits: when it is due; `null`: it does not wait for a time. */
  readonly waitsUntil: Date | null;
}

/** An inbound message, as long as its text is kept. */
export interface InboundText {
  readonly id: string;
  readonly tenant: string;
  readonly contactId: string;
  readonly channel: Channel;
  /** Address key of the sender. */
  readonly from: string;
  /** The number or address that received it. */
  readonly to: string;
  /** `null`: it has neither a text nor a caption. */
  readonly text: string | null;
  /** Kind of its content, which `MessageHistory.inboundContents()` reads. */
  readonly kind: InboundContent['kind'];
  /** The provider's id; `null`: received by an earlier version, as for the two below. */
  readonly messageId: string | null;
  /** The name that the sender shows on the platform. */
  readonly profileName: string | null;
  /** The provider's id of the message that it answers. */
  readonly repliesTo: string | null;
  /** The provider that brought it; `null`: received by an earlier version. */
  readonly provider: string | null;
  readonly receivedAt: Date;
}

/** Of a conversation with a contact: a message to it, or one from it. */
export type ConversationMessage =
  | { readonly direction: 'out'; readonly message: ListedMessage }
  | { readonly direction: 'in'; readonly message: InboundText };

/** An inbound message with its content, as long as its text is kept. */
export interface InboundRecord extends InboundText {
  readonly content: InboundContent;
}

/** Changes since a read; see `MessageHistory.changes()`. */
export interface Changes {
  readonly cursor: string;
  readonly changed: boolean;
  /** Ids of batches accepted since, newest first, at most 100. */
  readonly batches: readonly string[];
  /** Ids of messages with a new status or event since, at most 500. */
  readonly messages: readonly string[];
  /** More changed than is named. */
  readonly more: boolean;
}

/** Milliseconds from the time when a message was due. */
export interface Latency {
  /** Number of messages behind it. */
  readonly messages: number;
  readonly toSent: Percentiles | null;
  readonly toDelivered: Percentiles | null;
}

export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
}

/** A configured way out, over all processes. */
export interface ProviderHealth {
  readonly name: string;
  /** Its channels; `null`: every one that a route gives it. */
  readonly channels: readonly Channel[] | null;
  /** Most messages in milliseconds; `null`: unlimited. */
  readonly rateLimit: { readonly max: number; readonly per: number } | null;
  /** Messages that it accepted per second, over the last ten. */
  readonly rate: number;
  /** Requests without an outcome. */
  readonly inFlight: number;
  /** Most requests at a time of one process; `null`: unlimited. */
  readonly connections: number | null;
  /** Connections that all processes hold and may hold, where it limits them; `null`: it does not. */
  readonly places: { readonly taken: number; readonly most: number } | null;
  /**
   * `paused`: it has said that it accepts nothing, and rests; `probing`: the rest is over, and one message
   * finds out whether it accepts again.
   */
  readonly state: 'up' | 'paused' | 'probing';
  /** Code of the pause, such as `unauthorized`; `null`: it is up. */
  readonly pauseReason: string | null;
  /** Reason and remedy in words. */
  readonly pauseDetail: string | null;
  readonly pausedUntil: Date | null;
}

/** Messages by the hour or day in which they were accepted. */
export interface MessageStats {
  readonly start: Date;
  readonly accepted: number;
  /** Messages whose log has the status or event at least once, without zeros. */
  readonly counts: Readonly<Record<string, number>>;
}

/** Counts of messages; see `MessageHistory.stats()`. */
export interface HistoryStats {
  /** One for each hour or day of the period, also without messages. */
  readonly slots: readonly MessageStats[];
  /** Older messages of the period are not counted; `null`: all are. */
  readonly countedSince: Date | null;
}

/** Messages of a channel by the hour or day in which they were accepted. */
export interface MessageOutcomes {
  readonly start: Date;
  readonly channel: Channel;
  readonly accepted: number;
  /** Those that a provider accepted, whatever became of them. */
  readonly sent: number;
  /** By their present status, without zeros: together the accepted ones. */
  readonly outcomes: readonly OutcomeCount[];
}

export interface OutcomeCount {
  readonly status: ChannelStatus;
  /** Of messages that failed, where it is known. */
  readonly errorCode: string | null;
  readonly messages: number;
}

/** Counts of messages; see `MessageHistory.presentStatuses()`. */
export interface PresentStatuses {
  /** Hours or days with messages of the channel. */
  readonly slots: readonly MessageOutcomes[];
  /** Older messages of the period are not counted; `null`: all are. */
  readonly countedSince: Date | null;
}

/** Tenants whose data a read covers, at most 100. */
export type Tenants = readonly string[] | 'all';

export interface TenantOption {
  /** @default '' */
  readonly tenant?: string;
}

export interface ListOptions extends TenantOption {
  readonly cursor?: string;
  /** @default 100, at most 1000 */
  readonly limit?: number;
}

export interface ReportFilter extends ListOptions {
  /** At most 100. */
  readonly batchIds?: readonly string[];
  readonly idempotencyKey?: string;
  readonly to?: string;
  readonly status?: ChannelStatus;
  /** Only reports received at or after this time. */
  readonly since?: Date;
}

export interface MessageFilter extends ListOptions {
  readonly batchId?: string | undefined;
  /** Address of the recipient. */
  readonly to?: string | undefined;
  /** Address of the sender. */
  readonly from?: string | undefined;
  readonly status?: ChannelStatus | undefined;
  readonly tag?: string | undefined;
  /** Accepted at or after this time. */
  readonly since?: Date | undefined;
  /** Accepted before this time. */
  readonly until?: Date | undefined;
}

export interface TenantsOption {
  /** @default 'all' */
  readonly tenants?: Tenants | undefined;
}

export interface HistoryFilter extends Omit<MessageFilter, 'tenant' | 'batchId'>, TenantsOption {
  readonly channel?: Channel | undefined;
  /** Name of the provider of the last submission. */
  readonly provider?: string | undefined;
  /** Error code of the message. */
  readonly errorCode?: string | undefined;
  /** Id of a batch or message, or the provider's id of a message or submission. */
  readonly reference?: string | undefined;
  /** 3 to 15 digits that the number of the recipient has one after the other. */
  readonly toPart?: string | undefined;
  /**
   * `shown`: `toPart` is compared with the digits alone that `partialAddress()` shows, so that a search tells a
   * reader of masked numbers nothing of the others. @default whole
   */
  readonly toPartOf?: 'whole' | 'shown' | undefined;
  /** ISO 3166 code of the country of the recipient's number, such as `NG`. */
  readonly country?: string | undefined;
  /** 2 to 100 characters that the subject has, in any case. */
  readonly subject?: string | undefined;
}

/** Number of messages that match a filter. */
export interface MessageTotal {
  readonly messages: number;
  /** There may be more: the count ended at its limit. */
  readonly more: boolean;
}

export interface BatchFilter extends Omit<ListOptions, 'tenant'>, TenantsOption {
  readonly channel?: Channel | undefined;
  readonly status?: BatchStatus | undefined;
}

export interface HistoryStatsOptions extends Omit<StatsOptions, 'tenant'>, TenantsOption {
  readonly channel?: Channel | undefined;
  /** Counts the newest batches only, until they have so many messages. @default all */
  readonly atMost?: number | undefined;
}

export interface StatsOptions extends TenantOption {
  readonly since: Date;
  /** @default now */
  readonly until?: Date | undefined;
  /** In UTC. */
  readonly interval: 'hour' | 'day';
  readonly tag?: string | undefined;
  /** Domain of the sender. */
  readonly domain?: string | undefined;
}
