import { MessagingService } from '@dundun/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { type Environment, ENVIRONMENT } from '../config/environment.js';

/** Without wakes messages go out some seconds later, which only degrades readiness (still 200). */
@Injectable()
export class EngineIndicator {
  constructor(
    private readonly indicators: HealthIndicatorService,
    private readonly messaging: MessagingService,
  ) {}

  async check(key: string): Promise<HealthIndicatorResult> {
    const session = this.indicators.check(key);
    const { state, reason } = await this.messaging.engineHealth();
    return state === 'up' ? session.up() : session.degraded({ reason });
  }
}

/**
 * A paused lane keeps its messages and only degrades readiness (still 200). A lane that has due
 * work, no pause and no holder is stuck and makes the gateway not ready. Lane names contain the
 * account and are not shown.
 */
@Injectable()
export class LanesIndicator {
  constructor(
    private readonly indicators: HealthIndicatorService,
    private readonly messaging: MessagingService,
    @Inject(ENVIRONMENT) private readonly environment: Environment,
  ) {}

  async check(key: string): Promise<HealthIndicatorResult> {
    const session = this.indicators.check(key);
    const lanes = await this.messaging.lanes().catch(() => undefined);
    if (!lanes) return session.down('the store cannot be read');
    const paused: Record<string, number> = {};
    let waiting = 0;
    let stuck = 0;
    for (const lane of lanes) {
      if (lane.pauseReason !== null) paused[lane.pauseReason] = (paused[lane.pauseReason] ?? 0) + 1;
      else if (!lane.held && lane.waiting > this.environment.LANE_STUCK_AFTER) stuck++;
      waiting = Math.max(waiting, lane.waiting);
    }
    const details = { busy: lanes.length, paused, stuck, longest_wait_ms: Math.round(waiting) };
    if (stuck > 0) return session.down(details);
    return Object.keys(paused).length > 0 ? session.degraded(details) : session.up(details);
  }
}
