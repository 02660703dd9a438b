import type { HttpService } from '@nestjs/axios';
import type { SenderKind } from '../message/channel-definition.js';
import type { ChannelRegistry } from '../message/channel-registry.js';
import type { Attachment, Personal } from '../message/email-content.js';
import type { DeliveryReport, InboundMessage } from '../message/events.js';
import type { Channel, MessageContent } from '../message/message.js';
import type { VasProduct } from '../message/vas.js';
import type { Clock } from './clock.js';
import type { TraceContext } from './tracing.js';
import type { Token } from './token.js';

/** One request to the provider. A resend repeats it unchanged, under the same `id`. */
export interface Submission {
  /** `{batchId}-s{n}`, also the idempotency key of the request. */
  readonly id: string;
  readonly batchId: string;
  readonly tenant: string;
  readonly channel: Channel;
  readonly sender: string;
  readonly content: MessageContent;
  /** Address keys, such as digits with country code; at most `maxRecipients`. */
  readonly recipients: readonly string[];
  /** Names and variables in the order of `recipients`, where the send has any. */
  readonly personal?: readonly (Personal | undefined)[];
  /** The attachments of the content with their bytes, where it has any. */
  readonly attachments?: readonly Attachment[];
  /** Our ids of the messages, `{batchId}-{position}`, in the order of `recipients`. */
  readonly messageIds?: readonly string[];
  readonly deliveryReport: 'none' | 'yes';
  /** 1 for the first try. */
  readonly attempt: number;
  /** Time from which the batch could be sent: the same in all of its submissions. */
  readonly dueAt: Date;
  /** Time when the submission first started; a resend has the same time. */
  readonly firstSentAt: Date;
  /** Trace of the submission, as headers for the provider; a resend may have another. */
  readonly trace?: TraceContext | undefined;
}

export interface SubmissionAccepted {
  /** The provider's reference of the whole submission. */
  readonly reference: string;
  /** The provider's ids, in the order of `recipients`, where it returns them. */
  readonly messageIds?: readonly string[];
  /** Recipients that the provider refused while it accepted the others, with the error code. */
  readonly rejected?: ReadonlyMap<string, string>;
  /** Further data of the answer (cost, currency, category, sender); stored as JSON. */
  readonly details?: Readonly<Record<string, string | number | null>>;
}

/** A submission that was sent, or may have been, for a poll of its reports. */
export interface SentSubmission extends Pick<Submission, 'channel' | 'recipients' | 'firstSentAt'> {
  readonly submissionId: string;
  /** The provider's reference; `null` where no answer gave one. */
  readonly reference: string | null;
  /** 1 for the first try. @default 1 */
  readonly attempt?: number;
  /** What was sent, on channels whose messages have an effect that cannot be taken back. */
  readonly content?: MessageContent;
}

/** For a transport that receives reports by itself, such as a socket; resolves after the commit. */
export type ReportSink = (reports: readonly DeliveryReport[]) => Promise<void>;

/** Takes inbound messages from such a transport; resolves after the commit. */
export type InboundSink = (messages: readonly InboundMessage[]) => Promise<void>;

export interface TransportCapabilities {
  /** Kinds of SMS senders that the provider takes. @default every kind */
  readonly senders?: readonly SenderKind[];
  /** Channels that the transport carries. @default every channel */
  readonly channels?: readonly Channel[];
  /** Most recipients of one request. */
  readonly maxRecipients: number;
  /** How long the provider honours an idempotency key, in milliseconds; 0: it ignores keys. */
  readonly idempotencyWindow: number;
  /**
   * Most concurrent requests over all lanes of a process; others wait outside the transport, where
   * rate and policy still apply. @default no limit
   */
  readonly connections?: number;
  /** Time limit of one request, in milliseconds. @default the option `dispatch.timeout` */
  readonly timeout?: number;
  /** The transport sends `submission.trace`, so HTTP clients below it must not. @default false */
  readonly passesTraceOn?: boolean;
}

/** Implementations run `messageTransportContract()`. Nest's lifecycle hooks are called. */
export interface MessageTransport {
  /** Stable name, stored with every submission and report. */
  readonly name: string;
  readonly capabilities: TransportCapabilities;
  /**
   * Resolves only when the provider has confirmed the submission. An answer without a reference, or
   * with other than one id for each recipient, counts as uncertain.
   * @param signal aborts the request. Submissions share it: remove your listener at the end
   * @throws a {@link SubmitFailure} that describes the outcome; its table says which class needs
   * which proof, and any other error counts as uncertain
   */
  submit(submission: Submission, signal: AbortSignal): Promise<SubmissionAccepted>;
  /**
   * Polls reports of at most 100 earlier submissions.
   * @param signal aborts the poll; reports returned within a second after it still count
   */
  fetchReports?(
    submissions: readonly SentSubmission[],
    signal: AbortSignal,
  ): Promise<readonly DeliveryReport[]>;
  /** Products of an operator of airtime and data. */
  products?(signal: AbortSignal): Promise<readonly VasProduct[]>;
  /** Called once before the first submission; a rejection stops the boot. */
  listen?(sink: ReportSink, inbound?: InboundSink): void | Promise<void>;
}

export interface TransportContext {
  readonly channels: ChannelRegistry;
  readonly http: HttpService;
  readonly clock: Clock;
}

export type TransportFactory = (context: TransportContext) => MessageTransport;

/** The transports by provider. */
export type Transports = ReadonlyMap<string, MessageTransport>;

/** Injection token of the {@link Transports}. */
export const MESSAGE_TRANSPORTS = Symbol('MESSAGE_TRANSPORTS') as Token<Transports>;
