import type { ReportedStatus } from '@dundun/messaging';

/** A JSON Schema (2020-12), as OpenAPI 3.1 holds it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** An object with exactly these fields; those in `optional` may be left out. */
export function objectOf(
  properties: Readonly<Record<string, JsonSchema>>,
  optional: readonly string[] = [],
): JsonSchema {
  return {
    type: 'object',
    required: Object.keys(properties).filter((name) => !optional.includes(name)),
    properties,
    additionalProperties: false,
  };
}

/** A page of a list. */
export function pageOf(item: string): JsonSchema {
  return objectOf({
    data: { type: 'array', items: refTo(item) },
    next_cursor: {
      type: ['string', 'null'],
      description: '`cursor` of the next page; null: this is the last.',
    },
  });
}

export function refTo(schema: string): JsonSchema {
  return { $ref: `#/components/schemas/${schema}` };
}

export function limit(max: number, standard: number): JsonSchema {
  return { type: 'integer', minimum: 1, maximum: max, default: standard };
}

export const CURSOR: JsonSchema = {
  type: 'string',
  maxLength: 500,
  description: '`next_cursor` of the page before.',
};

export const TIME: JsonSchema = {
  type: 'string',
  format: 'date-time',
  examples: ['2026-11-20T13:20:28.001Z'],
};

export const TIME_OR_NULL: JsonSchema = { type: ['string', 'null'], format: 'date-time' };

export const UUID: JsonSchema = {
  type: 'string',
  format: 'uuid',
  examples: ['01a1f91d-94f5-779e-8c4f-a4ea0dc430dd'],
};

export const PHONE_NUMBER: JsonSchema = {
  type: 'string',
  pattern: '^[1-9][0-9]{6,14}$',
  description: 'Digits with country code, no plus.',
  examples: ['2348012345678'],
};

/** A recipient as it is read back. */
export const RECIPIENT: JsonSchema = {
  type: 'string',
  pattern: '^(?:[1-9][0-9]{6,14})?$',
  description: 'Digits with country code; empty once it was erased.',
  examples: ['2348012345678'],
};

export const PHONE_NUMBER_OR_NULL: JsonSchema = {
  type: ['string', 'null'],
  pattern: '^[1-9][0-9]{6,14}$',
};

export const GROUP_ID: JsonSchema = {
  type: 'string',
  pattern: '^grp_[0-9A-Za-z]{10,}$',
  examples: ['grp_4yGq0cXo2vGdXk1w8bTzRs'],
};

/** The request header of every send. */
export const IDEMPOTENCY_KEY: JsonSchema = {
  type: 'string',
  pattern: '^[\\x21-\\x7e]{1,255}$',
  description: 'Within 24 hours the same request is answered again and sent once.',
};

/** The answer's header that goes with it. */
export const IDEMPOTENT_REPLAYED: JsonSchema = {
  type: 'string',
  const: 'true',
  description: 'This is the first answer again; nothing was sent now.',
};

/** Statuses that are reported. */
export const REPORTED: readonly ReportedStatus[] = [
  'sent',
  'expired',
  'undelivered',
  'failed',
  'rejected',
  'delivered',
  'read',
];
