import { Injectable } from '@nestjs/common';
import { networkOf, RequestWindow } from '../accounts/limits.js';
import { ApiError } from '../http/api-error.js';

const QUARTER_HOUR = 15 * 60_000;

/** Wrong passwords in a quarter of an hour from a network, for one name. */
const OF_NAME = { max: 10, per: QUARTER_HOUR };

/** Wrong passwords, and wrong codes of links, in a quarter of an hour from a network. */
const OF_NETWORK = { max: 100, per: QUARTER_HOUR };

/** Limits guesses in this process. */
@Injectable()
export class SignInLimits {
  readonly #names = new RequestWindow(OF_NAME);
  readonly #networks = new RequestWindow(OF_NETWORK);

  /**
   * Runs `attempt`, and counts it unless it is `true`. Attempts count from their start, so that many
   * at once are limited too. @throws ApiError 429 with `Retry-After`
   */
  async during(ip: string, name: string, attempt: () => Promise<boolean>): Promise<boolean> {
    const network = networkOf(ip);
    const keys = [
      [this.#networks, network],
      [this.#names, `${network} ${name}`],
    ] as const;
    const taken = keys.map(([window, key]) => window.take(key));
    const excess = taken.filter(({ remaining }) => remaining < 0);
    if (excess.length > 0)
      throw new ApiError(
        'rate_limited',
        'Too many wrong attempts; wait, or ask for a link for a new password',
        { headers: { 'retry-after': String(Math.max(...excess.map(({ reset }) => reset))) } },
      );
    const giveBack = (): void => {
      for (const [window, key] of keys) window.giveBack(key);
    };
    let isRight: boolean;
    try {
      isRight = await attempt();
    } catch (error) {
      giveBack();
      throw error;
    }
    if (isRight) giveBack();
    return isRight;
  }
}
