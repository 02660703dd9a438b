import { Injectable } from '@nestjs/common';
import { networkOf, networksOf, RequestWindow } from '../../accounts/limits.js';
import { ApiError } from '../../http/api-error.js';
import type { HashShare } from '../../secrets/password-hash.js';

const QUARTER_HOUR = 15 * 60_000;

/** Wrong attempts in a quarter of an hour for one name, from a network or from a known browser. */
const OF_NAME = { max: 10, per: QUARTER_HOUR };

/** Wrong passwords, and wrong codes of links, in a quarter of an hour from a network. */
const OF_NETWORK = { max: 100, per: QUARTER_HOUR };

/** Wrong codes of a second factor in a quarter of an hour, from all networks. */
const OF_SECOND_FACTOR = { max: 10, per: QUARTER_HOUR };

/** Wrong attempts for a name from all networks before the answers to further ones are delayed. */
const UNDELAYED = 20;

/** Longest delay of an answer, in milliseconds. */
const LONGEST_DELAY = 30_000;

/** The origin of an attempt to sign in. */
export interface SignInOrigin {
  readonly ip: string;
  /** Of a browser that has signed in to this name before. */
  readonly knownBrowser?: string | undefined;
  /** Whether the browser or the network has signed in to this name before. */
  readonly isKnown: boolean;
}

/** The hashes of known browsers and networks do not wait for those of strangers. */
export function hashShareOf({ ip, isKnown }: SignInOrigin): HashShare {
  return [isKnown ? 'known' : 'portal', ...networksOf(ip)];
}

/** Limits guesses in this process. */
@Injectable()
export class SignInLimits {
  readonly #names = new RequestWindow(OF_NAME);
  readonly #networks = new RequestWindow(OF_NETWORK);
  readonly #everywhere = new RequestWindow({ max: UNDELAYED, per: QUARTER_HOUR });
  readonly #codes = new RequestWindow(OF_SECOND_FACTOR);

  /**
   * Runs `attempt`, and counts it unless it is `true`. Attempts count from their start, so that many
   * at once are limited too. Attempts for a name from all networks together are delayed, never
   * refused, and not even delayed from a known browser or network. @throws ApiError 429 with `Retry-After`
   */
  async during(
    { ip, knownBrowser, isKnown }: SignInOrigin,
    name: string,
    attempt: () => Promise<boolean>,
  ): Promise<boolean> {
    const network = networkOf(ip);
    // A known browser does not share its attempts with the other people of its network.
    return counted(
      knownBrowser === undefined
        ? [
            [this.#networks, network],
            [this.#names, `${network} ${name}`],
          ]
        : [[this.#names, `${knownBrowser} ${name}`]],
      'Too many wrong attempts; wait, or ask for a link for a new password',
      async () => {
        const { remaining } = this.#everywhere.take(name);
        if (!isKnown && remaining < 0)
          await delay(Math.min(LONGEST_DELAY, 1_000 * 2 ** -remaining));
        return givenBack(() => this.#everywhere.giveBack(name), attempt);
      },
    );
  }

  /** The same for codes of a user's second factor, over all networks. @throws ApiError 429 */
  duringCode(userId: string, attempt: () => Promise<boolean>): Promise<boolean> {
    const excess = 'Too many wrong codes; wait, or ask an operator to reset your second factor';
    return counted([[this.#codes, userId]], excess, attempt);
  }
}

/** @throws ApiError 429 */
async function counted(
  keys: readonly (readonly [RequestWindow, string])[],
  message: string,
  attempt: () => Promise<boolean>,
): Promise<boolean> {
  const taken = keys.map(([window, key]) => window.take(key));
  const excess = taken.filter(({ remaining }) => remaining < 0);
  if (excess.length > 0)
    throw new ApiError('rate_limited', message, {
      headers: { 'retry-after': String(Math.max(...excess.map(({ reset }) => reset))) },
    });
  return givenBack(() => {
    for (const [window, key] of keys) window.giveBack(key);
  }, attempt);
}

/** Calls `giveBack` unless the attempt was wrong. */
async function givenBack(giveBack: () => void, attempt: () => Promise<boolean>): Promise<boolean> {
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

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
