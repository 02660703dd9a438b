import type { HttpService } from '@nestjs/axios';
import type { ChannelDefinition } from '../message/channel-definition.js';
import type { Channel } from '../message/message.js';
import type { Clock } from './clock.js';
import type { CallbackVerifier, DeliveryReportParser } from './delivery-report-parser.js';
import type { DispatchEngine } from './dispatch-engine.js';
import type { Duration } from './duration.js';
import type { InboundOptions } from './inbound-options.js';
import type { InboundParser } from './inbound-parser.js';
import type { MessageTransport } from './message-transport.js';
import type { PolicyOptions } from './policy-options.js';
import type { PriceList, RateCard } from './rate-card.js';
import type { WhatsAppOptions } from './whatsapp-options.js';

/** At most `max` messages in any window of `per`. */
export interface RateLimit {
  readonly max: number;
  readonly per: Duration;
}

/** What a transport may be built from. */
export interface TransportContext {
  readonly http: HttpService;
  readonly clock: Clock;
}

export type TransportFactory = (context: TransportContext) => MessageTransport;

/** What an engine may be built from. */
export interface EngineContext {
  /** How long a lane stays with a process that fell silent, in milliseconds. */
  readonly leaseTime: number;
}

export type EngineFactory = (context: EngineContext) => DispatchEngine;

export interface LaneOf {
  readonly tenant: string;
  readonly channel: Channel;
}

/** How one callback endpoint is proven and read. One of `secrets`, `verifier` and `insecure` decides. */
export interface CallbackEndpointOptions {
  /** Signing secrets (`whsec_…`, Standard Webhooks); two during a rotation. */
  readonly secrets?: readonly string[];
  /** Another proof: `hmacSignature()`, `basicAuth()`, `sharedSecret()`, `ipRanges()`, `twilioSignature()`, `vonageSignature()`, `plivoSignature()`, several by `allOf()` or `anyOf()`, or your own. */
  readonly verifier?: CallbackVerifier;
  /** Take callbacks from anybody who finds the path. Never in production. @default false */
  readonly insecure?: boolean;
  /** Reads the provider's form of reports. @default the interface's own form, or, with `inbound` alone, none */
  readonly parser?: DeliveryReportParser;
  /** Reads the provider's form of what people wrote. @default the interface's own form, or, with `parser` alone, none */
  readonly inbound?: InboundParser;
  /** Name of the transport whose submissions the reports speak of. @default the module's transport */
  readonly transport?: string;
}

/** The endpoint at the callback path itself, and others below it. */
export interface CallbackOptions extends CallbackEndpointOptions {
  /**
   * Endpoints of other providers by name, each below the callback path: `twilio` is served at
   * `{path}/twilio`, and at `{path}/twilio/{secret}` for `sharedSecret()`. With providers alone, the
   * callback path itself is closed.
   */
  readonly providers?: Readonly<Record<string, CallbackEndpointOptions>>;
}

