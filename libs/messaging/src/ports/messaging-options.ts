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

/** At most `max` messages in any window of `per`. Options also take the form `'50/s'`. */
export interface RateLimit {
  readonly max: number;
  readonly per: Duration;
}

/** Dependencies that a transport factory receives. */
export interface TransportContext {
  readonly channels: ChannelRegistry;
  readonly http: HttpService;
  readonly clock: Clock;
}

export type TransportFactory = (context: TransportContext) => MessageTransport;

/** A provider with options of its own. */
export interface ProviderOptions {
  /** `simulator()`, `http({...})` or a factory of your own. */
  readonly transport: TransportFactory;
  /** Limit of the provider over all lanes and replicas. @default none */
  readonly rateLimit?: RateLimit | string | undefined;
}

/** One rule of `routes`: `use` carries every message, or every message of `channel`. */
export interface Route {
  /** @default every channel */
  readonly channel?: string;
  /** Name of a provider in `providers`. */
  readonly use: string;
}

/** Settings that an engine factory receives. */
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
  /**
   * Another verifier: `hmacSignature()`, `basicAuth()`, `sharedSecret()`, `ipRanges()`, `twilioSignature()`,
   * `vonageSignature()`, `plivoSignature()`, several in `allOf()` or `anyOf()`, or one of your own.
   */
  readonly verifier?: CallbackVerifier;
  /** Accept unsigned callbacks. Do not use it in production. @default false */
  readonly insecure?: boolean;
  /**
   * Parser of the provider's delivery reports. @default the interface's own form, or none where only `inbound` is set
   */
  readonly parser?: DeliveryReportParser;
  /**
   * Parser of the provider's inbound messages. @default the interface's own form, or none where only `parser` is set
   */
  readonly inbound?: InboundParser;
  /** Name of the provider whose submissions the reports are about. @default the provider with the endpoint's name, else the only provider */
  readonly provider?: string;
}

/** The endpoint at the callback path itself, and the endpoints below it. */
export interface CallbackOptions extends CallbackEndpointOptions {
  /**
   * Endpoints of other providers by name, each below the callback path: `twilio` is served at `{path}/twilio`, and at
   * `{path}/twilio/{secret}` for `sharedSecret()`. Where only `providers` is set, the callback path itself has no
   * endpoint.
   */
  readonly providers?: Readonly<Record<string, CallbackEndpointOptions>>;
}

/** Options of the dispatch. */
export interface DispatchOptions {
  /**
   * Whether this process dispatches and runs the jobs. With false, it only accepts messages, and the engine wakes the
   * processes that dispatch. @default true
   */
  readonly enabled?: boolean;
  /**
   * Decides which process drains which lane, and when: `bullMq({ connection })` from `@dundun/messaging/bullmq`, or
   * an engine of your own. @default each process takes lanes of its own, found through the database
   */
  readonly engine?: EngineFactory;
  /**
   * Rate limit of a lane, for all lanes or by lane; a limit over all lanes is set at the provider. A function is
   * called several times a second, so that a changed limit takes effect at once. @default none
   */
  readonly rateLimit?: RateLimit | string | ((lane: string) => RateLimit | undefined);
  /** The unit of order and rate. @default `{tenant}:{channel}` */
  readonly lane?: (of: LaneOf) => string;
  /** How long a lane stays with a process that no longer renews it. At least one second. @default '30s' */
  readonly lease?: Duration;
  /** Most requests in flight per lane. @default 32 */
  readonly concurrency?: number;
  /**
   * Most tries of a message that the provider keeps refusing, before it becomes `failed`. Tries during an outage do
   * not count. @default 8
   */
  readonly maxAttempts?: number;
  /**
   * How long after its due time a message is tried without counting attempts while no other message proves that the
   * provider answers. `validFor` may end it earlier. @default '24h'
   */
  readonly retryFor?: Duration;
  /** First wait after a refusal; it doubles with jitter, up to ten minutes. @default '1s' */
  readonly backoff?: Duration;
  /** Time limit of one request. @default '30s' */
  readonly timeout?: Duration;
  /**
   * Longest wait of a stop for requests in flight. At most two seconds later, all parts of the library have stopped,
   * or an error names the part that has not: connections to a database that does not answer are cut ({@link
   * DatabaseShutdownTimeoutError}). @default '10s'
   */
  readonly shutdownTimeout?: Duration;
}

