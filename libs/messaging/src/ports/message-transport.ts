import type { InjectionToken, Type } from '@nestjs/common';
import type { Readable } from 'node:stream';
import type { SenderKind } from '../message/channel-definition.js';
import type { ChannelRegistry } from '../message/channel-registry.js';
import type { Attachment, Personal } from '../message/content/email-content.js';
import type { DeliveryReport, InboundMessage } from '../message/events.js';
import type { InboundFile } from '../message/content/inbound-content.js';
import type { BatchLabels } from '../message/labels.js';
import type { Channel, MessageContent } from '../message/message.js';
import type { PlatformTemplate } from '../message/templates.js';
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
  /** A text is that of these recipients, with their variables filled in. */
  readonly content: MessageContent;
  /** Address keys, such as digits with country code; at most `maxRecipients`. */
  readonly recipients: readonly string[];
  /** Names and variables of an email in the order of `recipients`, where the send has any. */
  readonly personal?: readonly (Personal | undefined)[];
  /** Tags and metadata of the send, where it has any. */
  readonly labels?: BatchLabels;
  /** The attachments of the content with their bytes, where it has any. */
  readonly attachments?: readonly Attachment[];
  /** Our ids of the messages, `{batchId}-{position}`, in the order of `recipients`. */
  readonly messageIds?: readonly string[];
  readonly deliveryReport: boolean;
  /** Number of this request with the messages, 1 for the first; a resend is a further one. */
  readonly attempt: number;
  /** Time from which the batch could be sent: the same in all of its submissions. */
  readonly dueAt: Date;
  /** Time when the submission was first planned, before it waits for its turn; a resend has the same time. */
  readonly firstSentAt: Date;
  /** End of the `validFor` of the send, where it has any. */
  readonly validUntil?: Date;
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
  /**
   * Those of `rejected` that another provider may take, as after an `UnroutableFailure`: they leave by
   * the next provider of their route, and are `rejected` where there is none. @default none
   */
  readonly unroutable?: ReadonlySet<string>;
  /**
   * By recipient, the number by which the platform knows its person, where that is another one: the
   * two are one person from then on. @default none
   */
  readonly knownAs?: ReadonlyMap<string, string>;
  /** Further data of the answer (cost, currency, category, sender); stored as JSON. */
  readonly details?: Readonly<Record<string, string | number | null>>;
}

/** A file for the platform. */
export interface MediaUpload {
  readonly content: Buffer;
  /** MIME type, such as `image/png`. */
  readonly contentType: string;
  /** @default a name by the type */
  readonly filename?: string;
}

/** A file of an inbound message, for {@link MessageTransport.fetchMedia}. */
export interface MediaRequest extends Pick<InboundMessage, 'channel' | 'messageId' | 'to'> {
  readonly file: InboundFile;
}

/** A file of an inbound message, while it is fetched. */
export interface InboundMedia {
  /** The bytes as they come: read or destroy it. It fails with an `InboundMediaError`. */
  readonly stream: Readable;
  /** MIME type; `null` where the provider omits it, as for all below. */
  readonly contentType: string | null;
  readonly filename: string | null;
  /** Bytes. */
  readonly size: number | null;
}

/** A report of a part of a long message. */
export interface PartReport extends Pick<
  DeliveryReport,
  'status' | 'rawStatus' | 'errorCode' | 'providerTime'
> {
  /** The provider's id of the part. */
  readonly id: string;
}

/** A submission that was sent, or may have been, for a poll of its reports. */
export interface SentSubmission extends Pick<Submission, 'channel' | 'recipients' | 'firstSentAt'> {
  readonly submissionId: string;
  /** Sender of the message, for a poll. */
  readonly sender?: string;
  /** The provider's reference; `null` where no answer gave one. */
  readonly reference: string | null;
  /** Reports of parts, where the reference is several ids with spaces between them. */
  readonly parts?: readonly PartReport[];
  /** 1 for the first try. @default 1 */
  readonly attempt?: number;
  /** Content of the message, on channels whose messages have an effect that cannot be taken back. */
  readonly content?: MessageContent;
}

