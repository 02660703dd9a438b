import { MessagingService } from '@dundun/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { type Environment, ENVIRONMENT } from '../config/environment.js';

/**
 * What the lanes say: how many are paused, and why (`unauthorized`: the carrier refuses our
 * credential), and how long the oldest due message has waited. A paused lane keeps its messages and
 * does not make this process unfit to accept more: it degrades readiness (still 200). A lane that is
 * not paused, has due work and yet nobody works on it is stuck and turns it down. A lane's name holds
 * its account and is not told.
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
    const told = { busy: lanes.length, paused, stuck, longest_wait_ms: Math.round(waiting) };
    if (stuck > 0) return session.down(told);
    return Object.keys(paused).length > 0 ? session.degraded(told) : session.up(told);
  }
}
