import { HttpModule, HttpService } from '@nestjs/axios';
import { type FactoryProvider, type InjectionToken, Module, type Provider } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { EventEmitterModule } from '@nestjs/event-emitter';
import type { DataSource } from 'typeorm';
import { registryOf } from './channels/built-in-channels.js';
import { ChannelContext } from './channels/channel.service.js';
import { Enqueuer } from './channels/enqueuer.js';
import { SmsService } from './channels/sms/sms.service.js';
import { WhatsAppService } from './channels/whatsapp/whatsapp.service.js';
import { consentWords } from './contacts/consent-words.js';
import { ContactStore } from './contacts/contact-store.js';
import { ContactsService } from './contacts/contacts.service.js';
import { InboundRecorder } from './contacts/inbound.js';
import { RecipientFactsReader } from './contacts/recipient-facts.js';
import { Dispatcher } from './dispatch/dispatcher.js';
import { MessageLanes } from './dispatch/message-lane.js';
import { PrefetchBudget } from './dispatch/prefetch-size.js';
import { ProviderRate, ProviderState } from './dispatch/provider-state.js';
import { DatabaseEngine } from './engines/database.engine.js';
import { EventEmitterPublisher } from './event-emitter.publisher.js';
import { ChannelRegistry } from './message/channel-registry.js';
import { MessagingConfigError } from './message/errors.js';
import { ConfigurableModuleClass, MESSAGING_DATA_SOURCE } from './messaging.module-definition.js';
import { MessagingRuntime } from './messaging.runtime.js';
import { migrationsFor } from './messaging.schema.js';
import { MessagingService } from './messaging.service.js';
import { openTelemetryTracing } from './open-telemetry.tracing.js';
import { policiesInOrder } from './policy/policies-in-order.js';
import { PolicyPipeline } from './policy/policy-pipeline.js';
import { PolicyService } from './policy/policy.service.js';
import { type Clock, MESSAGING_CLOCK, systemClock } from './ports/clock.js';
import { DISPATCH_ENGINE, type DispatchEngine, LANE_WAKER } from './ports/dispatch-engine.js';
import type { EventPublisher } from './ports/event-publisher.js';
import { InboundListeners, StatusListeners } from './ports/listeners.js';
import { MESSAGE_TRANSPORTS, type MessageTransport } from './ports/message-transport.js';
import { MESSAGING_OPTIONS } from './ports/messaging-options.js';
import { MESSAGING_POLICY, type MessagingPolicy } from './ports/messaging-policy.js';
import {
  MESSAGING_SETTINGS,
  type MessagingSettings,
  settingsOf,
} from './ports/messaging-settings.js';
import { wholeNumber } from './ports/option-schema.js';
import { ProvidedPorts } from './ports/provided-ports.js';
import { MESSAGING_RATE_CARD, rateCardOf } from './ports/rate-card.js';
import { MESSAGING_TRACING, type MessagingTracing } from './ports/tracing.js';
import { http } from './providers/http/http.transport.js';
import { Router } from './routing/router.js';
import { MessageStore } from './store/message-store.js';
import { ReportRecorder } from './store/verbs/report.js';
import { WorkQueues } from './work-queues.js';

type Transports = ReadonlyMap<string, MessageTransport>;

