import { Controller, Get, Header, Inject, UseFilters } from '@nestjs/common';
import {
  HealthCheck,
  HealthCheckService,
  type HealthCheckResult,
  TypeOrmHealthIndicator,
} from '@nestjs/terminus';
import { type Environment, ENVIRONMENT } from '../config/environment.js';
import { Documented } from '../http/documented.decorator.js';
import { EngineIndicator } from './engine.indicator.js';
import { HealthFilter } from './health.filter.js';
import { READY_EXAMPLE } from './health.schemas.js';
import { LanesIndicator } from './lanes.indicator.js';

/** For whatever keeps the process running and sends it traffic. */
@Controller('health')
@UseFilters(HealthFilter)
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly database: TypeOrmHealthIndicator,
    private readonly lanes: LanesIndicator,
    private readonly engine: EngineIndicator,
    @Inject(ENVIRONMENT) private readonly environment: Environment,
  ) {}

  /** The process answers; it asks nobody else. */
  @Get('live')
  @Header('cache-control', 'no-store')
  @Documented({
    operationId: 'live',
    summary: 'The process answers',
    tag: 'Health',
    answer: { status: 200, description: 'It does.', schema: 'Live', example: { status: 'ok' } },
  })
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** It can accept messages: 200, or 503 saying what is down. */
  @Get('ready')
  @HealthCheck()
  @Documented({
    operationId: 'ready',
    summary: 'It can accept messages',
    tag: 'Health',
    answer: {
      status: 200,
      description: 'Ready, or ready and degraded.',
      schema: 'Readiness',
      example: READY_EXAMPLE,
    },
    errors: ['NotReady'],
  })
  ready(): Promise<HealthCheckResult> {
    return this.health.check([
      () => this.database.pingCheck('database', { timeout: 2_000 }),
      () => this.lanes.check('lanes'),
      ...(this.environment.ENGINE === 'bullmq' ? [() => this.engine.check('engine')] : []),
    ]);
  }
}
