import {
  type Clock,
  MESSAGING_CLOCK,
  MESSAGING_ERASURE_LISTENER,
  MESSAGING_INBOUND_LISTENER,
  MESSAGING_STATUS_LISTENER,
} from '@dundun/messaging';
import { Global, Inject, Module } from '@nestjs/common';
import { AccountEvents } from '../accounts/account-events.js';
import { AccountsModule } from '../accounts/accounts.module.js';
import { BillingModule } from '../billing/billing.module.js';
import { ENVIRONMENT } from '../config/environment.js';
import { Metrics } from '../metrics/metrics.js';
import { SecretsModule } from '../secrets/secrets.js';
import { WebhookClient } from './webhook-client.js';
import { CallbackCatalogue } from './callback-catalogue.js';
import { WebhookAttempts } from './webhook-attempts.js';
import { WebhookDeliveryStore } from './webhook-delivery.store.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';
import { WebhookErasure } from './webhook-erasure.js';
import { WebhookEvents } from './webhook-event.js';
import { WebhookKinds } from './webhook-kinds.js';
import { WEBHOOK_OPTIONS, webhookOptions } from './webhook-options.js';
import { WebhookOutbox, WebhookOutboxListener, WebhookWakes } from './webhook-outbox.js';
import { WebhookSender } from './webhook-sender.js';
import { EmailWebhooksController, WebhooksController } from './webhooks.controller.js';

const SERVICES = [WebhookAttempts, WebhookDeliveryStore, WebhookEndpointsService, WebhookOutbox];

/** Webhook endpoints without the sender; also used by the command line. */
@Global()
@Module({
  imports: [BillingModule, SecretsModule],
  providers: [
    { provide: WEBHOOK_OPTIONS, useFactory: webhookOptions, inject: [ENVIRONMENT] },
    ...SERVICES,
    { provide: AccountEvents, useExisting: WebhookOutbox },
    WebhookErasure,
    { provide: MESSAGING_ERASURE_LISTENER, useExisting: WebhookErasure },
    WebhookEvents,
    WebhookKinds,
    WebhookOutboxListener,
    { provide: MESSAGING_STATUS_LISTENER, useExisting: WebhookOutboxListener },
    { provide: MESSAGING_INBOUND_LISTENER, useExisting: WebhookOutboxListener },
  ],
  exports: [
    WebhookEvents,
    WebhookKinds,
    WebhookOutboxListener,
    WEBHOOK_OPTIONS,
    AccountEvents,
    ...SERVICES,
  ],
})
export class WebhookEndpointsModule {}

/** Callbacks to customers: written with the statuses, sent in the background. */
@Module({
  imports: [AccountsModule, WebhookEndpointsModule],
  controllers: [WebhooksController, EmailWebhooksController],
  providers: [CallbackCatalogue, WebhookClient, WebhookSender, WebhookWakes],
  exports: [CallbackCatalogue, WebhookClient, WebhookEndpointsModule, WebhookSender],
})
export class WebhooksModule {
  constructor(
    metrics: Metrics,
    deliveries: WebhookDeliveryStore,
    @Inject(MESSAGING_CLOCK) clock: Pick<Clock, 'now'>,
  ) {
    metrics.gauge(
      'dundun_webhook_lag_seconds',
      'How long ago the oldest callback that is due was made, over all enabled endpoints.',
      [],
      async () => {
        const now = clock.now();
        const ages = (await deliveries.firstDue(now)).map(({ createdAt }) => now - createdAt);
        return [[{}, Math.max(0, ...ages) / 1_000]];
      },
    );
  }
}
