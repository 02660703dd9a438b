import { Inject, Injectable } from '@nestjs/common';
import { type Environment, ENVIRONMENT } from '../config/environment.js';
import { ApiError } from '../http/api-error.js';

/** What one send of many recipients weighs: a thousand of them as much as one more send. */
const RECIPIENTS_A_SEND = 1_000;

/**
 * Bounds what waits for the store. While it is behind, more sends are refused: a client that is told
 * to come again is better off than one whose message waits in a process that runs out of memory.
 */
@Injectable()
export class PendingSends {
  readonly #most: number;
  #pending = 0;

  constructor(@Inject(ENVIRONMENT) { MAX_PENDING_SENDS }: Environment) {
    this.#most = MAX_PENDING_SENDS;
  }

  /**
   * A place for one send, to {@link leave} when it has ended; one has a place always, however heavy.
   * @throws ApiError 503 with `Retry-After`
   */
  take(recipients: number): number {
    if (this.#pending >= this.#most)
      throw new ApiError('unavailable', 'The service is behind with accepting; try again', {
        headers: { 'retry-after': '1' },
      });
    const weight = 1 + Math.floor(recipients / RECIPIENTS_A_SEND);
    this.#pending += weight;
    return weight;
  }

  /** @param place what {@link take} gave */
  leave(place: number): void {
    this.#pending -= place;
  }
}
