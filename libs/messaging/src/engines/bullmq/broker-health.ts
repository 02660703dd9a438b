import { Logger } from '@nestjs/common';
import type { EngineHealth } from '../../ports/dispatch-engine.js';
import { reasonOf } from './broker-failure.js';

/** How long the broker's last answer proves that it is up, in milliseconds. */
const FRESH = 5_000;

/**
 * How long the worker counts as failing after its last failure, in milliseconds. A failing worker fails more often
 * than that.
 */
const FAILING_FOR = 15_000;

/** State of the broker as this process sees it, for the wakes it sends and for the lanes it receives. */
export class BrokerHealth {
  readonly #logger = new Logger('BullMQ');
  #wakes: string | null = null;
  #lanes: string | null = null;
  #heardAt = -Infinity;
  #failedAt = -Infinity;

  get health(): EngineHealth {
    const reason = this.#wakes ?? (this.failing ? this.#lanes : null);
    return { state: reason === null ? 'up' : 'degraded', reason };
  }

  /** Whether the broker took a wake recently. */
  get fresh(): boolean {
    return performance.now() - this.#heardAt < FRESH;
  }

  /** Whether the worker has failed recently, so that the broker may not hand out lanes. */
  get failing(): boolean {
    return performance.now() - this.#failedAt < FAILING_FOR;
  }

  wakesFailed(error: unknown): void {
    this.#heardAt = -Infinity;
    this.#wakes = this.#warn(
      'The broker takes no wakes, so messages wait for the wake job',
      this.#wakes,
      error,
    );
  }

  wakesPassed(): void {
    this.#heardAt = performance.now();
    if (this.#wakes !== null) this.#logger.log('The broker takes wakes again');
    this.#wakes = null;
  }

  lanesFailed(error: unknown): void {
    const last = this.failing ? this.#lanes : null;
    this.#failedAt = performance.now();
    this.#lanes = this.#warn(
      'The broker hands out no lanes, so this process runs the lanes that it wakes',
      last,
      error,
    );
  }

  lanesPassed(): void {
    this.#failedAt = -Infinity;
  }

  /** Logs each reason once. */
  #warn(summary: string, last: string | null, error: unknown): string {
    const reason = reasonOf(error);
    if (reason !== last) this.#logger.warn(`${summary}: ${reason}`);
    return reason;
  }
}
