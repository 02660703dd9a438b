import { type Abstract, Module, type Provider } from '@nestjs/common';
import { DiscoveryModule, ModuleRef, ModulesContainer } from '@nestjs/core';
import { EventEmitterModule } from '@nestjs/event-emitter';
import type { DataSource } from 'typeorm';
import { CallbackCounts } from './callbacks/callbacks.service.js';
import { registryOf } from './channels/built-in-channels.js';
import { ChannelContext } from './channels/channel.service.js';
import { Enqueuer } from './channels/enqueuer.js';
import { EmailService } from './channels/email/email.service.js';
import { SmsService } from './channels/sms/sms.service.js';
import { VoiceService } from './channels/voice/voice.service.js';
import { ReceiptDoubts } from './channels/verification/receipt-doubts.js';
import { VerificationService } from './channels/verification/verification.service.js';
import { NotificationEvents } from './channels/notification/notification-events.js';
import { NotificationService } from './channels/notification/notification.service.js';
import { Notifier } from './channels/notification/notifier.js';
import { VasService } from './channels/vas/vas.service.js';
import { WhatsAppService } from './channels/whatsapp/whatsapp.service.js';
import { ContactStore } from './contacts/contact-store.js';
import { ContactsService } from './contacts/contacts.service.js';
import { InboundRecorder } from './contacts/inbound.js';
import { LearntNumbers } from './contacts/learnt-numbers.js';
import { NumberLearner } from './contacts/number-learner.js';
import { InboundTexts } from './contacts/inbound-texts.js';
import { InboundService } from './inbound.service.js';
import { MessageStatusHandlers } from './message-status-handlers.js';
import { MessageHistory, requireOutcomes } from './operations/history.service.js';
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
import { ListeningEngine } from './engines/listening.engine.js';
import { HoldsService } from './operations/holds.service.js';
import { MessagingOperations } from './operations/operations.service.js';
import { EventEmitterPublisher } from './event-emitter.publisher.js';
import { ChannelRegistry } from './message/channel-registry.js';
import { JobIntervals } from './jobs/job-intervals.js';
import {
  ConfigurableModuleClass,
  MESSAGING_DATA_SOURCE,
  requireOnly,
} from './messaging.module-definition.js';
import { MessagingRuntime } from './messaging.runtime.js';
import { MESSAGING_ENTITIES, MESSAGING_MIGRATIONS } from './messaging.schema.js';
import { MessagingService } from './messaging.service.js';
import { MeasuredEvents, QueueMetrics } from './queue-metrics.js';
import { openTelemetryMetrics } from './telemetry/open-telemetry.metrics.js';
import { openTelemetryTracing } from './telemetry/open-telemetry.tracing.js';
import { AbuseGuard, warnOfFinding } from './policy/abuse-guard.js';
import { policiesInOrder } from './policy/policies-in-order.js';
import { PolicyPipeline } from './policy/policy-pipeline.js';
import { PolicyService } from './policy/policy.service.js';
import { MESSAGING_CLOCK, systemClock } from './ports/clock.js';
import { DISPATCH_ENGINE, type DispatchEngine } from './ports/dispatch-engine.js';
import {
  ErasureListeners,
  InboundListeners,
  ProvidedPorts,
  StatusListeners,
  TemplateListeners,
} from './ports/listeners.js';
import { requireAmbient } from './ports/ambient-transaction.js';
import { MESSAGE_TRANSPORTS, MESSAGING_HTTP } from './ports/message-transport.js';
import { MESSAGING_OPTIONS } from './ports/messaging-options.js';
import { MESSAGING_SETTINGS, settingsOf } from './ports/messaging-settings.js';
import { MESSAGING_POLICY, type MessagingPolicy } from './ports/messaging-policy.js';
import { costsOf } from './ports/provider-costs.js';
import { MESSAGING_RATE_CARD, rateCardOf } from './ports/rate-card.js';
import { SpendGuards } from './ports/spend-guard.js';
import type { Token } from './ports/token.js';
import { MESSAGING_METRICS } from './ports/metrics.js';
import { Telemetry } from './ports/telemetry.js';
import { MESSAGING_TRACING } from './ports/tracing.js';
import { BestProviders } from './routing/best-providers.js';
import { Router } from './routing/router.js';
import type { StoreDatabase } from './store/database/store-database.js';
import { WakeChannel } from './store/postgres/wake-channel.js';
import type { Transaction } from './store/database/store-database.js';
import { MessageStore } from './store/message-store.js';
import { StoreListeners } from './store/store-listeners.js';
import { cancellingOf } from './cancellation-queue.js';
import { DispatchParts, ServiceJobs } from './runtime-parts.js';
import { requireRecipientIndex, requireTables } from './store/schema/migrator.js';
import { FREQUENCY_CAP_MIGRATIONS } from './store/schema/store.migration.js';
import { ReportRecorder } from './store/verbs/report.js';
import { transportsOf } from './transports.js';
import { WorkQueues } from './work-queues.js';

