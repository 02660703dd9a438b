import type { WebhookAttemptEntity } from './webhook-attempt.entity.js';
import type { DisabledReason, WebhookEndpointEntity } from './webhook-endpoint.entity.js';

/** A webhook as the API shows it. */
export interface WebhookAnswer {
  readonly webhook_id: string;
  readonly url: string;
  readonly status: 'enabled' | 'disabled';
  /** `gone`: it answered 410; `failing`: no success for five days; `account`: its owner. */
  readonly disabled_reason: DisabledReason | null;
  readonly disabled_at: string | null;
  /** First failure since the last success. */
  readonly failing_since: string | null;
  readonly created_at: string;
}

/** Shown where the secret was just made. */
export interface WebhookSecretAnswer extends WebhookAnswer {
  /** `whsec_…` (Standard Webhooks). */
  readonly secret: string;
  /** Until then callbacks are signed with the previous secret too. */
  readonly previous_secret_until: string | null;
}

export function webhookAnswer(endpoint: WebhookEndpointEntity): WebhookAnswer {
  return {
    webhook_id: endpoint.id,
    url: endpoint.url,
    status: endpoint.disabledAt === null ? 'enabled' : 'disabled',
    disabled_reason: endpoint.disabledReason,
    disabled_at: timestamp(endpoint.disabledAt),
    failing_since: timestamp(endpoint.failingSince),
    created_at: new Date(endpoint.createdAt).toISOString(),
  };
}

export function webhookSecretAnswer(endpoint: WebhookEndpointEntity): WebhookSecretAnswer {
  return {
    ...webhookAnswer(endpoint),
    secret: endpoint.secret,
    previous_secret_until: timestamp(endpoint.previousUntil),
  };
}

/** One request to a webhook. */
export interface WebhookAttemptAnswer {
  /** The `webhook-id` it carried. */
  readonly delivery_id: string;
  readonly message_id: string;
  /** 1 for the first try of a schedule. */
  readonly attempt: number;
  readonly attempted_at: string;
  readonly duration_ms: number;
  /** HTTP status; `null` where no answer came. */
  readonly status_code: number | null;
  /** `null`: success. */
  readonly error: string | null;
  /** Beginning of the answer's body, at most 1 kB. */
  readonly response: string | null;
}

export function webhookAttemptAnswer(attempt: WebhookAttemptEntity): WebhookAttemptAnswer {
  return {
    delivery_id: attempt.deliveryId,
    message_id: attempt.messageId,
    attempt: attempt.attempt,
    attempted_at: new Date(attempt.startedAt).toISOString(),
    duration_ms: attempt.duration,
    status_code: attempt.status,
    error: attempt.error,
    response: attempt.response,
  };
}

function timestamp(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString();
}