/** A message in a provider's own list, which may be one of ours whose answer was lost. */
export interface ProviderMessage {
  /** The provider's id and status of it, and its recipient. */
  readonly report: DeliveryReport & { readonly messageId: string; readonly recipient: string };
  /** Digits of a number, or a name; `null`: the provider chose it. */
  readonly sender: string | null;
  readonly text: string;
  /** When the provider took it, by its clock; it may lack the seconds. */
  readonly takenAt: Date;
}

/** For a transport that receives reports by itself, such as a socket; resolves after the commit. */
export type ReportSink = (reports: readonly DeliveryReport[]) => Promise<void>;

/** Takes inbound messages from such a transport; resolves after the commit. */
export type InboundSink = (messages: readonly InboundMessage[]) => Promise<void>;

/** Connections to a provider that limits those of all processes together. */
export interface ConnectionPlaces {
  /** Connections that this process makes. */
  readonly needed: number;
  /** Connections that the provider allows. */
  readonly most: number;
  /**
   * The process has its places from now on: connect.
   * @param isLeased false once a place may be lost: nothing may be sent any more
   */
  connect(isLeased: () => boolean): void;
  /** Ends every connection within `limit` milliseconds; `connect()` may follow. */
  disconnect(limit: number): Promise<void>;
}

/** Money that an account has at its provider. */
export interface ProviderBalance {
  /** A decimal number, such as `12.5000`. */
  readonly amount: string;
  /** ISO 4217; `null`: the provider does not name it. */
  readonly currency: string | null;
}

/** What a provider tells of the account that it knows by the credential. */
export interface ProviderAccount {
  /** `null`: the provider tells none. */
  readonly balance: ProviderBalance | null;
}

export interface TransportCapabilities {
  /** Kinds of SMS senders that the provider takes. @default every kind */
  readonly senders?: readonly SenderKind[];
  /** Channels that the transport carries. @default every channel */
  readonly channels?: readonly Channel[];
  /** Most recipients of one request. */
  readonly maxRecipients: number;
  /** Most recipients of a request whose email shows them to each other. @default maxRecipients */
  readonly maxShared?: number;
  /** How long the provider honours an idempotency key, in milliseconds; 0: it ignores keys. */
  readonly idempotencyWindow: number;
  /**
   * Channels whose submissions `fetchReports()` finds by our `submissionId` alone. A submission
   * without an answer is then asked after before it is resent; reports of all of its recipients prove
   * that the provider has it. @default none
   */
  readonly reportsByKey?: readonly Channel[];
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
   * @param written call it when the request goes to the socket: a rate limit counts it then, where the
   * connection had to be opened first. It is given where a rate limit applies
   * @throws a `SubmitFailure` that describes the outcome; its table says which class needs
   * which proof, and any other error counts as uncertain
   */
  submit(
    submission: Submission,
    signal: AbortSignal,
    written?: () => void,
  ): Promise<SubmissionAccepted>;
  /**
   * Polls reports of at most 100 earlier submissions.
   * @param signal aborts the poll; reports returned within a second after it still count
   */
  fetchReports?(
    submissions: readonly SentSubmission[],
    signal: AbortSignal,
  ): Promise<readonly DeliveryReport[]>;
  /**
   * Lists what the provider took around the times of these submissions, whose answers were lost and which
   * it finds by no id of ours. A listed message settles ours only where text, recipient, sender and time
   * fit as many listed messages as `unknown` ones of ours. A list that was not read to its end is left out.
   */
  listSent?(
    submissions: readonly SentSubmission[],
    signal: AbortSignal,
  ): Promise<readonly ProviderMessage[]>;
  /**
   * Asks the provider to cancel a submission that it has accepted, after a cancel of its batch. It may
   * be called again for the same one.
   * @returns reports of the messages that the provider has cancelled; none where it refuses
   * @throws any error where it could not be asked; it is asked again later
   */
  cancel?(submission: SentSubmission, signal: AbortSignal): Promise<readonly DeliveryReport[]>;
  /**
   * Gives a file, of a type and size that the platform takes, to the platform for messages from
   * `sender`; `''`: the provider chooses it.
   * @returns its id at the platform
   */
  uploadMedia?(media: MediaUpload, sender: string, signal: AbortSignal): Promise<string>;
  /**
   * Fetches a file of an inbound message that the provider brought, with its token, and from hosts of
   * the provider alone: the address may be forged where callbacks are not verified.
   * @param signal ends the stream, too; the caller counts the bytes
   * @throws InboundMediaError
   */
  fetchMedia?(media: MediaRequest, signal: AbortSignal): Promise<InboundMedia>;
  /** All templates of the business account, as the platform has them now. */
  fetchTemplates?(signal: AbortSignal): Promise<readonly PlatformTemplate[]>;
  /**
   * Where the provider limits the connections of all processes: those that send take places in the
   * database, and a process without its places connects to nothing and sends nothing, for any provider.
   */
  readonly places?: ConnectionPlaces;
  /**
   * Why no request can leave now, as `code: text`, for a transport that keeps connections: it is asked
   * every second, and health checks show the code, such as `bind_refused`. `undefined`: nothing is
   * known against it.
   */
  trouble?(): string | undefined;
  /** Products of an operator of airtime and data. */
  products?(signal: AbortSignal): Promise<readonly VasProduct[]>;
  /**
   * Proves that the provider can be reached and takes the credential, by a request that sends nothing
   * and costs nothing.
   * @throws SubmitFailure with the reason and its remedy
   */
  checkAccount?(signal: AbortSignal): Promise<ProviderAccount>;
  /**
   * For a provider that brings its reports by itself, such as over an open connection: the app needs
   * no `callbacks` then. Called once before the first submission; a rejection stops the boot.
   */
  listen?(sink: ReportSink, inbound?: InboundSink): void | Promise<void>;
}

