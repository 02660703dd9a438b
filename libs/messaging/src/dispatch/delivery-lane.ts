import { setMaxListeners } from 'node:events';
import { Logger } from '@nestjs/common';
import { recordAgain } from './backoff.js';
import type { LaneTask } from './dispatcher.js';
import type { LeasedLane } from './leased-lane.js';

/**
 * Base of a lane that hands deliveries to a receiver: it knows whether it may go on, aborts the
 * requests under way, and records their outcomes until the database takes them.
 */
export abstract class DeliveryLane implements LaneTask {
  abstract readonly underWay: string;
  /** The database may have due deliveries that the lane has not read. */
  protected more = true;
  protected readonly logger = new Logger(this.constructor.name);
  readonly #abort = new AbortController();

  constructor(protected readonly leased: LeasedLane) {
    // Each request under way listens.
    setMaxListeners(0, this.signal);
  }

  abstract pump(): Promise<void>;

  abstract nextDueIn(): Promise<number>;

  nudge(): void {
    this.more = true;
    this.leased.changed.wake();
  }

  abort(): void {
    this.#abort.abort(new Error('the process stops'));
  }

  /** Aborts the requests under way when a stop lasts too long. */
  protected get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** The lease is held, and the process runs on. */
  protected get mayGoOn(): boolean {
    return !this.leased.stopping.aborted && this.leased.valid;
  }

  /**
   * Repeats the write of outcomes until the database takes them.
   * @param warning logged with the error of each try that failed
   * @throws the last error where a stop ends the tries
   */
  protected async recorded(record: () => Promise<void>, warning: string): Promise<void> {
    const failure = await record().catch((error: unknown) =>
      recordAgain(record, error, this.leased.stopping, (cause) =>
        this.logger.warn({ message: warning, err: cause }),
      ),
    );
    if (failure !== undefined) throw failure as Error;
  }
}
