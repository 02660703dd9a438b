import { MessagingConfigError } from '../message/errors.js';
import { duration, group, type OptionsOf, wholeNumber } from './option-schema.js';

const RATE = { max: wholeNumber, per: duration(1) };

/** At most `max` messages in any window of `per`. Options also take the form `'50/s'`. */
export type RateLimit = OptionsOf<typeof RATE>;

export const readRate = group(RATE);

/**
 * Reads `{ max: 50, per: '1s' }`, or `'50/s'`, `'600/m'`, `'2/7d'`; `per` becomes milliseconds.
 * @throws MessagingConfigError naming `option`
 */
export function rateOf(option: string, limit: RateLimit | string): ReturnType<typeof readRate> {
  if (typeof limit !== 'string') return readRate(option, limit);
  const [, max, per = ''] = /^(\d{1,9})\/(\d*[a-z]+)$/.exec(limit) ?? [];
  if (max === undefined)
    throw new MessagingConfigError(
      `${option}: ${JSON.stringify(limit.slice(0, 32))} is no rate; write '50/s', '600/m' or { max: 50, per: '1s' }`,
    );
  return readRate(option, { max: Number(max), per: /^\d/.test(per) ? per : `1${per}` });
}
