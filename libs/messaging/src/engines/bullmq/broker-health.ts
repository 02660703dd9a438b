import { Logger } from '@nestjs/common';
import type { EngineHealth } from '../../ports/engine-health.js';
import { reasonOf } from './broker-failure.js';

/** Milliseconds the last word of the broker is good for. */
const FRESH = 5_000;

/** Milliseconds after a worker's last failure until it counts as well; a failing one fails more often. */
const AILING = 15_000;

/** What this process has heard of the broker: of the wakes it sends, and of the lanes it takes. */
export class BrokerHealth {
  readonly #logger = new Logger('BullMQ');
  #wakes: string | null = null;
  #lanes: string | null = null;
  #heardAt = -Infinity;
  #failedAt = -Infinity;

  get health(): EngineHealth {
    const reason = this.#wakes ?? (this.ailing ? this.#lanes : null);
    return { state: reason === null ? 'up' : 'degraded', reason };
  }

  /** It took a wake a moment ago. */
  get fresh(): boolean {
    return performance.now() - this.#heardAt < FRESH;
  }

  /** Lanes may not come from it. */
  get ailing(): boolean {
    return performance.now() - this.#failedAt < AILING;
  }

  wakesFailed(error: unknown): void {
    this.#heardAt = -Infinity;
    this.#wakes = this.#tell(
      'Wakes do not travel, messages wait for the next look',
      this.#wakes,
      error,
    );
  }

  wakesPassed(): void {
    this.#heardAt = performance.now();
    if (this.#wakes !== null) this.#logger.log('Wakes travel again');
    this.#wakes = null;
  }

  lanesFailed(error: unknown): void {
    const told = this.ailing ? this.#lanes : null;
    this.#failedAt = performance.now();
    this.#lanes = this.#tell(
      'Lanes are not handed out, this process looks for its own',
      told,
      error,
    );
  }

  lanesPassed(): void {
    this.#failedAt = -Infinity;
  }

  /** Each reason once. */
  #tell(what: string, told: string | null, error: unknown): string {
    const reason = reasonOf(error);
    if (reason !== told) this.#logger.warn(`${what}: ${reason}`);
    return reason;
  }
}
