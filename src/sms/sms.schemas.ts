import { type BatchStatus, type MessageStatus, STATUS_RANK } from '@dundun/messaging';
import type { JsonSchema } from '../http/schema.js';
import {
  GROUP_ID,
  objectOf,
  pageOf,
  PHONE_NUMBER,
  RECIPIENT,
  refTo,
  REPORTED,
  TIME,
  TIME_OR_NULL,
  UUID,
} from '../http/schema.js';

const BATCH_STATUSES: readonly BatchStatus[] = [
  'scheduled',
  'queued',
  'sending',
  'completed',
  'cancelled',
];
const MESSAGE_STATUSES = Object.keys(STATUS_RANK) as MessageStatus[];

const SENDER: JsonSchema = {
  type: 'string',
  pattern: '^(?=.*[A-Za-z])[0-9A-Za-z](?:[0-9A-Za-z ]{0,9}[0-9A-Za-z])?$',
  description: 'Sender ID registered for the account.',
  examples: ['ACME'],
};
const DELIVERY_REPORT: JsonSchema = { type: 'string', enum: ['none', 'yes'], default: 'none' };

const SUMMARY: Readonly<Record<string, JsonSchema>> = {
  reference_id: UUID,
  from: SENDER,
  body: { type: ['string', 'null'], description: 'null once retention erased it.' },
  delivery_report: DELIVERY_REPORT,
  status: { type: 'string', enum: BATCH_STATUSES },
  created_at: TIME,
  send_at: TIME_OR_NULL,
  recipients_processed: { type: 'integer', minimum: 1 },
  parts: { type: 'integer', minimum: 1 },
  cost: { type: ['number', 'null'], description: 'null: the gateway has no price list.' },
  currency: { type: ['string', 'null'] },
  counts: {
    type: 'object',
    description: 'Messages by status, zeros left out.',
    propertyNames: { enum: MESSAGE_STATUSES },
    additionalProperties: { type: 'integer', minimum: 1 },
  },
};

const REPORT: Readonly<Record<string, JsonSchema>> = {
  reference_id: UUID,
  message_id: { type: 'string', examples: ['01a1f91d-94f5-779e-8c4f-a4ea0dc430dd-0'] },
  to: RECIPIENT,
  from: SENDER,
  status: {
    type: ['string', 'null'],
    enum: [...REPORTED, null],
    description: 'null: a status nobody mapped; it moved nothing.',
  },
  error_code: { type: ['string', 'null'] },
  smsc_timestamp: TIME,
  sequence: {
    type: ['integer', 'null'],
    minimum: 1,
    description: 'Which change of the message’s status this was; null where it moved nothing.',
  },
};

/** Components of the SMS surface. */
export const SMS_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  SendSms: {
    ...objectOf(
      {
        from: SENDER,
        to: {
          type: 'array',
          minItems: 1,
          items: { anyOf: [PHONE_NUMBER, GROUP_ID] },
          description:
            'Phone numbers and group ids; groups are expanded at acceptance. Duplicates are sent once. One wrong entry rejects the batch.',
        },
        body: { type: 'string', minLength: 1, description: 'The text.' },
        content: { type: 'string', minLength: 1, description: 'The same under its other name.' },
        delivery_report: DELIVERY_REPORT,
        send_at: { ...TIME, description: 'Not before; a past time means at once.' },
      },
      ['body', 'content', 'delivery_report', 'send_at'],
    ),
    anyOf: [{ required: ['body'] }, { required: ['content'] }],
  },
  SendSmsAnswer: objectOf({
    status_code: { type: 'integer', const: 200 },
    message: { type: 'string' },
    reference_id: UUID,
    recipients_processed: { type: 'integer', minimum: 1 },
    created_at: TIME,
  }),
  RescheduleSms: objectOf({ send_at: TIME }),
  SmsBatchSummary: objectOf(SUMMARY),
  SmsBatch: objectOf({ ...SUMMARY, to: { type: 'array', items: RECIPIENT } }),
  SmsBatchPage: pageOf('SmsBatchSummary'),
  DeliveryReport: objectOf({ ...REPORT, received_at: TIME }),
  DeliveryReportPage: pageOf('DeliveryReport'),
  EstimateSms: {
    ...objectOf(
      { body: { type: 'string', minLength: 1 }, content: { type: 'string', minLength: 1 } },
      ['body', 'content'],
    ),
    anyOf: [{ required: ['body'] }, { required: ['content'] }],
  },
  SmsEstimate: objectOf({
    encoding: { type: 'string', enum: ['GSM-7', 'UCS-2'] },
    parts: { type: 'integer', minimum: 1 },
    units: { type: 'integer', minimum: 1, description: 'Septets, or 16-bit units in UCS-2.' },
    ucs2_characters: {
      type: 'array',
      items: { type: 'string' },
      description: 'The characters that force UCS-2, each once, the first ten.',
    },
    cost: { type: ['number', 'null'], description: 'Of one message; null: no price list.' },
    currency: { type: ['string', 'null'] },
  }),
  DeliveryReportEvent: objectOf({
    type: { type: 'string', const: 'sms.delivery_report' },
    timestamp: { ...TIME, description: 'When this event was made.' },
    data: refTo('DeliveryReportEventData'),
  }),
  DeliveryReportEventData: objectOf({
    ...REPORT,
    status: { type: 'string', enum: REPORTED },
    sequence: { type: 'integer', minimum: 1 },
  }),
};
