import type { JsonSchema } from '../http/schema.js';
import { objectOf } from '../http/schema.js';

const INDICATORS: JsonSchema = {
  type: 'object',
  description: 'What each check found, by its name.',
  additionalProperties: {
    type: 'object',
    required: ['status'],
    properties: { status: { type: 'string', enum: ['up', 'down', 'degraded'] } },
  },
};

/** Components of the health surface. */
export const HEALTH_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  Live: objectOf({ status: { type: 'string', const: 'ok' } }),
  Readiness: {
    type: 'object',
    required: ['status', 'details'],
    properties: {
      status: { type: 'string', enum: ['ok', 'degraded', 'error', 'shutting_down'] },
      info: INDICATORS,
      error: INDICATORS,
      details: INDICATORS,
    },
  },
};

export const READY_EXAMPLE = {
  status: 'ok',
  info: { database: { status: 'up' } },
  error: {},
  details: { database: { status: 'up' } },
};
