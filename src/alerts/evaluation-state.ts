import { type Clock, MESSAGING_CLOCK, MessagingService } from '@dundun/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { ENVIRONMENT, type Environment } from '../config/environment.js';
import { AlertEvaluationEntity } from './alerts.tables.js';

const ROW = { id: 1 } as const;

/** Longest time in milliseconds by which the clock of another process is ahead. */
const TOLERANCE = 5_000;

/** After so many evaluations left out, the next ones of as long raise nothing. */
const GAP = 5;

/** When the rules were evaluated last, by any process. */
@Injectable()
export class EvaluationState {
  constructor(
    private readonly messaging: MessagingService,
    @InjectDataSource() private readonly dataSource: DataSource,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'ALERTS_EVERY'>,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now'>,
  ) {}

  /** Milliseconds until the next evaluation; after the clock was set back it is due. */
  async dueIn(): Promise<number> {
    const state = await this.dataSource.manager.findOneBy(AlertEvaluationEntity, ROW);
    if (!state) return 0;
    const { ALERTS_EVERY } = this.environment;
    const dueIn = state.evaluatedAt.getTime() + ALERTS_EVERY - this.clock.now();
    return dueIn > ALERTS_EVERY + TOLERANCE ? 0 : dueIn;
  }

  /**
   * Notes that an evaluation begins. After a time without any, as before a start, queues drain and reports arrive that
   * waited, so nothing is raised for as long. @returns whether it may raise
   */
  begin(): Promise<boolean> {
    return this.messaging.transaction(async (manager) => {
      const now = this.clock.now();
      const gap = GAP * this.environment.ALERTS_EVERY;
      const last = await manager.findOneBy(AlertEvaluationEntity, ROW);
      const isAfterGap = !last || now - last.evaluatedAt.getTime() > gap;
      // A later one is of a clock that was set back.
      const latest = isAfterGap ? now + gap : Math.min(now + gap, last.quietUntil.getTime());
      const quietUntil = new Date(latest);
      const state = { ...ROW, evaluatedAt: new Date(now), quietUntil };
      await manager.upsert(AlertEvaluationEntity, state, ['id']);
      return now >= latest;
    });
  }
}
