import { HttpModule, HttpService } from '@nestjs/axios';
import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { EventEmitterModule } from '@nestjs/event-emitter';
import type { DataSource } from 'typeorm';
import { ConsentReplies } from './channels/consent-replies.js';
import { Intake } from './channels/intake.js';
import { smsChannel } from './channels/sms/sms.channel.js';
import { SmsService } from './channels/sms/sms.service.js';
import { whatsAppChannel } from './channels/whatsapp/whatsapp.channel.js';
import { WhatsAppService } from './channels/whatsapp/whatsapp.service.js';
import { ContactsService } from './contacts/contacts.service.js';
import { RecipientFactsReader } from './contacts/recipient-facts.js';
import { TracedIntake } from './channels/traced-intake.js';
import { Dispatcher } from './dispatch/dispatcher.js';
import { MessageLanes } from './dispatch/message-lane.js';
import { tracedTransport } from './dispatch/traced.transport.js';
import { RequestSlots } from './dispatch/request-slots.js';
import { PrefetchBudget } from './dispatch/prefetch-budget.js';
import { TransportRate } from './dispatch/transport-rate.js';
import { DatabaseEngine } from './engines/database.engine.js';
import { EventEmitterPublisher } from './event-emitter.publisher.js';
import { inboundProvider } from './inbound.provider.js';
import { MessageStore } from './store/message-store.js';
import { ReportRecorder } from './store/report.recorder.js';
import { ChannelRegistry } from './message/channel-registry.js';
import { MessagingConfigError } from './message/errors.js';
import { ConfigurableModuleClass, MESSAGING_DATA_SOURCE } from './messaging.module-definition.js';
import { migrationsFor } from './messaging.schema.js';
import { MessagingRuntime } from './messaging.runtime.js';
import { MessagingService } from './messaging.service.js';
import { settingsOf } from './messaging-settings.js';
import { openTelemetryTracing } from './open-telemetry.tracing.js';
import { PolicyPipeline } from './policy/policy-pipeline.js';
import { PolicyService } from './policy/policy.service.js';
import { PolicyRegistry } from './policy-registry.js';
import { type Clock, MESSAGING_CLOCK, systemClock } from './ports/clock.js';
import { DISPATCH_ENGINE, type DispatchEngine } from './ports/dispatch-engine.js';
import { EVENT_PUBLISHER, type EventPublisher } from './ports/event-publisher.js';
import { InboundListeners } from './ports/inbound-listener.js';
import { LANE_WAKER, type LaneWaker } from './ports/lane-waker.js';
import { MESSAGE_TRANSPORT, type MessageTransport } from './ports/message-transport.js';
import { MESSAGING_OPTIONS, type MessagingOptions } from './ports/messaging-options.js';
import { MESSAGING_RATE_CARD, rateCardOf } from './ports/rate-card.js';
import { rateOf } from './ports/rate-limit.js';
import { StatusListeners } from './ports/status-listener.js';
import { MESSAGING_TRACING, type MessagingTracing } from './ports/tracing.js';
import { http } from './providers/http/http.transport.js';
import { WorkQueues } from './work-queues.js';

/**
 * Background messaging on the app's own TypeORM database.
 *
 * @example
 * MessagingModule.forRoot({ baseUrl: 'https://sms.example.com', apiToken: process.env.SMS_TOKEN })
 */
