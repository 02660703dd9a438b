import { type JsonSchema, refTo } from './http/schema.js';
import { examplesOf } from './openapi.operations.js';
import { SMS_EXAMPLES } from './sms/sms.examples.js';
import { WHATSAPP_EXAMPLES } from './whatsapp/whatsapp.examples.js';

/** What is posted to an account's webhooks. */
interface Callback {
  readonly type: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly schema: string;
  readonly examples: Readonly<Record<string, unknown>>;
}

export const CALLBACKS: readonly Callback[] = [
  {
    type: 'sms.delivery_report',
    operationId: 'deliveryReportCallback',
    summary: 'An SMS’s status changed',
    description: 'For batches with `delivery_report: yes`.',
    schema: 'DeliveryReportEvent',
    examples: { delivered: SMS_EXAMPLES.event },
  },
  {
    type: 'whatsapp.message_status',
    operationId: 'whatsAppStatusCallback',
    summary: 'A WhatsApp message’s status changed',
    description: 'From `sent` on, for every message.',
    schema: 'WhatsAppStatusEvent',
    examples: { read: WHATSAPP_EXAMPLES.statusEvent },
  },
  {
    type: 'whatsapp.message_received',
    operationId: 'whatsAppReceivedCallback',
    summary: 'Somebody wrote to the account’s WhatsApp number',
    description: 'Their window is open from then on, for 24 hours.',
    schema: 'WhatsAppReceivedEvent',
    examples: { 'a text': WHATSAPP_EXAMPLES.receivedEvent },
  },
];

export function callbackOf(callback: Callback): JsonSchema {
  const header = (name: string, description: string): JsonSchema => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string' },
  });
  return {
    operationId: callback.operationId,
    summary: callback.summary,
    description: `${callback.description} Sent to the account’s webhooks, signed as Standard Webhooks. Any 2xx within 15 seconds is success.`,
    tags: ['Webhooks'],
    parameters: [
      header('webhook-id', 'The same on every try.'),
      header('webhook-timestamp', 'Epoch seconds of this try.'),
      header('webhook-signature', '`v1,` and the signature in base64; several during a rotation.'),
    ],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: refTo(callback.schema),
          examples: examplesOf(callback.examples),
        },
      },
    },
    responses: {
      204: { description: 'Received.' },
      410: { description: 'Send no more: the webhook is disabled.' },
    },
  };
}
