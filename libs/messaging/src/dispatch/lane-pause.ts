import { Logger } from '@nestjs/common';
import type { LaneRun } from './lane-run.js';

/** When the lane goes on after a failure, and what its row says of that. */
export class LanePause {
  readonly #logger = new Logger('Lane');
  #restUntil: number;
  /** Until when the lane rests by its row, whoever wrote that. */
  readonly #restRead: number;
  #reason: string | null;
  /** A pause is written in the lane's row. */
  #recorded: boolean;
  #writes: Promise<void> = Promise.resolve();

  constructor(private readonly run: Pick<LaneRun, 'lane' | 'lease' | 'context'>) {
    const { lease, context } = run;
    this.#reason = lease.pauseReason;
    this.#recorded = lease.pauseReason !== null;
    this.#restRead = lease.pausedFor > 0 ? context.clock.monotonic() + lease.pausedFor : -Infinity;
    this.#restUntil = this.#restRead;
  }

  /** Milliseconds during which nothing may start. */
  get restFor(): number {
    return this.#restUntil === -Infinity
      ? -Infinity
      : this.#restUntil - this.run.context.clock.monotonic();
  }

  /** The lane's row tells when it goes on. */
  get recorded(): boolean {
    return this.#recorded || this.#restUntil === this.#restRead;
  }

  /** Nothing starts for `wait` milliseconds. @param why for people, where everybody should know */
  rest(wait: number, why: string | null): void {
    const { context, lane } = this.run;
    this.#restUntil = Math.max(this.#restUntil, context.clock.monotonic() + wait);
    if (why === null) return;
    const reason = storable(why);
    if (this.#reason !== reason) this.#logger.warn(`${lane}: paused: ${reason}`);
    this.#reason = reason;
    this.#recorded = true;
    this.#write();
  }

  /** The provider takes messages again. */
  end(): void {
    if (!this.#recorded) return;
    this.#recorded = false;
    this.#reason = null;
    this.#logger.log(`${this.run.lane}: goes on`);
    this.#write();
  }

  /** Resolves once the lane's row tells what the lane knows. */
  async written(): Promise<void> {
    await this.#writes;
  }

  /** One write at a time, so that the last one stays. */
  #write(): void {
    const { context, lane, lease } = this.run;
    this.#writes = this.#writes
      .then(() =>
        context.lanes.pause(
          lane,
          lease.fence,
          this.#recorded ? Math.max(0, this.restFor) : 0,
          this.#recorded ? this.#reason : null,
        ),
      )
      .catch(() => undefined);
  }
}

/** A reason for people, as the lane's row can hold it. */
function storable(reason: string): string {
  return reason
    .slice(0, 512)
    .replace(/[\p{Cc}\p{Cs}]/gu, ' ')
    .slice(0, 255);
}
