import {
  Choice,
  Field,
  Flag,
  type Plain,
  Text,
  Timestamp,
  Uuid,
  WholeNumber,
} from '../http/fields.js';
import { PageOf } from '../http/page.dto.js';
import { BodyExamples } from '../http/request.decorators.js';
import { Rule } from '../http/validation.js';
import type {
  AttemptError,
  DisabledReason,
  WebhookAttemptEntity,
  WebhookEndpointEntity,
} from './webhooks.tables.js';

function Url(options: { readonly optional?: boolean } = {}): PropertyDecorator {
  return Text({
    maxLength: 2_048,
    examples: ['https://example.com/sms-reports'],
    message:
      'must be an address of at most 2048 characters, such as https://example.com/sms-reports',
    ...options,
  });
}

const MOST_EVENTS = 50;

function EventKinds(options: { readonly optional?: boolean } = {}): PropertyDecorator {
  return Field(
    {
      type: 'array',
      nullable: true,
      items: { type: 'string' },
      minItems: 1,
      maxItems: MOST_EVENTS,
      description:
        'Kinds of callbacks that it receives; null: all that its maker may have. The API token may have all but `email.*`, a key with `email:webhooks` those, and with `whatsapp:read` also `whatsapp.*`.',
      examples: [['email.bounced', 'email.complained']],
      ...options,
    },
    Rule((list) => {
      const isList = Array.isArray(list) && list.length > 0 && list.length <= MOST_EVENTS;
      if (list === null || (isList && list.every((kind) => typeof kind === 'string')))
        return undefined;
      return `must be null or a list of 1 to ${MOST_EVENTS} kinds, such as ["email.bounced"]`;
    }),
  );
}

@BodyExamples({
  endpoint: { url: 'https://example.com/sms-reports' },
  'of some kinds': {
    url: 'https://example.com/bounces',
    events: ['email.bounced', 'email.complained'],
  },
})
export class CreateWebhook {
  @Url() readonly url!: string;
  @EventKinds({ optional: true }) readonly events?: readonly string[] | null;
}

@BodyExamples({
  'enable again': { enabled: true },
  move: { url: 'https://example.com/reports' },
})
export class UpdateWebhook {
  @Url({ optional: true }) readonly url?: string;
  @EventKinds({ optional: true }) readonly events?: readonly string[] | null;
  @Flag({ optional: true }) readonly enabled?: boolean;
}

@BodyExamples({ 'all that were not delivered': {}, since: { since: '2026-11-20T00:00:00Z' } })
export class RedeliverWebhook {
  @Timestamp({
    optional: true,
    description: 'All callbacks made at or after this time, delivered or not.',
  })
  readonly since?: string;

  @Uuid({
    optional: true,
    description: 'One delivery, by its `webhook-id`.',
    message: 'must be the webhook-id of a delivery',
  })
  readonly delivery_id?: string;
}

export class Redelivered {
  @WholeNumber({ minimum: 0, description: 'Deliveries that are due again.', examples: [12] })
  readonly redelivered!: number;
}

export class Webhook {
  @Uuid() readonly webhook_id!: string;
  @Url() readonly url!: string;
  @EventKinds() readonly events!: readonly string[] | null;
  @Choice(['enabled', 'disabled']) readonly status!: 'enabled' | 'disabled';

  @Choice(['gone', 'failing', 'account'], {
    nullable: true,
    examples: [null],
    description:
      '`gone`: the webhook answered 410; `failing`: no success for five days; `account`: the account disabled it.',
  })
  readonly disabled_reason!: DisabledReason | null;

  @Timestamp({ nullable: true, examples: [null] }) readonly disabled_at!: string | null;

  @Timestamp({
    nullable: true,
    examples: [null],
    description: 'First failure since the last success.',
  })
  readonly failing_since!: string | null;

  @Timestamp() readonly created_at!: string;
}

export class WebhookPage extends PageOf(Webhook) {}

export class WebhookWithSecret extends Webhook {
  @Text({
    pattern: '^whsec_',
    description: 'The signing secret, as Standard Webhooks writes it.',
    examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  })
  readonly secret!: string;

  @Timestamp({
    nullable: true,
    examples: [null],
    description: 'Until then callbacks are also signed with the previous secret.',
  })
  readonly previous_secret_until!: string | null;
}

export function webhookOf(endpoint: WebhookEndpointEntity): Plain<Webhook> {
  const { id, url, events, disabledAt, disabledReason, failingSince, createdAt } = endpoint;
  return {
    webhook_id: id,
    url,
    events,
    status: disabledAt === null ? 'enabled' : 'disabled',
    disabled_reason: disabledReason,
    disabled_at: timestamp(disabledAt),
    failing_since: timestamp(failingSince),
    created_at: timestamp(createdAt),
  };
}

export function webhookWithSecretOf(endpoint: WebhookEndpointEntity): Plain<WebhookWithSecret> {
  return {
    ...webhookOf(endpoint),
    secret: endpoint.secret,
    previous_secret_until: timestamp(endpoint.previousUntil),
  };
}

export class WebhookAttempt {
  @Uuid({ description: 'The `webhook-id` of the request.' }) readonly delivery_id!: string;
  @Text({ examples: ['01a1f91d-94f5-779e-8c4f-a4ea0dc430dd-0'] }) readonly message_id!: string;

  @WholeNumber({ minimum: 1, description: '1 for the first attempt of a schedule.' })
  readonly attempt!: number;

  @Timestamp() readonly attempted_at!: string;
  @WholeNumber({ minimum: 0, examples: [35] }) readonly duration_ms!: number;

  @Field({ type: 'integer', nullable: true, description: 'null: no answer came.', examples: [200] })
  readonly status_code!: number | null;

  @Text({
    nullable: true,
    description:
      'Cause of the failure, such as `http_status`, `timeout` or `no_public_address`; null: success.',
    examples: [null],
  })
  readonly error!: string | null;

  @Text({
    nullable: true,
    description: 'Start of the answer’s body, at most 1 kB.',
    examples: ['ok'],
  })
  readonly response!: string | null;
}

export class WebhookAttemptPage extends PageOf(WebhookAttempt) {}

/** An account must not learn which names exist in the private network of the gateway. */
const UNTOLD: ReadonlySet<AttemptError | null> = new Set(['host_not_found', 'address_forbidden']);

export function webhookAttemptOf(attempt: WebhookAttemptEntity): WebhookAttempt {
  return {
    delivery_id: attempt.deliveryId,
    message_id: attempt.messageId,
    attempt: attempt.attempt,
    attempted_at: timestamp(attempt.startedAt),
    duration_ms: attempt.duration,
    status_code: attempt.status,
    error: UNTOLD.has(attempt.error) ? 'no_public_address' : attempt.error,
    response: attempt.response,
  };
}

function timestamp<T extends number | null>(milliseconds: T): T extends null ? null : string;
function timestamp(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString();
}