const PROVIDERS: Provider[] = [
  { provide: MESSAGING_CLOCK, useValue: systemClock },
  provide(MESSAGING_HTTP, {}, () => undefined),
  provide(MESSAGING_TRACING, {}, () => openTelemetryTracing()),
  provide(MESSAGING_METRICS, {}, () => openTelemetryMetrics()),
  provide(MESSAGING_SETTINGS, { options: MESSAGING_OPTIONS }, ({ options }) => settingsOf(options)),
  provide(ChannelRegistry, { settings: MESSAGING_SETTINGS }, ({ settings }) =>
    registryOf(settings),
  ),
  provide(
    DISPATCH_ENGINE,
    { settings: MESSAGING_SETTINGS, source: MESSAGING_DATA_SOURCE, store: MessageStore },
    ({ settings: { dispatch }, source, store }) =>
      dispatch.engine?.({
        leaseTime: dispatch.lease,
        identity: () => store.holds.identity(),
      }) ?? embeddedEngine(source, store.database),
  ),
  provide(
    MESSAGE_TRANSPORTS,
    {
      settings: MESSAGING_SETTINGS,
      channels: ChannelRegistry,
      http: MESSAGING_HTTP,
      clock: MESSAGING_CLOCK,
      module: ModuleRef,
    },
    ({ settings, module, ...parts }) =>
      transportsOf(settings, { ...parts, dispatches: settings.dispatch.enabled }, module),
  ),
  provide(
    ReceiptDoubts,
    { settings: MESSAGING_SETTINGS, store: MessageStore, clock: MESSAGING_CLOCK },
    ({ settings: { reports }, store, clock }) => new ReceiptDoubts(store, clock, reports.witness),
  ),
  provide(
    Router,
    {
      settings: MESSAGING_SETTINGS,
      transports: MESSAGE_TRANSPORTS,
      channels: ChannelRegistry,
      store: MessageStore,
      clock: MESSAGING_CLOCK,
      doubts: ReceiptDoubts,
    },
    ({ settings: { routes, providers, best }, transports, channels, store, clock, doubts }) => {
      const compared = new BestProviders(best, clock, (since) => doubts.read(since));
      const router = new Router(routes, transports, channels, costsOf(providers), compared);
      if (router.usesBest) requireOutcomes(store);
      return router;
    },
  ),
  provide(
    MESSAGING_RATE_CARD,
    { settings: MESSAGING_SETTINGS, channels: ChannelRegistry },
    ({ settings: { rateCard }, channels }) => rateCardOf('rateCard', rateCard, channels),
  ),
  provide(
    MessageStore,
    {
      modules: ModulesContainer,
      source: MESSAGING_DATA_SOURCE,
      settings: MESSAGING_SETTINGS,
      transports: MESSAGE_TRANSPORTS,
      channels: ChannelRegistry,
      clock: MESSAGING_CLOCK,
      events: EventEmitterPublisher,
      listeners: StatusListeners,
      erasureListeners: ErasureListeners,
      storeListeners: StoreListeners,
      spend: SpendGuards,
      telemetry: Telemetry,
    },
    async ({ modules, source, settings, transports, telemetry, events, ...others }) => {
      const { ambientTransaction, dispatch, reports, store, policy, erasure, verification } =
        settings;
      const { tracing, metrics } = telemetry;
      const migrate = store.migrate ?? process.env['NODE_ENV'] !== 'production';
      const known = [...MESSAGING_MIGRATIONS, ...FREQUENCY_CAP_MIGRATIONS];
      const recipientIndex = store.recipientIndex || policy.frequencyCap !== undefined;
      const wanted = recipientIndex ? known : MESSAGING_MIGRATIONS;
      requireOnly(modules);
      requireAmbient(source, ambientTransaction);
      if (!migrate) {
        await requireTables(source, MESSAGING_ENTITIES);
        if (recipientIndex) await requireRecipientIndex(source);
      }
      const opened = await MessageStore.open(
        source,
        {
          ...store,
          ...reports,
          migrate,
          recipientIndex,
          leaseTime: dispatch.lease,
          migrations: { wanted, known },
          digestKeys: erasure.keys,
          contentKeys: verification.keys,
          cancelling: cancellingOf(transports),
          costs: costsOf(settings.providers),
          ambient: ambientTransaction,
        },
        { ...others, events: metrics ? new MeasuredEvents(events, metrics) : events, tracing },
      );
      const { database, digests, holds } = opened;
      const { spend } = others;
      const placed = ({ manager: { queryRunner } }: Transaction) =>
        opened.afterCommit.on(queryRunner!, () => void spend.followHolds?.());
      const parts = { database, digests, holds, clock: others.clock, placed };
      if (policy.guard)
        spend.abuse = new AbuseGuard(policy.guard, parts, policy.onFinding ?? warnOfFinding);
      return opened;
    },
  ),
  provide(HoldWatch, { store: MessageStore, spend: SpendGuards }, ({ store, spend }) => {
    const watch = new HoldWatch(store.holds);
    spend.followHolds = () => watch.follow();
    return watch;
  }),
  provide(ReportRecorder, { store: MessageStore }, ({ store }) => store.reports),
  provide(
    PolicyPipeline,
    {
      provided: ProvidedPorts,
      settings: MESSAGING_SETTINGS,
      channels: ChannelRegistry,
      store: MessageStore,
      facts: RecipientFactsReader,
      clock: MESSAGING_CLOCK,
    },
    ({ provided, settings: { policy }, channels, store, facts, clock }) => {
      const { database, recentSends } = store;
      const own = () =>
        provided.under<MessagingPolicy>(MESSAGING_POLICY, 'decide', 'a policy with a name');
      const learnt = new LearntNumbers(database);
      const policies = () => policiesInOrder(policy, own(), channels, recentSends, learnt);
      return new PolicyPipeline(policies, facts, clock, channels);
    },
  ),
  provide(
    ProviderStates,
    {
      store: MessageStore,
      transports: MESSAGE_TRANSPORTS,
      clock: MESSAGING_CLOCK,
      settings: MESSAGING_SETTINGS,
      telemetry: Telemetry,
    },
    ({ store: { lanes, providerPauses }, transports, clock, settings, telemetry }) => {
      const { dispatch, providers: options } = settings;
      const { tracing, metrics } = telemetry;
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
    { store: MessageStore, states: ProviderStates },
    ({ store, states }) => new ProviderWatch(store.providerPauses, states),
  ),
  provide(
    PlaceKeeper,
    {
      store: MessageStore,
      transports: MESSAGE_TRANSPORTS,
      clock: MESSAGING_CLOCK,
      settings: MESSAGING_SETTINGS,
    },
    ({ store: { lanes }, transports, clock, settings: { dispatch } }) =>
      new PlaceKeeper({ lanes, clock, leaseTime: dispatch.lease }, transports),
  ),
  provide(
    Dispatcher,
    {
      engine: DISPATCH_ENGINE,
      store: MessageStore,
      storeListeners: StoreListeners,
      settings: MESSAGING_SETTINGS,
      policy: PolicyPipeline,
      providers: ProviderStates,
      router: Router,
      clock: MESSAGING_CLOCK,
      holds: HoldWatch,
      places: PlaceKeeper,
    },
    ({ engine, store, storeListeners, settings: { dispatch }, ...parts }) => {
      const { lanes, work, intents, outcomes, doubts, reports, data } = store;
      const budget = new PrefetchBudget();
      const waves: Waves<PreparedSubmission> = new Map();
      const stores = { lanes, work, intents, outcomes, doubts, reports, data };
      const { channels } = store.database;
      const own = { ...stores, channels, budget, waves, leaseTime: dispatch.lease };
      const context = { ...parts, ...dispatch, ...own };
      const dispatcher = new Dispatcher(engine, context, messageLanes(context));
      storeListeners.add({ onResent: (lane) => dispatcher.wake(lane) });
      return dispatcher;
    },
  ),
  provide(
    WorkQueues,
    { store: MessageStore, clock: MESSAGING_CLOCK, settings: MESSAGING_SETTINGS },
    ({ store, clock, settings: { dispatch } }) =>
      new WorkQueues(store, clock, { ...dispatch, leaseTime: dispatch.lease }),
  ),
  provide(
    NotificationService,
    {
      context: ChannelContext,
      settings: MESSAGING_SETTINGS,
      publisher: EventEmitterPublisher,
      listeners: StatusListeners,
      erasures: ErasureListeners,
      storeListeners: StoreListeners,
      holds: HoldWatch,
    },
    ({ context, settings, publisher, listeners, erasures, storeListeners, holds }) => {
      const events = new NotificationEvents(context.store.database, listeners, publisher);
      return new NotificationService(context, settings, events, erasures, storeListeners, holds);
    },
  ),
  provide(
    InboundRecorder,
    {
      contacts: ContactStore,
      channels: ChannelRegistry,
      clock: MESSAGING_CLOCK,
      events: EventEmitterPublisher,
      listeners: InboundListeners,
      settings: MESSAGING_SETTINGS,
      enqueuer: Enqueuer,
    },
    ({ contacts, channels, clock, events, listeners, settings: { inbound }, enqueuer }) =>
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
  imports: [EventEmitterModule.forRoot({ global: false }), DiscoveryModule],
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
    InboundService,
    InboundTexts,
    JobIntervals,
    MessageHistory,
    MessageStatusHandlers,
    MessagingOperations,
    DispatchParts,
    MessagingRuntime,
    ServiceJobs,
    SpendGuards,
    StoreListeners,
    Telemetry,
    MessagingService,
    NumberLearner,
    Notifier,
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
    InboundService,
    MessageHistory,
    MessagingOperations,
    MessagingService,
    NotificationService,
    Notifier,
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
type Injected<I> = { readonly [Name in keyof I]: Provided<I[Name]> };

/** The engine without a broker. */
function embeddedEngine(source: DataSource, database: StoreDatabase): DispatchEngine {
  const channel = WakeChannel.of(source, database);
  return channel ? new ListeningEngine(channel) : new DatabaseEngine();
}

/** @param inject the dependencies, by the names that the factory gets them under */
function provide<const D extends Dependency, const I extends Readonly<Record<string, Dependency>>>(
  token: D,
  inject: I,
  useFactory: (dependencies: Injected<I>) => Provided<D> | Promise<Provided<D>>,
): Provider {
  const names = Object.keys(inject);
  return {
    provide: token,
    // Nest injects them in the order of `inject`.
    useFactory: (...injected: unknown[]) =>
      useFactory(Object.fromEntries(names.map((name, n) => [name, injected[n]])) as Injected<I>),
    inject: Object.values(inject),
  };
}
