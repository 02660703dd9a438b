import { type MessageStatus, STATUS_RANK } from '@dundun/messaging';
import { TEMPLATE_CATEGORIES, TEMPLATE_STATUSES } from '../accounts/template.entity.js';
import type { JsonSchema } from '../http/schema.js';
import {
  GROUP_ID,
  objectOf,
  pageOf,
  PHONE_NUMBER,
  PHONE_NUMBER_OR_NULL,
  RECIPIENT,
  refTo,
  REPORTED,
  TIME,
  TIME_OR_NULL,
  UUID,
} from '../http/schema.js';

const MESSAGE_STATUSES = Object.keys(STATUS_RANK) as MessageStatus[];
const CATEGORIES = [...TEMPLATE_CATEGORIES, 'service'];

const TEXT: JsonSchema = { type: 'string', minLength: 1, maxLength: 4_096 };
const TEMPLATE_NAME: JsonSchema = { type: 'string', minLength: 1, maxLength: 255 };
const LANGUAGE: JsonSchema = { type: 'string', examples: ['en', 'pt_BR'] };
const PARAMS: JsonSchema = { type: 'array', items: { type: 'string', maxLength: 4_096 } };
const SENDER: JsonSchema = { ...PHONE_NUMBER, description: 'The account’s WhatsApp number.' };
const BSUID: JsonSchema = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  description: 'WhatsApp’s business-scoped user id.',
};
const NAME: JsonSchema = { type: 'string', maxLength: 255 };
const NULLABLE_TEXT: JsonSchema = { type: ['string', 'null'] };

const CHARGED: Readonly<Record<string, JsonSchema>> = {
  message_id: {
    type: 'string',
    description: 'The platform’s once it is known, ours before; reading back takes both.',
  },
  cost: { type: ['number', 'null'], description: 'null: not known, or not yet.' },
  currency: NULLABLE_TEXT,
  category: { type: ['string', 'null'], enum: [...CATEGORIES, null] },
  sender: SENDER,
};

const CONSENT: Readonly<Record<string, JsonSchema>> = {
  source: { type: 'string', minLength: 1, maxLength: 255, default: 'api' },
  at: { ...TIME, description: 'When it was given; now, unless told.' },
  evidence: { type: 'string', maxLength: 10_000, description: 'What proves it.' },
};

/** Components of the WhatsApp surface. */
export const WHATSAPP_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  SendWhatsApp: {
    oneOf: [
      objectOf({
        to: PHONE_NUMBER,
        message_type: { type: 'string', const: 'template' },
        template_name: TEMPLATE_NAME,
        language: LANGUAGE,
        params: { ...PARAMS, description: 'By place, as many as the template has.' },
      }),
      {
        ...objectOf(
          {
            to: PHONE_NUMBER,
            message_type: { type: 'string', const: 'text' },
            text: TEXT,
            body: { ...TEXT, description: 'The same under another name.' },
            content: { ...TEXT, description: 'The same under another name.' },
          },
          ['text', 'body', 'content'],
        ),
        anyOf: [{ required: ['text'] }, { required: ['body'] }, { required: ['content'] }],
      },
    ],
  },
  SendWhatsAppAnswer: objectOf({
    ...CHARGED,
    status: {
      type: 'string',
      enum: ['sent', 'queued', 'unknown', 'rejected', 'failed', 'expired', 'cancelled'],
      description:
        '`sent`: the platform has it. `queued`, `unknown`: not known yet; read it back. The others: it was not sent.',
    },
  }),
  WhatsAppMessage: objectOf({
    ...CHARGED,
    reference_id: { type: 'string', description: 'The id it had before the platform’s was known.' },
    to: RECIPIENT,
    message_type: {
      type: ['string', 'null'],
      enum: ['template', 'text', null],
      description: 'null once retention erased it.',
    },
    template_name: NULLABLE_TEXT,
    language: NULLABLE_TEXT,
    params: { ...PARAMS, type: ['array', 'null'] },
    text: NULLABLE_TEXT,
    status: { type: 'string', enum: MESSAGE_STATUSES },
    error_code: NULLABLE_TEXT,
    created_at: TIME,
    smsc_timestamp: { ...TIME_OR_NULL, description: 'When it came to this status.' },
  }),
  Template: objectOf({
    name: TEMPLATE_NAME,
    language: LANGUAGE,
    category: { type: 'string', enum: TEMPLATE_CATEGORIES },
    status: { type: 'string', enum: TEMPLATE_STATUSES, description: 'Only `approved` is sent.' },
    params_count: { type: 'integer', minimum: 0 },
  }),
  TemplatePage: pageOf('Template'),
  UpsertContact: {
    ...objectOf(
      {
        phone: PHONE_NUMBER,
        bsuid: BSUID,
        name: NAME,
        opt_in: {
          description: 'What they said of WhatsApp messages; `true` is `opted_in`.',
          anyOf: [
            { type: 'boolean' },
            objectOf(
              { status: { type: 'string', enum: ['opted_in', 'opted_out'] }, ...CONSENT },
              Object.keys(CONSENT),
            ),
          ],
        },
        groups: { type: 'array', maxItems: 100, items: GROUP_ID },
      },
      ['phone', 'bsuid', 'name', 'opt_in', 'groups'],
    ),
    anyOf: [{ required: ['phone'] }, { required: ['bsuid'] }],
  },
  GivenConsent: objectOf(CONSENT, Object.keys(CONSENT)),
  Contact: objectOf({
    id: UUID,
    phone: PHONE_NUMBER_OR_NULL,
    bsuid: NULLABLE_TEXT,
    name: NULLABLE_TEXT,
    opt_in: objectOf({
      status: { type: 'string', enum: ['opted_in', 'opted_out', 'none'] },
      at: TIME_OR_NULL,
      source: NULLABLE_TEXT,
    }),
    window_expires_at: {
      ...TIME_OR_NULL,
      description: 'Until then a free text may be sent; null: no window is open.',
    },
    groups: { type: 'array', items: GROUP_ID },
  }),
  ContactPage: pageOf('Contact'),
  Erasure: objectOf({
    messages: { type: 'integer', minimum: 0 },
    remaining: { type: 'integer', minimum: 0 },
  }),
  WhatsAppReceivedEvent: objectOf({
    type: { type: 'string', const: 'whatsapp.message_received' },
    timestamp: { ...TIME, description: 'When this event was made.' },
    data: refTo('WhatsAppReceivedEventData'),
  }),
  WhatsAppReceivedEventData: objectOf({
    message_id: { type: 'string', description: 'The platform’s.' },
    from: { ...PHONE_NUMBER_OR_NULL, description: 'Who wrote; null: only the bsuid is known.' },
    bsuid: NULLABLE_TEXT,
    to: SENDER,
    text: { ...NULLABLE_TEXT, description: 'null: something else than a text.' },
    received_at: TIME,
  }),
  WhatsAppStatusEvent: objectOf({
    type: { type: 'string', const: 'whatsapp.message_status' },
    timestamp: { ...TIME, description: 'When this event was made.' },
    data: refTo('WhatsAppStatusEventData'),
  }),
  WhatsAppStatusEventData: objectOf({
    reference_id: { type: 'string', description: 'The id it had before the platform’s was known.' },
    message_id: { type: 'string' },
    to: PHONE_NUMBER,
    from: SENDER,
    status: { type: 'string', enum: REPORTED },
    error_code: NULLABLE_TEXT,
    smsc_timestamp: TIME,
    sequence: { type: 'integer', minimum: 1 },
  }),
};