/** An answer of axios. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly data: unknown;
}

/** What the providers call of `HttpService` of `@nestjs/axios`. */
export interface HttpRequester {
  readonly axiosRef: {
    readonly defaults: { readonly transformRequest?: unknown };
    request(config: object): Promise<HttpAnswer>;
  };
}

/**
 * The `HttpService` of the app, through which the providers then send, with its interceptors, proxy
 * and agents. It does not tell whether a request left, so that more answers are uncertain.
 * @default none: requests go to undici
 * @example
 * overrides: [{ provide: MESSAGING_HTTP, useExisting: HttpService }]
 */
export const MESSAGING_HTTP = Symbol('MESSAGING_HTTP') as Token<HttpRequester | undefined>;

export interface TransportContext {
  readonly channels: ChannelRegistry;
  /** The app's `HttpService`, where it gives one. */
  readonly http?: HttpRequester | undefined;
  readonly clock: Clock;
  /** This process sends messages; one that does not needs no connection to the provider. @default true */
  readonly dispatches?: boolean;
}

export type TransportFactory = (context: TransportContext) => MessageTransport;

/**
 * A transport with dependencies, which Nest injects: of global modules, or of modules in `imports` of
 * `forRootAsync()`.
 * @example
 * transport: { useClass: BankTransport }
 * transport: { useFactory: (config: ConfigService) => new BankTransport(config), inject: [ConfigService] }
 */
export type InjectedTransport =
  | { readonly useClass: Type<MessageTransport> }
  | {
      // As in Nest's own providers: the dependencies are those of `inject`.
      readonly useFactory: (
        ...dependencies: never[]
      ) => MessageTransport | Promise<MessageTransport>;
      readonly inject?: readonly InjectionToken[];
    };

export type TransportSource = TransportFactory | InjectedTransport;

/** The transports by provider. */
export type Transports = ReadonlyMap<string, MessageTransport>;

/** Injection token of the transports by the names of their providers. */
export const MESSAGE_TRANSPORTS = Symbol('MESSAGE_TRANSPORTS') as Token<Transports>;
