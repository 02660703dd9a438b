import type { Clock, MessagingService, MessagingTracing } from '@dundun/messaging';
import type { AttemptOutcome, DueDelivery } from './webhook-attempt.js';
import { WebhookClient } from './webhook-client.js';
import type { ActiveEndpoint } from './webhook-endpoint.cache.js';
import type { WebhookOptions } from './webhook-options.js';

/** What tracing a callback takes. */
export interface WebhookTracing {
  readonly tracing: MessagingTracing;
  readonly messaging: Pick<MessagingService, 'traceOf'>;
}

/** Each callback is a step of the trace its message was sent in, and tells the receiver so. */
export class TracedWebhookClient extends WebhookClient {
  constructor(
    options: Pick<WebhookOptions, 'allowPrivate' | 'timeout'>,
    clock: Pick<Clock, 'now' | 'monotonic'>,
    private readonly traced: WebhookTracing,
  ) {
    super(options, clock);
  }

  override async post(
    endpoint: ActiveEndpoint,
    delivery: DueDelivery,
    signal: AbortSignal,
  ): Promise<AttemptOutcome> {
    const { tracing, messaging } = this.traced;
    const { messageId, attempts, payload } = delivery;
    // A callback goes out, traced or not.
    const parent = await messaging.traceOf(batchOf(messageId)).catch(() => undefined);
    if (!parent) return super.post(endpoint, delivery, signal);
    return tracing.step(
      {
        operation: 'callback',
        type: 'send',
        kind: 'client',
        channel: payload.startsWith('{"type":"whatsapp.') ? 'whatsapp' : 'sms',
        id: messageId,
        attributes: { 'dundun.attempt': attempts + 1 },
        parent,
        quiet: true,
      },
      (trace) => super.post(endpoint, trace ? { ...delivery, trace } : delivery, signal),
    );
  }
}

/** A message's id is its batch's, a dash, and its position. */
function batchOf(messageId: string): string {
  return messageId.slice(0, messageId.lastIndexOf('-'));
}
