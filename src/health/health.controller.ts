import { MessagingHealthIndicator } from '@dundun/messaging/terminus';
import {
  Controller,
  Get,
  Header,
  Headers,
  Inject,
  Logger,
  Module,
  Res,
  ServiceUnavailableException,
} from '@nestjs/common';
import { ApiResponse, ApiSchema, type ApiSchemaOptions, ApiTags } from '@nestjs/swagger';
import { InjectDataSource } from '@nestjs/typeorm';
import {
  HealthCheck,
  type HealthCheckResult,
  HealthCheckService,
  type HealthIndicatorResult,
  HealthIndicatorService,
  TerminusModule,
  TypeOrmHealthIndicator,
} from '@nestjs/terminus';
import type { DataSource } from 'typeorm';
import { timingSafeEqual } from 'node:crypto';
import { BillingCheck } from '../billing/billing-check.js';
import { BillingModule } from '../billing/billing.module.js';
import { type Environment, ENVIRONMENT } from '../config/environment.js';
import { Choice, Field } from '../http/fields.js';
import type { HttpReply } from '../http/http-message.js';
import { Operation } from '../http/operation.decorator.js';
import { WriteRefusals } from '../http/write-refusals.js';
import { WriteProbe } from './write-probe.js';
import { ApiError } from '../http/api-error.js';
import { Metrics } from '../metrics/metrics.js';

/** Metrics for Prometheus: with the token where one is set, else on loopback only. */
@Controller('metrics')
class MetricsController {
  constructor(
    private readonly metrics: Metrics,
    @Inject(ENVIRONMENT) private readonly environment: Environment,
  ) {}

  @Get()
  @Header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
  @Header('cache-control', 'no-store')
  read(@Headers('authorization') authorization: string | undefined): Promise<string> {
    const { HOST, METRICS_TOKEN } = this.environment;
    const isOpen = METRICS_TOKEN === undefined && isLoopback(HOST);
    if (!isOpen && !hasToken(authorization, METRICS_TOKEN))
      throw new ApiError(
        'unauthorized',
        METRICS_TOKEN === undefined
          ? 'Metrics are served on loopback only until the operator sets METRICS_TOKEN'
          : 'Send METRICS_TOKEN as "Authorization: Bearer "',
        { headers: { 'www-authenticate': 'Bearer', 'content-type': 'application/json' } },
      );
    return this.metrics.registry.metrics();
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

function hasToken(authorization: string | undefined, token: string | undefined): boolean {
  if (token === undefined || authorization === undefined) return false;
  const given = Buffer.from(authorization);
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

class Live {
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
class Readiness {
  @Choice(STATUSES) readonly status!: HealthCheckResult['status'];
  @Field({ ...INDICATORS, optional: true }) readonly info?: HealthCheckResult['info'];

  @Field({ ...INDICATORS, optional: true, examples: [{}] })
  readonly error?: HealthCheckResult['error'];

  @Field(INDICATORS) readonly details!: HealthCheckResult['details'];
}

/**
 * The endpoint is public, so readiness gives its reasons in fixed words. Addresses and the messages of
 * drivers are in the log only.
 */
@Controller('health')
@ApiTags('Health')
class HealthController {
  readonly #logger = new Logger('Health');

  constructor(
    private readonly health: HealthCheckService,
    private readonly database: TypeOrmHealthIndicator,
    private readonly indicators: HealthIndicatorService,
    private readonly messaging: MessagingHealthIndicator,
    private readonly writes: WriteProbe,
    private readonly billing: BillingCheck,
    @InjectDataSource() private readonly source: DataSource,
    @Inject(ENVIRONMENT) private readonly environment: Environment,
  ) {}

  /**
   * Asks the database only once a transaction of this process has run no statement for a minute. A database
   * that is away never fails it: a restart would not help.
   */
  @Get('live')
  @Header('cache-control', 'no-store')
  @Operation('Whether the process works', {
    description: 'For the probe that restarts the process.',
    answer: Live,
    success: 'It does.',
  })
  @ApiResponse({
    status: 503,
    type: Live,
    description: 'A transaction of it is stuck while the database answers; restart it.',
  })
  async live(@Res({ passthrough: true }) reply: HttpReply): Promise<Live> {
    const { store } = await this.messaging.progress('store');
    if (store.status === 'up') return { status: 'ok' };
    this.#logger.error(
      'a transaction of this process is stuck while the database answers; restart it',
    );
    reply.code(503);
    return { status: 'stuck' };
  }

  @Get('ready')
  @HealthCheck({ noCache: true, swaggerDocumentation: false })
  @Operation('Whether the process can accept messages', {
    description: 'For the probe of a load balancer; it names each check and its result.',
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
        () => this.#database(),
        // Lane names contain the account and are not shown.
        () => this.messaging.lanes('lanes', { stuckAfter: this.environment.LANE_STUCK_AFTER }),
        () => this.messaging.providers('carriers'),
        () => this.#billing(),
        ...(this.environment.ENGINE === 'bullmq' ? [() => this.messaging.engine('engine')] : []),
      ]);
    } catch (error) {
      if (!(error instanceof ServiceUnavailableException)) throw error;
      // The form of health checks, with the details of each.
      reply.code(error.getStatus());
      return error.getResponse();
    }
  }

  /** Money that does not agree stops no message: an operator looks at it. */
  #billing(): HealthIndicatorResult {
    const session = this.indicators.check('billing');
    const { differences } = this.billing;
    if (differences === 0) return session.up();
    return session.degraded({ reason: 'money_differs', differences });
  }

  async #database(): Promise<HealthIndicatorResult> {
    // Without a connection the indicator loads a second copy of TypeORM's Nest module, which takes a
    // starved machine longer than the limit.
    const { database } = await this.database.pingCheck('database', {
      connection: this.source,
      timeout: 2_000,
    });
    const session = this.indicators.check('database');
    if (database?.status === 'up') {
      // A write that was refused says more than one that waits.
      const { recent } = this.writes;
      if (recent !== undefined) return session.down({ reason: recent });
      const writes = this.messaging.writes('database');
      if (writes.database.status === 'down') return writes;
      const reason = await this.writes.refusal();
      return reason === undefined ? session.up() : session.down({ reason });
    }
    this.#logger.warn({ message: 'the database does not answer', cause: database?.['message'] });
    return session.down({ reason: 'no_answer' });
  }
}

@Module({
  imports: [BillingModule, TerminusModule.forRoot({ errorLogStyle: 'json' })],
  controllers: [HealthController, MetricsController],
  providers: [MessagingHealthIndicator, WriteProbe, WriteRefusals],
  exports: [WriteRefusals],
})
export class HealthModule {}
