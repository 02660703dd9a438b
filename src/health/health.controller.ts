import { HoldsService, MessagingService } from '@dundun/messaging';
import {
  Controller,
  Get,
  Header,
  Inject,
  Logger,
  Module,
  Res,
  ServiceUnavailableException,
} from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import {
  HealthCheck,
  HealthCheckService,
  type HealthIndicatorResult,
  HealthIndicatorService,
  TerminusModule,
  TypeOrmHealthIndicator,
} from '@nestjs/terminus';
import { type Environment, ENVIRONMENT } from '../config/environment.js';
import type { HttpReply } from '../http/http-message.js';
import { Operation } from '../http/operation.decorator.js';
import { Live, Readiness } from './health.dto.js';
import { WriteRefusals } from '../http/write-refusals.js';
import { MetricsController } from './metrics.controller.js';
import { WriteProbe } from './write-probe.js';

/** Codes of a pause that readiness names; a carrier may answer any other text as its code. */
const PAUSE_REASONS: ReadonlySet<string> = new Set([
  'unauthorized',
  'forbidden',
  'throttled',
  'unreachable',
  'unexpected_redirect',
  'not_the_interface',
  'not_sent',
  'no_route',
]);

/**
 * Anybody may ask, so readiness gives its reasons in fixed words. Addresses and the messages of
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
    private readonly messaging: MessagingService,
    private readonly holds: HoldsService,
    private readonly writes: WriteProbe,
    @Inject(ENVIRONMENT) private readonly environment: Environment,
  ) {}

  /** Uses no database and no other service. */
  @Get('live')
  @Header('cache-control', 'no-store')
  @Operation('Whether the process answers', { answer: Live, success: 'It does.' })
  live(): Live {
    return { status: 'ok' };
  }

  @Get('ready')
  @HealthCheck({ noCache: true, swaggerDocumentation: false })
  @Operation('Whether the process can accept messages', {
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
        () => this.#lanes(),
        ...(this.environment.ENGINE === 'bullmq' ? [() => this.#engine()] : []),
      ]);
    } catch (error) {
      if (!(error instanceof ServiceUnavailableException)) throw error;
      // The form of health checks, with the details of each.
      reply.code(error.getStatus());
      return error.getResponse();
    }
  }

  async #database(): Promise<HealthIndicatorResult> {
    const { database } = await this.database.pingCheck('database', { timeout: 2_000 });
    const session = this.indicators.check('database');
    if (database?.status === 'up') {
      const reason = await this.writes.refusal();
      return reason === undefined ? session.up() : session.down({ reason });
    }
    this.#logger.warn({ message: 'the database does not answer', cause: database?.['message'] });
    return session.down({ reason: 'no_answer' });
  }

  /**
   * A paused lane keeps its messages and only degrades readiness (still 200), as does a hold of all
   * lanes; the hold of one account is no reason. A lane that has due work, no pause, no hold and no
   * holder is stuck and makes the gateway not ready. Lane names contain the account and are not
   * shown.
   */
  async #lanes(): Promise<HealthIndicatorResult> {
    const session = this.indicators.check('lanes');
    const read = Promise.all([this.messaging.lanes(), this.holds.list()]);
    const [lanes, holds] =
      (await read.catch((error: unknown) => {
        this.#logger.warn({ message: 'the lanes cannot be read', err: error });
      })) ?? [];
    if (!lanes || !holds) return session.down({ reason: 'store_unreadable' });
    const paused: Record<string, number> = {};
    const held: Record<string, number> = {};
    let waiting = 0;
    let stuck = 0;
    for (const lane of lanes) {
      const { hold, pauseReason } = lane;
      if (hold) held[hold.reason] = (held[hold.reason] ?? 0) + 1;
      else if (pauseReason !== null) {
        const word = PAUSE_REASONS.has(pauseReason) ? pauseReason : 'other';
        paused[word] = (paused[word] ?? 0) + 1;
      } else if (!lane.leased && lane.waiting > this.environment.LANE_STUCK_AFTER) stuck++;
      waiting = Math.max(waiting, lane.waiting);
    }
    const all = holds.find((hold) => hold.lanes === '*')?.reason;
    const details = {
      busy: lanes.length,
      paused,
      held,
      stuck,
      longest_wait_ms: Math.round(waiting),
      ...(all !== undefined && { all_held: all }),
    };
    if (stuck > 0) return session.down(details);
    const isDegraded = all !== undefined || Object.keys(paused).length > 0;
    return isDegraded ? session.degraded(details) : session.up(details);
  }

  /** Without wakes messages go out some seconds later, which only degrades readiness (still 200). */
  async #engine(): Promise<HealthIndicatorResult> {
    const session = this.indicators.check('engine');
    const { state } = await this.messaging.engineHealth();
    // The engine logs the cause whenever it changes.
    return state === 'up' ? session.up() : session.degraded({ reason: 'broker_unavailable' });
  }
}

@Module({
  imports: [TerminusModule.forRoot({ errorLogStyle: 'json' })],
  controllers: [HealthController, MetricsController],
  providers: [WriteProbe, WriteRefusals],
  exports: [WriteRefusals],
})
export class HealthModule {}
