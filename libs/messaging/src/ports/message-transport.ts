import type { DeliveryReport } from '../message/delivery-report.js';
import type { InboundMessage } from '../message/inbound-message.js';
import type { Channel, MessageContent } from '../message/message.js';
import type { TraceContext } from './tracing.js';

/** One request to the provider. A resend repeats exactly this, under the same `id`. */
export interface Submission {
  /** `{batchId}-s{n}`: also the idempotency key on the wire. */
  readonly id: string;
  readonly batchId: string;
  readonly tenant: string;
  readonly channel: Channel;
  readonly sender: string;
  readonly content: MessageContent;
  /** Address keys, such as digits with country code; at most `maxRecipients`. */
  readonly recipients: readonly string[];
  readonly deliveryReport: 'none' | 'yes';
  /** 1 for the first try. */
  readonly attempt: number;
  /** When it was first about to leave; a resend has the same. */
  readonly firstSentAt: Date;
  /** The trace it belongs to, as headers for the provider; not part of what a resend repeats. */
  readonly trace?: TraceContext | undefined;
}

/** The provider accepted the submission. */
export interface SubmissionAccepted {
  /** The provider's reference of the whole submission. */
  readonly reference: string;
  /** The provider's id of each message, in the order of `recipients`, where it gives them. */
  readonly messageIds?: readonly string[];
  /** Recipients of this submission the provider refused while accepting the others. */
  readonly rejected?: ReadonlyMap<string, string>;
  /** Whatever else the answer told (cost, currency, category, sender); stored as JSON. */
  readonly details?: Readonly<Record<string, string | number | null>>;
}

/** A submission that was sent, or may have been: what its reports are asked by. */
export interface SentSubmission {
  readonly submissionId: string;
  readonly channel: Channel;
  /** The provider's reference; `null` where it was never learned. */
  readonly reference: string | null;
  /** Digits with country code, as submitted. */
  readonly recipients: readonly string[];
  readonly firstSentAt: Date;
}

/** Where a transport that hears of deliveries by itself (a socket, a simulation) hands them in; resolves after the commit. */
export type ReportSink = (reports: readonly DeliveryReport[]) => Promise<void>;

/** Where such a transport hands in what people wrote to us; resolves after the commit. */
export type InboundSink = (messages: readonly InboundMessage[]) => Promise<void>;

export interface TransportCapabilities {
  /** What it can send. @default whatever it is given */
  readonly channels?: readonly Channel[];
  /** Recipients one request may carry. */
  readonly maxRecipients: number;
  /** How long the provider honours an idempotency key, in milliseconds; 0: not at all. */
  readonly idempotencyWindow: number;
  /**
   * Requests it carries at once; more, over all lanes of a process, are not handed to it: they would wait
   * within it, past rate and policy. @default any number
   */
  readonly connections?: number;
  /** It sends `submission.trace` on: instrumented HTTP clients under it must not do so again. @default false */
  readonly passesTraceOn?: boolean;
}

/** Hands messages to a provider. Implementations run `messageTransportContract()`, and may implement Nest's lifecycle hooks. */
export interface MessageTransport {
  /** Stable name, stored with every submission and report. */
  readonly name: string;
  readonly capabilities: TransportCapabilities;
  /**
   * Hand one submission over. Resolves only when the provider said it has it.
   * @param signal tells to give up; submissions that start together share it, so take your listener off
   * once yours has ended
   * @throws a {@link SubmitFailure} that says what is known; anything else counts as uncertain.
   */
  submit(submission: Submission, signal: AbortSignal): Promise<SubmissionAccepted>;
  /**
   * Ask for reports of earlier submissions, at most 100 at a time.
   * @param signal tells to give up: what was learned by then counts if it is told within a second
   */
  fetchReports?(
    submissions: readonly SentSubmission[],
    signal: AbortSignal,
  ): Promise<readonly DeliveryReport[]>;
  /** Called once before the first submission. */
  listen?(sink: ReportSink, inbound?: InboundSink): void;
}

/** Injection token of the transports by the name of their provider: a `ReadonlyMap<string, MessageTransport>`. */
export const MESSAGE_TRANSPORTS = Symbol('MESSAGE_TRANSPORTS');
