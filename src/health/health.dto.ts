import type { HealthCheckResult } from '@nestjs/terminus';
import { ApiSchema, type ApiSchemaOptions } from '@nestjs/swagger';
import { Choice, Field } from '../http/fields.js';

export class Live {
  @Choice(['ok', 'stuck']) readonly status!: 'ok' | 'stuck';
}

const INDICATORS = {
  type: 'object',
  description: 'The result of each check, by its name.',
  additionalProperties: {
    type: 'object',
    required: ['status'],
    properties: { status: { type: 'string', enum: ['up', 'down', 'degraded'] } },
  },
  examples: [{ database: { status: 'up' } }],
} as const;

const STATUSES = ['ok', 'degraded', 'error', 'shutting_down'] as const;

/** Response of terminus. */
@ApiSchema({ additionalProperties: true } as unknown as ApiSchemaOptions)
export class Readiness {
  @Choice(STATUSES) readonly status!: HealthCheckResult['status'];
  @Field({ ...INDICATORS, optional: true }) readonly info?: HealthCheckResult['info'];

  @Field({ ...INDICATORS, optional: true, examples: [{}] })
  readonly error?: HealthCheckResult['error'];

  @Field(INDICATORS) readonly details!: HealthCheckResult['details'];
}
