import { HttpModule, HttpService } from '@nestjs/axios';
import { type Abstract, Module, type Provider } from '@nestjs/common';
import { DiscoveryModule, ModuleRef } from '@nestjs/core';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { CallbackCounts } from './callbacks/callbacks.service.js';
import { registryOf } from './channels/built-in-channels.js';
import { ChannelContext } from './channels/channel.service.js';
import { Enqueuer } from './channels/enqueuer.js';
import { EmailService } from './channels/email/email.service.js';
import { SmsService } from './channels/sms/sms.service.js';
import { VoiceService } from './channels/voice/voice.service.js';
import { VerificationService } from './channels/verification/verification.service.js';
import { NotificationService } from './channels/notification/notification.service.js';
import { VasService } from './channels/vas/vas.service.js';
import { WhatsAppService } from './channels/whatsapp/whatsapp.service.js';
import { ContactStore } from './contacts/contact-store.js';
import { ContactsService } from './contacts/contacts.service.js';
import { InboundRecorder } from './contacts/inbound.js';
import { InboundTexts } from './contacts/inbound-texts.js';
import { MessageStatusHandlers } from './message-status-handlers.js';
import { MessageHistory } from './history.service.js';
import { RecipientFactsReader } from './contacts/recipient-facts.js';
import { Dispatcher } from './dispatch/dispatcher.js';
import { HoldWatch } from './dispatch/hold-watch.js';
import { messageLanes } from './dispatch/message-lane.js';
import type { Waves } from './dispatch/in-flight.js';
import { PlaceKeeper } from './dispatch/place-keeper.js';
import { PrefetchBudget } from './dispatch/prefetch-size.js';
import type { PreparedSubmission } from './dispatch/submissions.js';
import { ProviderBreaker, ProviderWatch } from './dispatch/provider-breaker.js';
import { ProviderRate, ProviderState, ProviderStates } from './dispatch/provider-state.js';
import { DatabaseEngine } from './engines/database.engine.js';
import { HoldsService } from './holds.service.js';
import { MessagingOperations } from './operations.service.js';
import { EventEmitterPublisher } from './event-emitter.publisher.js';
import { ChannelRegistry } from './message/channel-registry.js';
import { ConfigurableModuleClass, MESSAGING_DATA_SOURCE } from './messaging.module-definition.js';
import { MessagingRuntime } from './messaging.runtime.js';
import { MESSAGING_ENTITIES, MESSAGING_MIGRATIONS } from './messaging.schema.js';
import { MessagingService } from './messaging.service.js';
import { MeasuredEvents, QueueMetrics } from './queue-metrics.js';
import { openTelemetryMetrics } from './open-telemetry.metrics.js';
import { openTelemetryTracing } from './open-telemetry.tracing.js';
import { policiesInOrder } from './policy/policies-in-order.js';
import { PolicyPipeline } from './policy/policy-pipeline.js';
import { PolicyService } from './policy/policy.service.js';
import { MESSAGING_CLOCK, systemClock } from './ports/clock.js';
import { DISPATCH_ENGINE } from './ports/dispatch-engine.js';
import {
  ErasureListeners,
  InboundListeners,
  ProvidedPorts,
  StatusListeners,
  TemplateListeners,
} from './ports/listeners.js';
import { MESSAGE_TRANSPORTS } from './ports/message-transport.js';
import { MESSAGING_OPTIONS, MESSAGING_SETTINGS, settingsOf } from './ports/messaging-options.js';
import { MESSAGING_POLICY, type MessagingPolicy } from './ports/messaging-policy.js';
import { pricesOf } from './ports/provider-prices.js';
import { MESSAGING_RATE_CARD, rateCardOf } from './ports/rate-card.js';
import type { Token } from './ports/token.js';
import { MESSAGING_METRICS } from './ports/metrics.js';
import { MESSAGING_TRACING } from './ports/tracing.js';
import { Router } from './routing/router.js';
import { useDataSource } from './store/data-source-use.js';
import { MessageStore } from './store/message-store.js';
import { requireTables } from './store/schema/migrator.js';
import { FREQUENCY_CAP_MIGRATIONS } from './store/schema/store.migration.js';
import { ReportRecorder } from './store/verbs/report.js';
import { transportsOf } from './transports.js';
import { WorkQueues } from './work-queues.js';

