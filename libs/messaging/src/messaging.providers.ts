import { HttpService } from '@nestjs/axios';
import type { FactoryProvider, Provider } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { registryOf } from './channels/built-in-channels.js';
import { ConsentReplies } from './channels/consent-replies.js';
import { consentWords } from './contacts/consent-words.js';
import { InboundRecorder } from './contacts/inbound.js';
import { RecipientFactsReader } from './contacts/recipient-facts.js';
import { Dispatcher } from './dispatch/dispatcher.js';
import { MessageLanes } from './dispatch/message-lane.js';
import { PrefetchBudget } from './dispatch/prefetch-queue.js';
import { ProviderRate } from './dispatch/provider-rate.js';
import { ProviderState } from './dispatch/provider-state.js';
import { DatabaseEngine } from './engines/database.engine.js';
import { EventEmitterPublisher } from './event-emitter.publisher.js';
import { ChannelRegistry } from './message/channel-registry.js';
import { MessagingConfigError } from './message/errors.js';
import { MESSAGING_DATA_SOURCE } from './messaging.module-definition.js';
import { migrationsFor } from './messaging.schema.js';
import { openTelemetryTracing } from './open-telemetry.tracing.js';
import { PolicyRegistry } from './policy/policy-registry.js';
import { PolicyPipeline } from './policy/policy-pipeline.js';
import { type Clock, MESSAGING_CLOCK, systemClock } from './ports/clock.js';
import { DISPATCH_ENGINE, type DispatchEngine } from './ports/dispatch-engine.js';
import { EVENT_PUBLISHER, type EventPublisher } from './ports/event-publisher.js';
import { InboundListeners } from './ports/inbound-listener.js';
import { LANE_WAKER } from './ports/dispatch-engine.js';
import { MESSAGE_TRANSPORTS, type MessageTransport } from './ports/message-transport.js';
import { MESSAGING_OPTIONS, type MessagingOptions } from './ports/messaging-options.js';
import {
  MESSAGING_SETTINGS,
  type MessagingSettings,
  settingsOf,
} from './ports/messaging-settings.js';
import { wholeNumber } from './ports/option-schema.js';
import { MESSAGING_RATE_CARD, rateCardOf } from './ports/rate-card.js';
import { StatusListeners } from './ports/status-listener.js';
import { MESSAGING_TRACING, type MessagingTracing } from './ports/tracing.js';
import { http } from './providers/http/http.transport.js';
import { Router } from './routing/router.js';
import { MessageStore } from './store/message-store.js';
import { ReportRecorder } from './store/verbs/report.js';
import { WorkQueues } from './work-queues.js';

const settings: FactoryProvider<MessagingSettings> = {
  provide: MESSAGING_SETTINGS,
  useFactory: (options: MessagingOptions) => settingsOf(options),
  inject: [MESSAGING_OPTIONS],
};

const channels: FactoryProvider<ChannelRegistry> = {
  provide: ChannelRegistry,
  useFactory: (options: MessagingSettings) => registryOf(options),
  inject: [MESSAGING_SETTINGS],
};

const inbound: FactoryProvider<InboundRecorder> = {
  provide: InboundRecorder,
  useFactory: (
    { database }: MessageStore,
    facts: RecipientFactsReader,
    replies: ConsentReplies,
    listeners: InboundListeners,
    events: EventPublisher,
    clock: Clock,
    registry: ChannelRegistry,
    { inbound: options }: MessagingSettings,
  ) =>
    new InboundRecorder(database, {
      registry,
      clock,
      events,
      listeners,
      consentOf: options.consent ?? consentWords(),
      tenantOf: options.tenant,
      onWrite: () => facts.wrote(),
      after: (received) => replies.reply(received),
    }),
  inject: [
    MessageStore,
    RecipientFactsReader,
    ConsentReplies,
    InboundListeners,
    EVENT_PUBLISHER,
    MESSAGING_CLOCK,
    ChannelRegistry,
    MESSAGING_SETTINGS,
  ],
};

const engine: FactoryProvider<DispatchEngine> = {
  provide: DISPATCH_ENGINE,
  useFactory: ({ dispatch }: MessagingSettings) =>
    dispatch.engine?.({ leaseTime: dispatch.lease }) ?? new DatabaseEngine(),
  inject: [MESSAGING_SETTINGS],
};

const transports: FactoryProvider<ReadonlyMap<string, MessageTransport>> = {
  provide: MESSAGE_TRANSPORTS,
  useFactory: (
    { providers, transport, baseUrl, apiToken = '', apiKey }: MessagingSettings,
    registry: ChannelRegistry,
    httpService: HttpService,
    clock: Clock,
  ) => {
    const context = { channels: registry, http: httpService, clock };
    if (providers)
      return new Map(
        Object.entries(providers).map(([name, provider]) => [
          name,
          checked(`providers.${name}`, provider.transport(context)),
        ]),
      );
    if (!transport && baseUrl === undefined)
      throw new MessagingConfigError(
        'transport: is missing; set baseUrl and apiToken, or transport: simulator() for development',
      );
    const short =
      transport ??
      http({ baseUrl: baseUrl ?? '', apiToken, ...(apiKey !== undefined && { apiKey }) });
    const only = checked('transport', short(context));
    return new Map([[only.name, only]]);
  },
  inject: [MESSAGING_SETTINGS, ChannelRegistry, HttpService, MESSAGING_CLOCK],
};

