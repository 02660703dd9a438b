import type { HttpService } from '@nestjs/axios';
import type { Provider } from '@nestjs/common';
import type { ChannelRegistry } from '../message/channel-registry.js';
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

/** At most `max` messages in any window of `per`. Options take it as `'50/s'`, too. */
export interface RateLimit {
  readonly max: number;
  readonly per: Duration;
}

/** What a transport is built from. */
export interface TransportContext {
  readonly channels: ChannelRegistry;
  readonly http: HttpService;
  readonly clock: Clock;
}

export type TransportFactory = (context: TransportContext) => MessageTransport;

/** A provider with options of its own. */
export interface ProviderOptions {
  /** `simulator()`, `http({...})` or your own. */
  readonly transport: TransportFactory;
  /** Messages that the provider takes, over all lanes and replicas. @default none */
  readonly rateLimit?: RateLimit | string | undefined;
}

/** One rule of `routes`: `use` carries every message, or every message of `channel`. */
export interface Route {
  /** @default every channel */
  readonly channel?: string;
  /** Name of a provider in `providers`. */
  readonly use: string;
}

/** What an engine is built from. */
export interface EngineContext {
  /** How long a lane stays with a process that no longer renews it, in milliseconds. */
  readonly leaseTime: number;
}

export type EngineFactory = (context: EngineContext) => DispatchEngine;

export interface LaneOf {
  readonly tenant: string;
  readonly channel: Channel;
}

