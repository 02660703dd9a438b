import { Controller, Get, Header, Inject, Res, ServiceUnavailableException } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { HealthCheck, HealthCheckService, TypeOrmHealthIndicator } from '@nestjs/terminus';
import { type Environment, ENVIRONMENT } from '../config/environment.js';
import type { HttpReply } from '../http/http-message.js';
import { Operation } from '../http/operation.decorator.js';
import { EngineIndicator, LanesIndicator } from './health.indicators.js';
import { Live, Readiness } from './health.dto.js';

@Controller('health')
@ApiTags('Health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly database: TypeOrmHealthIndicator,
    private readonly lanes: LanesIndicator,
    private readonly engine: EngineIndicator,
    @Inject(ENVIRONMENT) private readonly environment: Environment,
  ) {}

  /** Uses no database and no other service. */
  @Get('live')
  @Header('cache-control', 'no-store')
  @Operation({
    summary: 'Whether the process answers',
    answer: Live,
    success: 'It does.',
  })
  live(): Live {
    return { status: 'ok' };
  }

  @Get('ready')
  @HealthCheck({ noCache: true, swaggerDocumentation: false })
  @Operation({
    summary: 'Whether the process can accept messages',
    answer: Readiness,
    success: 'It can, perhaps degraded.',
  })
  @ApiResponse({
    status: 503,
    type: Readiness,
    description: 'It cannot; the body says which check is down.',
  })
  async ready(@Res({ passthrough: true }) reply: HttpReply): Promise<unknown> {
    try {
      return await this.health.check([
        () => this.database.pingCheck('database', { timeout: 2_000 }),
        () => this.lanes.check('lanes'),
        ...(this.environment.ENGINE === 'bullmq' ? [() => this.engine.check('engine')] : []),
      ]);
    } catch (error) {
      if (!(error instanceof ServiceUnavailableException)) throw error;
      // The form of health checks, with the details of each.
      reply.code(error.getStatus());
      return error.getResponse();
    }
  }
}
