import {
  type Clock,
  MESSAGING_CLOCK,
  MESSAGING_TRACING,
  MessagingService,
  type MessagingTracing,
} from '@dundun/messaging';
import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { Metrics } from '../metrics/metrics.js';
import { TracedWebhookClient } from './traced-webhook-client.js';
import { WebhookAttemptsRepository } from './webhook-attempts.repository.js';
import { WebhookClient } from './webhook-client.js';
import { WebhookDatabase } from './webhook-database.js';
import { WebhookDeliveriesRepository } from './webhook-deliveries.repository.js';
import { WebhookEndpointCache } from './webhook-endpoint.cache.js';
import { WebhookEndpointsModule } from './webhook-endpoints.module.js';
import { WebhookLeases } from './webhook-leases.js';
import { WEBHOOK_OPTIONS, type WebhookOptions } from './webhook-options.js';
import { WebhookMetrics } from './webhook.metrics.js';
import { WebhookOutboxListener } from './webhook-outbox.listener.js';
import { WebhookPurgeJob } from './webhook-purge.job.js';
import { WebhookRecorder } from './webhook-recorder.js';
import { WebhookRuntime } from './webhook.runtime.js';
import { WebhookSender } from './webhook-sender.js';
import { WebhooksController } from './webhooks.controller.js';

/** Customers' callbacks: written with the statuses, sent in the background, managed over the API. */
@Module({
  imports: [AccountsModule, WebhookEndpointsModule],
  controllers: [WebhooksController],
  providers: [
    WebhookRuntime,
    {
      provide: WebhookMetrics,
      useFactory: (database: WebhookDatabase, clock: Clock, metrics: Metrics) =>
        new WebhookMetrics(database, clock, metrics),
      inject: [WebhookDatabase, MESSAGING_CLOCK, Metrics],
    },
    {
      provide: WebhookOutboxListener,
      useFactory: (database: WebhookDatabase, endpoints: WebhookEndpointCache, clock: Clock) =>
        new WebhookOutboxListener(database, endpoints, clock),
      inject: [WebhookDatabase, WebhookEndpointCache, MESSAGING_CLOCK],
    },
    {
      provide: WebhookAttemptsRepository,
      useFactory: (database: WebhookDatabase) => new WebhookAttemptsRepository(database),
      inject: [WebhookDatabase],
    },
    {
      provide: WebhookPurgeJob,
      useFactory: (database: WebhookDatabase, clock: Clock, options: WebhookOptions) =>
        new WebhookPurgeJob(database, clock, options),
      inject: [WebhookDatabase, MESSAGING_CLOCK, WEBHOOK_OPTIONS],
    },
    {
      provide: WebhookSender,
      useFactory: (
        database: WebhookDatabase,
        endpoints: WebhookEndpointCache,
        clock: Clock,
        options: WebhookOptions,
        messaging: MessagingService,
        tracing: MessagingTracing | undefined,
      ) => {
        const deliveries = new WebhookDeliveriesRepository(database);
        return new WebhookSender({
          deliveries,
          endpoints,
          leases: new WebhookLeases(database, clock, options.lease),
          recorder: new WebhookRecorder(database, deliveries),
          client: tracing
            ? new TracedWebhookClient(options, clock, { messaging, tracing })
            : new WebhookClient(options, clock),
          clock,
          options,
        });
      },
      inject: [
        WebhookDatabase,
        WebhookEndpointCache,
        MESSAGING_CLOCK,
        WEBHOOK_OPTIONS,
        MessagingService,
        MESSAGING_TRACING,
      ],
    },
  ],
  exports: [WebhookEndpointsModule, WebhookSender],
})
export class WebhooksModule {}