const PROVIDERS: Provider[] = [
  { provide: MESSAGING_CLOCK, useValue: systemClock },
  provide(MESSAGING_TRACING, [], () => openTelemetryTracing()),
  provide(MESSAGING_METRICS, [], () => openTelemetryMetrics()),
  provide(MESSAGING_SETTINGS, [MESSAGING_OPTIONS], settingsOf),
  provide(ChannelRegistry, [MESSAGING_SETTINGS], registryOf),
  provide(
    DISPATCH_ENGINE,
    [MESSAGING_SETTINGS],
    ({ dispatch }) => dispatch.engine?.({ leaseTime: dispatch.lease }) ?? new DatabaseEngine(),
  ),
  provide(
    MESSAGE_TRANSPORTS,
    [MESSAGING_SETTINGS, ChannelRegistry, HttpService, MESSAGING_CLOCK, ModuleRef],
    (settings, channels, http, clock, module) =>
      transportsOf(
        settings,
        { channels, http, clock, dispatches: settings.dispatch.enabled },
        module,
      ),
  ),
  provide(
    Router,
    [MESSAGING_SETTINGS, MESSAGE_TRANSPORTS, ChannelRegistry],
    ({ routes, providers }, transports, channels) =>
      new Router(routes, transports, channels, pricesOf(providers)),
  ),
  provide(MESSAGING_RATE_CARD, [MESSAGING_SETTINGS, ChannelRegistry], ({ rateCard }, channels) =>
    rateCardOf('rateCard', rateCard, channels),
  ),
  provide(
    MessageStore,
    [
      MESSAGING_DATA_SOURCE,
      MESSAGING_SETTINGS,
      ChannelRegistry,
      MESSAGING_CLOCK,
      EventEmitterPublisher,
      StatusListeners,
      ErasureListeners,
      MESSAGING_TRACING,
      MESSAGING_METRICS,
    ],
    async (
      source,
      { dispatch, reports, store, policy, erasure },
      channels,
      clock,
      events,
      listeners,
      erasureListeners,
      tracing,
      metrics,
    ) => {
      const migrate = store.migrate ?? process.env['NODE_ENV'] !== 'production';
      const known = [...MESSAGING_MIGRATIONS, ...FREQUENCY_CAP_MIGRATIONS];
      const recipientIndex = store.recipientIndex || policy.frequencyCap !== undefined;
      const wanted = recipientIndex ? known : MESSAGING_MIGRATIONS;
      useDataSource(source);
      if (!migrate) await requireTables(source, MESSAGING_ENTITIES);
      return MessageStore.open(
        source,
        {
          ...store,
          ...reports,
          migrate,
          recipientIndex,
          leaseTime: dispatch.lease,
          migrations: { wanted, known },
          digestKeys: erasure.keys,
        },
        {
          channels,
          clock,
          events: metrics ? new MeasuredEvents(events, metrics) : events,
          listeners,
          erasureListeners,
          tracing,
        },
      );
    },
  ),
  provide(HoldWatch, [MessageStore], ({ holds }) => new HoldWatch(holds)),
  provide(ReportRecorder, [MessageStore], ({ reports }) => reports),
  provide(
    PolicyPipeline,
    [
      ProvidedPorts,
      MESSAGING_SETTINGS,
      ChannelRegistry,
      MessageStore,
      RecipientFactsReader,
      MESSAGING_CLOCK,
    ],
    (provided, { policy }, channels, { recentSends }, facts, clock) => {
      const own = () =>
        provided.under<MessagingPolicy>(MESSAGING_POLICY, 'decide', 'a policy with a name');
      const policies = () => policiesInOrder(policy, own(), channels, recentSends);
      return new PolicyPipeline(policies, facts, clock, channels);
    },
  ),
  provide(
    ProviderStates,
    [
      MessageStore,
      MESSAGE_TRANSPORTS,
      MESSAGING_CLOCK,
      MESSAGING_SETTINGS,
      MESSAGING_TRACING,
      MESSAGING_METRICS,
    ],
    (
      { lanes, providerPauses },
      transports,
      clock,
      { dispatch, providers: options },
      tracing,
      metrics,
    ) => {
      const states = new ProviderStates();
      for (const [name, transport] of transports) {
        const limit = options?.[name]?.rateLimit;
        const rate =
          limit && new ProviderRate(lanes, clock, `provider ${name}`, limit.max, limit.per);
        const breaker = new ProviderBreaker(name, clock, dispatch.backoff, providerPauses);
        states.set(name, new ProviderState(name, transport, rate, tracing, metrics, breaker));
      }
      return states;
    },
  ),
  provide(
    ProviderWatch,
    [MessageStore, ProviderStates],
    ({ providerPauses }, states) => new ProviderWatch(providerPauses, states),
  ),
  provide(
    PlaceKeeper,
    [MessageStore, MESSAGE_TRANSPORTS, MESSAGING_CLOCK, MESSAGING_SETTINGS],
    ({ lanes }, transports, clock, { dispatch }) =>
      new PlaceKeeper({ lanes, clock, leaseTime: dispatch.lease }, transports),
  ),
  provide(
    Dispatcher,
    [
      DISPATCH_ENGINE,
      MessageStore,
      PolicyPipeline,
      ProviderStates,
      Router,
      MESSAGING_CLOCK,
      MESSAGING_SETTINGS,
      HoldWatch,
      PlaceKeeper,
    ],
    (engine, store, policy, providers, router, clock, { dispatch }, holds, places) => {
      const { lanes, work, intents, outcomes, doubts, reports, data } = store;
      const budget = new PrefetchBudget();
      const waves: Waves<PreparedSubmission> = new Map();
      const stores = { lanes, work, intents, outcomes, doubts, reports, data };
      const { channels } = store.database;
      const parts = { ...stores, policy, router, channels, providers, budget, waves, clock };
      const context = { ...parts, holds, places, ...dispatch, leaseTime: dispatch.lease };
      const dispatcher = new Dispatcher(engine, context, messageLanes(context));
      store.reports.wake = (lane) => dispatcher.wake(lane);
      return dispatcher;
    },
  ),
  provide(
    WorkQueues,
    [MessageStore, MESSAGING_CLOCK, MESSAGING_SETTINGS],
    (store, clock, { dispatch }) =>
      new WorkQueues(store, clock, { ...dispatch, leaseTime: dispatch.lease }),
  ),
  provide(
    NotificationService,
    [ChannelContext, MESSAGING_SETTINGS, EventEmitterPublisher, ErasureListeners, HoldWatch],
    (context, settings, events, erasures, holds) =>
      new NotificationService(context, settings, events, erasures, holds),
  ),
  provide(
    InboundRecorder,
    [
      ContactStore,
      ChannelRegistry,
      MESSAGING_CLOCK,
      EventEmitterPublisher,
      InboundListeners,
      MESSAGING_SETTINGS,
      Enqueuer,
    ],
    (contacts, channels, clock, events, listeners, { inbound }, enqueuer) =>
      new InboundRecorder(contacts, channels, clock, events, listeners, inbound, (received) =>
        enqueuer.replyTo(received),
      ),
  ),
];