/** How the callbacks of one endpoint are verified and parsed. One of `secrets`, `verifier` and `insecure` is required. */
export interface CallbackEndpointOptions {
  /** Signing secrets (`whsec_…`, Standard Webhooks); two during a rotation. */
  readonly secrets?: readonly string[];
  /** Another verification: `hmacSignature()`, `basicAuth()`, `sharedSecret()`, `ipRanges()`, `twilioSignature()`, `vonageSignature()`, `plivoSignature()`, several by `allOf()` or `anyOf()`, or your own. */
  readonly verifier?: CallbackVerifier;
  /** Accept unsigned callbacks. Never in production. @default false */
  readonly insecure?: boolean;
  /** Reads the provider's form of reports. @default the interface's own form, or, with `inbound` alone, none */
  readonly parser?: DeliveryReportParser;
  /** Reads the provider's form of inbound messages. @default the interface's own form, or, with `parser` alone, none */
  readonly inbound?: InboundParser;
  /** Name of the provider whose submissions the reports are about. @default the provider with the endpoint's name, else the only provider */
  readonly provider?: string;
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

/** How messages leave. */
export interface DispatchOptions {
  /**
   * Dispatch and run the jobs in this process; false: this process only accepts, and the engine wakes
   * the processes that dispatch. @default true
   */
  readonly enabled?: boolean;
  /**
   * Which process drains which lane when: `bullMq({ connection })` from `@dundun/messaging/bullmq`, or
   * your own. @default each process takes lanes of its own, found through the database
   */
  readonly engine?: EngineFactory;
  /**
   * Messages a lane may start, for all lanes or by lane; a limit over all lanes is the provider's. A function is
   * asked again several times a second, so that a changed limit counts at once. @default none
   */
  readonly rateLimit?: RateLimit | string | ((lane: string) => RateLimit | undefined);
  /** The unit of order and rate. @default `{tenant}:{channel}` */
  readonly lane?: (of: LaneOf) => string;
  /** How long a lane stays with a process that no longer renews it. At least one second. @default '30s' */
  readonly lease?: Duration;
  /** Requests in flight per lane. @default 32 */
  readonly concurrency?: number;
  /** Tries before a message that is refused again and again is `failed`. An outage counts none. @default 8 */
  readonly maxAttempts?: number;
  /**
   * How long after it was due a message is tried without counting while nothing else shows that the
   * provider answers; `validFor` ends it before. @default '24h'
   */
  readonly retryFor?: Duration;
  /** First wait after a refusal; doubles with full jitter up to ten minutes. @default '1s' */
  readonly backoff?: Duration;
  /** Time limit of one request. @default '30s' */
  readonly timeout?: Duration;
  /**
   * Most time a stop waits for requests in flight. Two seconds later at most, all parts of the library
   * have stopped, or an error names the part that has not: the connections of a database that does not
   * answer are cut ({@link DatabaseShutdownTimeoutError}). @default '10s'
   */
  readonly shutdownTimeout?: Duration;
}

/** How long ended batches are kept, from their end. A bare number below a minute is refused: write `'30d'`. */
export interface RetentionOptions {
  /** Texts and phone numbers; the counts stay. @default for ever */
  readonly content?: Duration;
  /** Everything; never before `idempotencyWindow` and `reports.giveUpAfter` have passed. @default for ever */
  readonly messages?: Duration;
}

/** The library's tables. */
export interface StoreOptions {
  /** Create and update the `messaging_*` tables at start. @default true, false where NODE_ENV is production */
  readonly migrate?: boolean;
  /**
   * On PostgreSQL, frequent statements are planned once for each connection. The library notices a
   * pooler that loses prepared statements, and stops preparing them. @default true
   */
  readonly preparedStatements?: boolean;
  /** How long an idempotency key is remembered. At least one second. @default '24h' */
  readonly idempotencyWindow?: Duration;
  readonly retention?: RetentionOptions;
}

/** When the provider is asked about messages without a final report. */
export interface ReportOptions {
  /** First poll after the batch left. @default '1m' */
  readonly pollAfter?: Duration;
  /** No poll any more; not before `pollAfter`. @default '72h' */
  readonly giveUpAfter?: Duration;
}

export interface SmsOptions {
  /** Default of a message's `deliveryReport`. @default 'yes' */
  readonly deliveryReport?: 'none' | 'yes';
  /** Recipients in one send. @default 100000 */
  readonly maxRecipients?: number;
  /** Parts of one SMS. @default 10 */
  readonly maxParts?: number;
  /** Groups in `to` are the service's own: passed through, not expanded. @default false */
  readonly upstreamGroups?: boolean;
}

/**
 * Options of `MessagingModule.forRoot()`. Durations are `'30s'` or milliseconds. The boot fails with a
 * {@link MessagingConfigError} that names an unknown or wrong option and the remedy.
 */
export interface MessagingOptions {
  /** Address of a service that speaks the interface, such as `https://sms.example.com`. Short for `transport: http({ baseUrl, apiToken })`. */
  readonly baseUrl?: string;
  /** API token for `baseUrl`. */
  readonly apiToken?: string;
  /** `svk_` key for WhatsApp and email at `baseUrl`. */
  readonly apiKey?: string;
  /** The only provider, where it is not `baseUrl`: `simulator()`, `http({...})` or your own. */
  readonly transport?: TransportFactory;
  /**
   * Several providers by name; in place of `transport` and `baseUrl`. A submission is stored with the name
   * of its provider, so never rename one with messages under way: their outcomes would be `unknown`.
   *
   * @example
   * providers: { main: { transport: http({ baseUrl, apiToken }), rateLimit: { max: 50, per: '1s' } }, test: simulator() }
   */
  readonly providers?: Readonly<Record<string, TransportFactory | ProviderOptions>>;
  /**
   * Which provider carries which messages: the first route that matches decides, and a message that none
   * matches is refused by {@link NoRouteError}. @default everything to the only provider
   *
   * @example
   * routes: [{ channel: 'whatsapp', use: 'meta' }, { use: 'main' }]
   */
  readonly routes?: readonly Route[];
  readonly dispatch?: DispatchOptions;
  readonly store?: StoreOptions;
  readonly reports?: ReportOptions;
  readonly callbacks?: CallbackOptions;
  /** Which recipients may be sent to, and when. */
  readonly policy?: PolicyOptions;
  /** Channels beside SMS and WhatsApp. @default none */
  readonly channels?: readonly ChannelDefinition[];
  readonly sms?: SmsOptions;
  readonly whatsapp?: WhatsAppOptions;
  /** How messages from recipients are taken. */
  readonly inbound?: InboundOptions;
  /** What messages cost, for `estimate()`. @default no prices */
  readonly rateCard?: RateCard | PriceList;
}

/** Options that decide which providers and controllers are registered; `forRootAsync()` takes them beside `useFactory`. */
export interface MessagingExtras {
  /** @default false */
  readonly isGlobal?: boolean | undefined;
  /** Name of the TypeORM data source, where it is not the default one. */
  readonly dataSource?: string | undefined;
  /** Path of the delivery-report controller; `false`: none. @default 'messaging/delivery-reports' */
  readonly callbackPath?: string | false | undefined;
  /** A second path of the same endpoints, for providers that deliver inbound messages apart; `false`: none. @default false */
  readonly inboundPath?: string | false | undefined;

  /**
   * Providers that replace a part of the library under its exported token: `MESSAGING_CLOCK`,
   * `DISPATCH_ENGINE`, `MESSAGE_TRANSPORTS`, `MESSAGING_RATE_CARD` or `MESSAGING_TRACING`. @default none
   *
   * @example
   * overrides: [{ provide: MESSAGING_CLOCK, useClass: TestClock }]
   */
  readonly overrides?: readonly Provider[] | undefined;
}

export const MESSAGING_OPTIONS = Symbol('MESSAGING_OPTIONS');