@Module({
  imports: [HttpModule, EventEmitterModule.forRoot(), DiscoveryModule],
  providers: [
    StatusListeners,
    InboundListeners,
    { provide: ChannelRegistry, useFactory: registryOf, inject: [MESSAGING_OPTIONS] },
    {
      provide: Intake,
      useFactory: (
        store: MessageStore,
        waker: LaneWaker,
        policy: PolicyPipeline,
        tracing: MessagingTracing | undefined,
      ) =>
        tracing
          ? new TracedIntake(store, waker, policy, tracing)
          : new Intake(store, waker, policy),
      inject: [MessageStore, LANE_WAKER, PolicyPipeline, MESSAGING_TRACING],
    },
    { provide: MESSAGING_TRACING, useFactory: () => openTelemetryTracing() },
    ConsentReplies,
    inboundProvider,
    SmsService,
    WhatsAppService,
    ContactsService,
    PolicyService,
    PolicyRegistry,
    MessagingService,
    MessagingRuntime,
    {
      provide: MESSAGING_RATE_CARD,
      useFactory: ({ rateCard }: MessagingOptions) => rateCardOf('rateCard', rateCard),
      inject: [MESSAGING_OPTIONS],
    },
    { provide: MESSAGING_CLOCK, useValue: systemClock },
    { provide: DISPATCH_ENGINE, useFactory: engineOf, inject: [MESSAGING_OPTIONS] },
    { provide: EVENT_PUBLISHER, useClass: EventEmitterPublisher },
    {
      provide: MESSAGE_TRANSPORT,
      useFactory: transportOf,
      inject: [MESSAGING_OPTIONS, HttpService, MESSAGING_CLOCK],
    },
    {
      provide: MessageStore,
      useFactory: (
        dataSource: DataSource,
        options: MessagingOptions,
        channels: ChannelRegistry,
        clock: Clock,
        events: EventPublisher,
        listeners: StatusListeners,
        tracing: MessagingTracing | undefined,
      ) =>
        MessageStore.open(
          dataSource,
          { ...settingsOf(options), migrations: migrationsFor(options) },
          { channels, clock, events, listeners, tracing },
        ),
      inject: [
        MESSAGING_DATA_SOURCE,
        MESSAGING_OPTIONS,
        ChannelRegistry,
        MESSAGING_CLOCK,
        EVENT_PUBLISHER,
        StatusListeners,
        MESSAGING_TRACING,
      ],
    },
    {
      provide: RecipientFactsReader,
      useFactory: ({ database }: MessageStore, clock: Clock) =>
        new RecipientFactsReader(database, clock),
      inject: [MessageStore, MESSAGING_CLOCK],
    },
    {
      provide: PolicyPipeline,
      useFactory: (registry: PolicyRegistry, facts: RecipientFactsReader, clock: Clock) =>
        new PolicyPipeline(() => registry.policies, facts, clock),
      inject: [PolicyRegistry, RecipientFactsReader, MESSAGING_CLOCK],
    },
    {
      provide: ReportRecorder,
      useFactory: ({ reports }: MessageStore) => reports,
      inject: [MessageStore],
    },
    {
      provide: Dispatcher,
      useFactory: dispatcherOf,
      inject: [
        DISPATCH_ENGINE,
        MessageStore,
        PolicyPipeline,
        MESSAGE_TRANSPORT,
        MESSAGING_CLOCK,
        MESSAGING_OPTIONS,
        MESSAGING_TRACING,
      ],
    },
    {
      provide: WorkQueues,
      useFactory: (store: MessageStore, clock: Clock, options: MessagingOptions) =>
        new WorkQueues(store, clock, settingsOf(options)),
      inject: [MessageStore, MESSAGING_CLOCK, MESSAGING_OPTIONS],
    },
    { provide: LANE_WAKER, useExisting: Dispatcher },
  ],
  exports: [
    SmsService,
    WhatsAppService,
    ContactsService,
    PolicyService,
    MessagingService,
    ChannelRegistry,
    StatusListeners,
    InboundListeners,
    WorkQueues,
    MESSAGING_CLOCK,
    MESSAGING_RATE_CARD,
    MESSAGING_TRACING,
  ],
})
export class MessagingModule extends ConfigurableModuleClass {}

function registryOf(options: MessagingOptions): ChannelRegistry {
  const { whatsapp = {}, channels = [] } = options;
  return new ChannelRegistry([smsChannel(options), whatsAppChannel(whatsapp), ...channels]);
}

function transportOf(
  options: MessagingOptions,
  httpService: HttpService,
  clock: Clock,
): MessageTransport {
  const { transport, baseUrl, apiToken, apiKey } = options;
  if (transport) return transport({ http: httpService, clock });
  if (baseUrl === undefined)
    throw new MessagingConfigError(
      'transport: nothing to send through; set baseUrl and apiToken, or transport: simulator() for development',
    );
  return http({ baseUrl, apiToken: apiToken ?? '', ...(apiKey !== undefined && { apiKey }) })({
    http: httpService,
    clock,
  });
}

function engineOf(options: MessagingOptions): DispatchEngine {
  const { leaseTime } = settingsOf(options);
  return options.engine?.({ leaseTime }) ?? new DatabaseEngine();
}

function dispatcherOf(
  engine: DispatchEngine,
  { lanes, work, intents, outcomes }: MessageStore,
  policy: PolicyPipeline,
  transport: MessageTransport,
  clock: Clock,
  options: MessagingOptions,
  tracing: MessagingTracing | undefined,
): Dispatcher {
  const { transportRateLimit } = options;
  const rate = transportRateLimit && rateOf('transportRateLimit', transportRateLimit);
  const transportRate =
    rate && new TransportRate(lanes, clock, `transport ${transport.name}`, rate.max, rate.per);
  const context = {
    lanes,
    work,
    intents,
    outcomes,
    policy,
    transport: tracing ? tracedTransport(transport, tracing) : transport,
    transportRate,
    stock: new PrefetchBudget(),
    slots: new RequestSlots(transport.capabilities.connections),
    clock,
    served: { at: -Infinity },
    ...settingsOf(options),
  };
  return new Dispatcher(engine, context, new MessageLanes(context, options));
}