/**
 * Background messaging on the app's own TypeORM database.
 * @example
 * MessagingModule.forRoot({ transport: http({ baseUrl: 'https://sms.example.com', apiToken }) })
 */
@Module({
  imports: [HttpModule, EventEmitterModule.forRoot({ global: false }), DiscoveryModule],
  providers: [
    ...PROVIDERS,
    CallbackCounts,
    ChannelContext,
    ContactsService,
    ContactStore,
    EmailService,
    Enqueuer,
    ErasureListeners,
    EventEmitterPublisher,
    HoldsService,
    InboundListeners,
    InboundTexts,
    MessageHistory,
    MessageStatusHandlers,
    MessagingOperations,
    MessagingRuntime,
    MessagingService,
    PolicyService,
    ProvidedPorts,
    QueueMetrics,
    RecipientFactsReader,
    SmsService,
    StatusListeners,
    TemplateListeners,
    VoiceService,
    VasService,
    VerificationService,
    WhatsAppService,
  ],
  exports: [
    CallbackCounts,
    ChannelRegistry,
    ContactsService,
    EmailService,
    HoldsService,
    MessageHistory,
    MessagingOperations,
    MessagingService,
    NotificationService,
    PolicyService,
    SmsService,
    VoiceService,
    VasService,
    VerificationService,
    WhatsAppService,
    WorkQueues,
    DISPATCH_ENGINE,
    MESSAGE_TRANSPORTS,
    MESSAGING_CLOCK,
    MESSAGING_METRICS,
    MESSAGING_RATE_CARD,
    MESSAGING_TRACING,
  ],
})
export class MessagingModule extends ConfigurableModuleClass {}

type Dependency = Token<unknown> | Abstract<unknown>;
type Provided<D> = D extends Token<infer T> | Abstract<infer T> ? T : never;

function provide<const D extends Dependency, const I extends readonly Dependency[]>(
  token: D,
  inject: I,
  useFactory: (
    ...dependencies: { -readonly [Place in keyof I]: Provided<I[Place]> }
  ) => Provided<D> | Promise<Provided<D>>,
): Provider {
  return { provide: token, useFactory, inject: [...inject] };
}
