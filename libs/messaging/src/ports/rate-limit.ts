import { MessagingConfigError } from '../message/errors.js';
import { type Duration, milliseconds } from './duration.js';

/** At most `max` messages in any window of `per`. Options also take the form `'50/s'`. */
export interface RateLimit {
  readonly max: number;
  readonly per: Duration;
}

/**
 * Reads a rate limit: `{ max: 50, per: '1s' }`, or `'50/s'`, `'600/m'`, `'2/7d'`.
 *
 * @returns the limit with `per` in milliseconds
 * @throws MessagingConfigError naming `option`
 */
export function rateOf(option: string, limit: RateLimit | string): { max: number; per: number } {
  const { max, per } = typeof limit === 'string' ? parse(option, limit) : limit;
  if (!Number.isSafeInteger(max) || max < 1)
    throw new MessagingConfigError(
      `${option}.max: ${String(max)} must be a whole number of at least 1`,
    );
  const window = milliseconds(`${option}.per`, per);
  if (window < 1) throw new MessagingConfigError(`${option}.per: must be at least 1 ms`);
  return { max, per: window };
}

function parse(option: string, text: string): RateLimit {
  const [, max, per = ''] = /^(\d{1,9})\/(\d*[a-z]+)$/.exec(text) ?? [];
  if (max === undefined)
    throw new MessagingConfigError(
      `${option}: ${JSON.stringify(text.slice(0, 32))} is no rate; write '50/s', '600/m' or { max: 50, per: '1s' }`,
    );
  return { max: Number(max), per: /^\d/.test(per) ? per : `1${per}` };
}