const router: FactoryProvider<Router> = {
  provide: Router,
  useFactory: ({ routes }: MessagingSettings, given: ReadonlyMap<string, MessageTransport>) =>
    new Router(routes, given),
  inject: [MESSAGING_SETTINGS, MESSAGE_TRANSPORTS],
};

const store: FactoryProvider<MessageStore> = {
  provide: MessageStore,
  useFactory: (
    dataSource: DataSource,
    { dispatch, reports, store: options, policy }: MessagingSettings,
    registry: ChannelRegistry,
    clock: Clock,
    events: EventPublisher,
    listeners: StatusListeners,
    tracing: MessagingTracing | undefined,
  ) =>
    MessageStore.open(
      dataSource,
      {
        ...options,
        ...reports,
        migrate: options.migrate ?? process.env['NODE_ENV'] !== 'production',
        leaseTime: dispatch.lease,
        migrations: migrationsFor(policy),
      },
      { channels: registry, clock, events, listeners, tracing },
    ),
  inject: [
    MESSAGING_DATA_SOURCE,
    MESSAGING_SETTINGS,
    ChannelRegistry,
    MESSAGING_CLOCK,
    EVENT_PUBLISHER,
    StatusListeners,
    MESSAGING_TRACING,
  ],
};

const dispatcher: FactoryProvider<Dispatcher> = {
  provide: Dispatcher,
  useFactory: (
    dispatchEngine: DispatchEngine,
    { lanes, work, intents, outcomes }: MessageStore,
    policy: PolicyPipeline,
    given: ReadonlyMap<string, MessageTransport>,
    routes: Router,
    clock: Clock,
    { dispatch, providers: options }: MessagingSettings,
    tracing: MessagingTracing | undefined,
  ) => {
    const { rateLimit, backoff, lease } = dispatch;
    const stateOf = (name: string, transport: MessageTransport) => {
      const limit = options?.[name]?.rateLimit;
      const rate =
        limit && new ProviderRate(lanes, clock, `provider ${name}`, limit.max, limit.per);
      return new ProviderState(name, transport, rate, tracing);
    };
    const context = {
      lanes,
      work,
      intents,
      outcomes,
      policy,
      router: routes,
      providers: new Map([...given].map(([name, transport]) => [name, stateOf(name, transport)])),
      budget: new PrefetchBudget(),
      clock,
      leaseTime: lease,
      ...dispatch,
    };
    return new Dispatcher(
      dispatchEngine,
      context,
      new MessageLanes(context, { rateLimit, backoff }),
    );
  },
  inject: [
    DISPATCH_ENGINE,
    MessageStore,
    PolicyPipeline,
    MESSAGE_TRANSPORTS,
    Router,
    MESSAGING_CLOCK,
    MESSAGING_SETTINGS,
    MESSAGING_TRACING,
  ],
};

/** @throws MessagingConfigError naming a capability value that would prevent all sending */
function checked(option: string, given: MessageTransport): MessageTransport {
  const { maxRecipients, connections = 1 } = given.capabilities;
  for (const [name, value] of Object.entries({ maxRecipients, connections }))
    wholeNumber(`${option}.capabilities.${name}`, value);
  return given;
}

/** Internal providers, built from the options and from each other. */
export const MESSAGING_PROVIDERS: Provider[] = [
  settings,
  channels,
  inbound,
  engine,
  transports,
  router,
  store,
  dispatcher,
  {
    provide: WorkQueues,
    useFactory: (messages: MessageStore, clock: Clock, { dispatch }: MessagingSettings) =>
      new WorkQueues(messages, clock, { ...dispatch, leaseTime: dispatch.lease }),
    inject: [MessageStore, MESSAGING_CLOCK, MESSAGING_SETTINGS],
  },
  { provide: LANE_WAKER, useExisting: Dispatcher },
  { provide: MESSAGING_TRACING, useFactory: () => openTelemetryTracing() },
  { provide: MESSAGING_CLOCK, useValue: systemClock },
  { provide: EVENT_PUBLISHER, useClass: EventEmitterPublisher },
  {
    provide: MESSAGING_RATE_CARD,
    useFactory: ({ rateCard }: MessagingSettings, registry: ChannelRegistry) =>
      rateCardOf('rateCard', rateCard, registry),
    inject: [MESSAGING_SETTINGS, ChannelRegistry],
  },
  {
    provide: RecipientFactsReader,
    useFactory: ({ database }: MessageStore, clock: Clock) =>
      new RecipientFactsReader(database, clock),
    inject: [MessageStore, MESSAGING_CLOCK],
  },
  {
    provide: PolicyPipeline,
    useFactory: (
      policies: PolicyRegistry,
      facts: RecipientFactsReader,
      clock: Clock,
      registry: ChannelRegistry,
    ) => new PolicyPipeline(() => policies.policies, facts, clock, registry),
    inject: [PolicyRegistry, RecipientFactsReader, MESSAGING_CLOCK, ChannelRegistry],
  },
  {
    provide: ReportRecorder,
    useFactory: ({ reports }: MessageStore) => reports,
    inject: [MessageStore],
  },
];
