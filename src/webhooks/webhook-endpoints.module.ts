import { type Clock, MESSAGING_CLOCK, MessagingService } from '@dundun/messaging';
import { Module } from '@nestjs/common';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { ENVIRONMENT } from '../config/environment.js';
import { WebhookDatabase } from './webhook-database.js';
import { WebhookEndpointCache } from './webhook-endpoint.cache.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';
import { WEBHOOK_OPTIONS, webhookOptions, type WebhookOptions } from './webhook-options.js';
import { WebhookRedeliveryService } from './webhook-redelivery.service.js';

/** Webhook endpoints without anything that sends: for the command line too. */
@Module({
  providers: [
    { provide: WEBHOOK_OPTIONS, useFactory: webhookOptions, inject: [ENVIRONMENT] },
    {
      provide: WebhookDatabase,
      useFactory: (dataSource: DataSource, messaging: MessagingService) =>
        new WebhookDatabase(dataSource, messaging),
      inject: [getDataSourceToken(), MessagingService],
    },
    {
      provide: WebhookEndpointCache,
      useFactory: (database: WebhookDatabase, clock: Clock, { staleness }: WebhookOptions) =>
        new WebhookEndpointCache(database, clock, staleness),
      inject: [WebhookDatabase, MESSAGING_CLOCK, WEBHOOK_OPTIONS],
    },
    {
      provide: WebhookEndpointsService,
      useFactory: (
        database: WebhookDatabase,
        cache: WebhookEndpointCache,
        clock: Clock,
        options: WebhookOptions,
      ) => new WebhookEndpointsService(database, cache, clock, options),
      inject: [WebhookDatabase, WebhookEndpointCache, MESSAGING_CLOCK, WEBHOOK_OPTIONS],
    },
    {
      provide: WebhookRedeliveryService,
      useFactory: (database: WebhookDatabase, endpoints: WebhookEndpointsService, clock: Clock) =>
        new WebhookRedeliveryService(database, endpoints, clock),
      inject: [WebhookDatabase, WebhookEndpointsService, MESSAGING_CLOCK],
    },
  ],
  exports: [
    WEBHOOK_OPTIONS,
    WebhookDatabase,
    WebhookEndpointCache,
    WebhookEndpointsService,
    WebhookRedeliveryService,
  ],
})
export class WebhookEndpointsModule {}
