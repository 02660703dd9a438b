import type { JsonSchema } from '../http/schema.js';
import { objectOf, pageOf, TIME, TIME_OR_NULL, UUID } from '../http/schema.js';

const URL: JsonSchema = {
  type: 'string',
  maxLength: 2048,
  examples: ['https://example.com/sms-reports'],
};

const WEBHOOK: Readonly<Record<string, JsonSchema>> = {
  webhook_id: UUID,
  url: URL,
  status: { type: 'string', enum: ['enabled', 'disabled'] },
  disabled_reason: {
    type: ['string', 'null'],
    enum: ['gone', 'failing', 'account', null],
    description:
      '`gone`: it answered 410; `failing`: no success for five days; `account`: its owner.',
  },
  disabled_at: TIME_OR_NULL,
  failing_since: { ...TIME_OR_NULL, description: 'First failure since the last success.' },
  created_at: TIME,
};

/** Components of the webhooks surface. */
export const WEBHOOK_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  CreateWebhook: objectOf({ url: URL }),
  UpdateWebhook: objectOf({ url: URL, enabled: { type: 'boolean' } }, ['url', 'enabled']),
  RedeliverWebhook: objectOf(
    {
      since: { ...TIME, description: 'Everything made at or after, delivered or not.' },
      delivery_id: { ...UUID, description: 'One delivery, by its `webhook-id`.' },
    },
    ['since', 'delivery_id'],
  ),
  Redelivered: objectOf({ redelivered: { type: 'integer', minimum: 0 } }),
  Webhook: objectOf(WEBHOOK),
  WebhookPage: pageOf('Webhook'),
  WebhookWithSecret: objectOf({
    ...WEBHOOK,
    secret: { type: 'string', pattern: '^whsec_', description: 'Of Standard Webhooks.' },
    previous_secret_until: {
      ...TIME_OR_NULL,
      description: 'Until then callbacks are signed with the previous secret too.',
    },
  }),
  WebhookAttempt: objectOf({
    delivery_id: { ...UUID, description: 'The `webhook-id` it carried.' },
    message_id: { type: 'string' },
    attempt: { type: 'integer', minimum: 1 },
    attempted_at: TIME,
    duration_ms: { type: 'integer', minimum: 0 },
    status_code: { type: ['integer', 'null'], description: 'null: no answer came.' },
    error: { type: ['string', 'null'], description: 'null: success.' },
    response: { type: ['string', 'null'], description: 'Beginning of the answer’s body.' },
  }),
  WebhookAttemptPage: pageOf('WebhookAttempt'),
};
