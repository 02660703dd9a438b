import { MessagingService } from '@dundun/messaging';
import { Injectable } from '@nestjs/common';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';

/**
 * Whether wakes travel between processes. Where they do not, messages are accepted and leave all the
 * same, seconds later: it degrades readiness (still 200).
 */
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