const PROVIDERS: Provider[] = [
  provide(MESSAGING_SETTINGS, settingsOf, [MESSAGING_OPTIONS]),
  provide(ChannelRegistry, registryOf, [MESSAGING_SETTINGS]),
  provide(
    DISPATCH_ENGINE,
    ({ dispatch }: MessagingSettings) =>
      dispatch.engine?.({ leaseTime: dispatch.lease }) ?? new DatabaseEngine(),
    [MESSAGING_SETTINGS],
  ),
  provide(MESSAGE_TRANSPORTS, transportsOf, [
    MESSAGING_SETTINGS,
    ChannelRegistry,
    HttpService,
    MESSAGING_CLOCK,
  ]),
  provide(
    Router,
    ({ routes }: MessagingSettings, transports: Transports) => new Router(routes, transports),
    [MESSAGING_SETTINGS, MESSAGE_TRANSPORTS],
  ),
  provide(
    MessageStore,
    (
      dataSource: DataSource,
      { dispatch, reports, store, policy }: MessagingSettings,
      channels: ChannelRegistry,
      clock: Clock,
      events: EventPublisher,
      listeners: StatusListeners,
      tracing: MessagingTracing | undefined,
    ) => {
      const migrate = store.migrate ?? process.env['NODE_ENV'] !== 'production';
      const migrations = migrationsFor(policy);
      return MessageStore.open(
        dataSource,
        { ...store, ...reports, migrate, leaseTime: dispatch.lease, migrations },
        { channels, clock, events, listeners, tracing },
      );
    },
    [
      MESSAGING_DATA_SOURCE,
      MESSAGING_SETTINGS,
      ChannelRegistry,
      MESSAGING_CLOCK,
      EventEmitterPublisher,
      StatusListeners,
      MESSAGING_TRACING,
    ],
  ),
  provide(Dispatcher, dispatcherOf, [
    DISPATCH_ENGINE,
    MessageStore,
    PolicyPipeline,
    MESSAGE_TRANSPORTS,
    Router,
    MESSAGING_CLOCK,
    MESSAGING_SETTINGS,
    MESSAGING_TRACING,
  ]),
  { provide: LANE_WAKER, useExisting: Dispatcher },
  provide(
    WorkQueues,
    (store: MessageStore, clock: Clock, { dispatch }: MessagingSettings) =>
      new WorkQueues(store, clock, { ...dispatch, leaseTime: dispatch.lease }),
    [MessageStore, MESSAGING_CLOCK, MESSAGING_SETTINGS],
  ),
  provide(
    InboundRecorder,
    (
      contacts: ContactStore,
      enqueuer: Enqueuer,
      listeners: InboundListeners,
      events: EventPublisher,
      clock: Clock,
      registry: ChannelRegistry,
      { inbound: { consent = consentWords(), tenant } }: MessagingSettings,
    ) =>
      new InboundRecorder(contacts, {
        registry,
        clock,
        events,
        listeners,
        consentOf: consent,
        tenantOf: tenant,
        after: (received) => enqueuer.replyTo(received),
      }),
    [
      ContactStore,
      Enqueuer,
      InboundListeners,
      EventEmitterPublisher,
      MESSAGING_CLOCK,
      ChannelRegistry,
      MESSAGING_SETTINGS,
    ],
  ),
  provide(
    PolicyPipeline,
    (
      provided: ProvidedPorts,
      { policy }: MessagingSettings,
      channels: ChannelRegistry,
      { recentSends }: MessageStore,
      facts: RecipientFactsReader,
      clock: Clock,
    ) => {
      const own = () =>
        provided.under<MessagingPolicy>(MESSAGING_POLICY, 'decide', 'a policy with a name');
      const policies = () => policiesInOrder(policy, own(), channels, recentSends);
      return new PolicyPipeline(policies, facts, clock, channels);
    },
    [
      ProvidedPorts,
      MESSAGING_SETTINGS,
      ChannelRegistry,
      MessageStore,
      RecipientFactsReader,
      MESSAGING_CLOCK,
    ],
  ),
  provide(ReportRecorder, ({ reports }: MessageStore) => reports, [MessageStore]),
  provide(
    MESSAGING_RATE_CARD,
    ({ rateCard }: MessagingSettings, channels: ChannelRegistry) =>
      rateCardOf('rateCard', rateCard, channels),
    [MESSAGING_SETTINGS, ChannelRegistry],
  ),
  provide(MESSAGING_TRACING, openTelemetryTracing, []),
  { provide: MESSAGING_CLOCK, useValue: systemClock },
  EventEmitterPublisher,
  StatusListeners,
  InboundListeners,
  RecipientFactsReader,
  ContactStore,
];

/**
 * Background messaging on the app's own TypeORM database.
 * @example
 * MessagingModule.forRoot({ baseUrl: 'https://sms.example.com', apiToken: process.env.SMS_TOKEN })
 */
@Module({
  imports: [HttpModule, EventEmitterModule.forRoot(), DiscoveryModule],
  providers: [
    ...PROVIDERS,
    ProvidedPorts,
    Enqueuer,
    ChannelContext,
    SmsService,
    WhatsAppService,
    ContactsService,
    PolicyService,
    MessagingService,
    MessagingRuntime,
  ],
  exports: [
    SmsService,
    WhatsAppService,
    ContactsService,
    PolicyService,
    MessagingService,
    ChannelRegistry,
    WorkQueues,
    DISPATCH_ENGINE,
    MESSAGE_TRANSPORTS,
    MESSAGING_CLOCK,
    MESSAGING_RATE_CARD,
    MESSAGING_TRACING,
  ],
})
export class MessagingModule extends ConfigurableModuleClass {}

function provide<A extends unknown[], T>(
  token: InjectionToken,
  useFactory: (...dependencies: A) => T,
  inject: InjectionToken[],
): FactoryProvider<T> {
  return { provide: token, useFactory, inject };
}

/** @throws MessagingConfigError without a transport, or where a capability prevents all sending */
function transportsOf(
  { providers, transport, baseUrl, apiToken = '', apiKey }: MessagingSettings,
  channels: ChannelRegistry,
  httpService: HttpService,
  clock: Clock,
): Transports {
  const context = { channels, http: httpService, clock };
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
}

function checked(option: string, transport: MessageTransport): MessageTransport {
  const { maxRecipients, connections = 1 } = transport.capabilities;
  for (const [name, value] of Object.entries({ maxRecipients, connections }))
    wholeNumber(`${option}.capabilities.${name}`, value);
  return transport;
}

function dispatcherOf(
  engine: DispatchEngine,
  { lanes, work, intents, outcomes }: MessageStore,
  policy: PolicyPipeline,
  transports: Transports,
  router: Router,
  clock: Clock,
  { dispatch, providers: options }: MessagingSettings,
  tracing: MessagingTracing | undefined,
): Dispatcher {
  const providers = new Map<string, ProviderState>();
  for (const [name, transport] of transports) {
    const limit = options?.[name]?.rateLimit;
    const rate = limit && new ProviderRate(lanes, clock, `provider ${name}`, limit.max, limit.per);
    providers.set(name, new ProviderState(name, transport, rate, tracing));
  }
  const context = {
    lanes,
    work,
    intents,
    outcomes,
    policy,
    router,
    providers,
    budget: new PrefetchBudget(),
    clock,
    leaseTime: dispatch.lease,
    ...dispatch,
  };
  return new Dispatcher(engine, context, new MessageLanes(context));
}