/** Options of `MessagingModule.forRoot()`. Durations are `'30s'` or milliseconds. */
export interface MessagingOptions {
  /** Address of a service that speaks the interface, such as `https://sms.example.com`. Short for `transport: http({ baseUrl, apiToken })`. */
  readonly baseUrl?: string;
  /** API token for `baseUrl`. */
  readonly apiToken?: string;
  /** `svk_` key for WhatsApp and email at `baseUrl`. */
  readonly apiKey?: string;
  /** The way out, where it is not `baseUrl`: `simulator()`, `http({...})` or your own. */
  readonly transport?: TransportFactory;
  /** Create and update the `messaging_*` tables at start. @default true, false where NODE_ENV is production */
  readonly migrate?: boolean;
  /**
   * PostgreSQL plans what the store says often once for each connection, not each time. Where a pooler
   * keeps statements from being kept, that is noticed and ends. @default true
   */
  readonly preparedStatements?: boolean;
  /**
   * Dispatch in this process, and do the jobs; false: only accept, and wake whoever dispatches through
   * the engine. @default true
   */
  readonly dispatch?: boolean;
  /** Who drains which lane when: `bullMq({ connection })` from `@dundun/messaging/bullmq`, or your own. @default each process its own lanes, found through the database */
  readonly engine?: EngineFactory;
  /** Messages a lane may start, or by lane. @default none */
  readonly rateLimit?: RateLimit | ((lane: string) => RateLimit | undefined);
  /** A second limit over all lanes and replicas. @default none */
  readonly transportRateLimit?: RateLimit;
  /** The unit of order and rate. @default `{tenant}:{channel}` */
  readonly lane?: (of: LaneOf) => string;
  /** How long a lane stays with a process that fell silent. @default '30s' */
  readonly lease?: Duration;
  /** Requests in flight per lane. @default 32 */
  readonly concurrency?: number;
  /** Tries before a message that is refused again and again is `failed`. An outage counts none. @default 8 */
  readonly maxAttempts?: number;
  /**
   * How long after it was due a message is tried without counting while nothing else shows that the
   * provider is there; `validFor` ends it before. @default '24h'
   */
  readonly retryFor?: Duration;
  /** First wait after a refusal; doubles with full jitter up to ten minutes. @default '1s' */
  readonly backoff?: Duration;
  /** One request's time limit. @default '30s' */
  readonly timeout?: Duration;
  /**
   * Most time a stop waits for requests in flight. Two seconds later at most everything of the library
   * has stopped, or is left behind with an error that says what that is: a database that owes an answer by
   * then is given up (its connections are cut, {@link DatabaseShutdownTimeoutError}). @default '10s'
   */
  readonly shutdownTimeout?: Duration;
  /** Default of a message's `deliveryReport`. @default 'yes' */
  readonly deliveryReport?: 'none' | 'yes';
  /** Recipients in one send. @default 100000 */
  readonly maxRecipients?: number;
  /** Parts of one SMS. @default 10 */
  readonly maxParts?: number;
  /** How long an idempotency key is remembered. @default '24h' */
  readonly idempotencyWindow?: Duration;
  /** When messages without a final report are asked after. */
  readonly reconcile?: {
    /** First poll after the batch left. @default '1m' */
    readonly after?: Duration;
    /** Stop asking. @default '72h' */
    readonly giveUpAfter?: Duration;
  };
  /** How long what has ended is kept; counted from the batch's end. @default for ever */
  readonly retention?: {
    /** Texts and phone numbers; the counts stay. */
    readonly content?: Duration;
    /** Everything; never before the idempotency window and `giveUpAfter` have passed. */
    readonly messages?: Duration;
  };
  readonly callbacks?: CallbackOptions;
  /** Who may be sent what, and when. */
  readonly policy?: PolicyOptions;
  /** Channels beside SMS and WhatsApp. @default none */
  readonly channels?: readonly ChannelDefinition[];
  readonly whatsapp?: WhatsAppOptions;
  /** How messages that people write to us are taken. */
  readonly inbound?: InboundOptions;
  /** What messages cost, for `estimate()`. @default nobody knows */
  readonly rateCard?: RateCard | PriceList;
  /** Groups in `to` are the service's own: passed through, not expanded. @default false */
  readonly upstreamGroups?: boolean;
}

/** Options that decide what is registered, and so must be known before the others are read. */
export interface MessagingExtras {
  /** @default false */
  isGlobal?: boolean;
  /** Name of the TypeORM data source, where it is not the default one. */
  dataSource?: string;
  /** Path of the delivery-report controller; `false`: none. @default 'messaging/delivery-reports' */
  callbackPath?: string | false;
  /** A second path of the same endpoints, for providers that deliver inbound messages apart; `false`: none. @default false */
  inboundPath?: string | false;
}

export const MESSAGING_OPTIONS = Symbol('MESSAGING_OPTIONS');
