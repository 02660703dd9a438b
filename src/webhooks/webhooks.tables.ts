import { WebhookAttemptEntity } from './webhook-attempt.entity.js';
import { WebhookDeliveryEntity } from './webhook-delivery.entity.js';
import { WebhookEndpointEntity } from './webhook-endpoint.entity.js';
import { Webhooks1700000002000 } from './webhooks.migration.js';

/** What this folder brings to the database. */
export const WEBHOOK_TABLES = {
  entities: [WebhookEndpointEntity, WebhookDeliveryEntity, WebhookAttemptEntity],
  migrations: [Webhooks1700000002000],
};