/** Retention of ended batches, counted from their end. A bare number below a minute is refused: write `'30d'`. */
export interface RetentionOptions {
  /** Texts and phone numbers; the counts stay. @default unlimited */
  readonly content?: Duration;
  /** The whole batch; never before `idempotencyWindow` and `reports.giveUpAfter` have passed. @default unlimited */
  readonly messages?: Duration;
}

/** Options of the library's tables. */
export interface StoreOptions {
  /** Create and update the `messaging_*` tables at start. @default true, false where NODE_ENV is production */
  readonly migrate?: boolean;
  /**
   * On PostgreSQL, plan frequent statements once per connection. The library detects a pooler that drops prepared
   * statements, and stops preparing them. @default true
   */
  readonly preparedStatements?: boolean;
  /** How long an idempotency key is remembered. At least one second. @default '24h' */
  readonly idempotencyWindow?: Duration;
  readonly retention?: RetentionOptions;
}

/** Schedule of the polls for messages without a final report. */
export interface ReportOptions {
  /** First poll, counted from the last submission of the batch. @default '1m' */
  readonly pollAfter?: Duration;
  /** End of the polls; not before `pollAfter`. @default '72h' */
  readonly giveUpAfter?: Duration;
}

export interface SmsOptions {
  /** Default of a message's `deliveryReport`. @default 'yes' */
  readonly deliveryReport?: 'none' | 'yes';
  /** Most recipients in one send. @default 100000 */
  readonly maxRecipients?: number;
  /** Most parts of one SMS. @default 10 */
  readonly maxParts?: number;
  /** Groups in `to` belong to the upstream service: they are passed through and not expanded. @default false */
  readonly upstreamGroups?: boolean;
}

/**
 * Options of `MessagingModule.forRoot()`. Durations are `'30s'` or milliseconds. An unknown or wrong option stops the
 * boot with a {@link MessagingConfigError} that names it and the remedy.
 */
export interface MessagingOptions {
  /** Address of a service that speaks the interface, such as `https://sms.example.com`. Short for `transport: http({ baseUrl, apiToken })`. */
  readonly baseUrl?: string;
  /** API token for `baseUrl`. */
  readonly apiToken?: string;
  /** `svk_` key for WhatsApp and email at `baseUrl`. */
  readonly apiKey?: string;
  /** The only provider, instead of `baseUrl`: `simulator()`, `http({...})` or a factory of your own. */
  readonly transport?: TransportFactory;
  /**
   * Several providers by name, instead of `transport` and `baseUrl`. A submission is stored with the name of its
   * provider. Do not rename a provider with messages under way: their outcomes would be `unknown`.
   *
   * @example
   * providers: { main: { transport: http({ baseUrl, apiToken }), rateLimit: { max: 50, per: '1s' } }, test: simulator() }
   */
  readonly providers?: Readonly<Record<string, TransportFactory | ProviderOptions>>;
  /**
   * Selects the provider of a message: the first matching route decides. A message that no route matches is refused
   * with a {@link NoRouteError}. @default everything to the only provider
   *
   * @example
   * routes: [{ channel: 'whatsapp', use: 'meta' }, { use: 'main' }]
   */
  readonly routes?: readonly Route[];
  readonly dispatch?: DispatchOptions;
  readonly store?: StoreOptions;
  readonly reports?: ReportOptions;
  readonly callbacks?: CallbackOptions;
  /** Policies that decide whether and when a message may be sent to a recipient. */
  readonly policy?: PolicyOptions;
  /** Channels in addition to SMS and WhatsApp. @default none */
  readonly channels?: readonly ChannelDefinition[];
  readonly sms?: SmsOptions;
  readonly whatsapp?: WhatsAppOptions;
  /** Options for messages from recipients. */
  readonly inbound?: InboundOptions;
  /** Prices of messages, for `estimate()`. @default no prices */
  readonly rateCard?: RateCard | PriceList;
}

/**
 * Options that decide which providers and controllers are registered. `forRootAsync()` takes them beside
 * `useFactory`.
 */
export interface MessagingExtras {
  /** @default false */
  readonly isGlobal?: boolean | undefined;
  /** Name of the TypeORM data source. @default the default data source */
  readonly dataSource?: string | undefined;
  /** Path of the delivery-report controller; `false`: none. @default 'messaging/delivery-reports' */
  readonly callbackPath?: string | false | undefined;
  /**
   * A second path of the same endpoints, for providers that need a separate address for inbound messages; `false`:
   * none. @default false
   */
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
