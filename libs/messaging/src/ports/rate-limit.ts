import { MessagingConfigError } from '../message/errors.js';
import { milliseconds } from './duration.js';
import type { RateLimit } from './messaging-options.js';

/**
 * @returns the limit with `per` in milliseconds
 * @throws MessagingConfigError naming `option`
 */
export function rateOf(option: string, { max, per }: RateLimit): { max: number; per: number } {
  if (!Number.isSafeInteger(max) || max < 1)
    throw new MessagingConfigError(
      `${option}.max: ${String(max)} must be a whole number of at least 1`,
    );
  const window = milliseconds(`${option}.per`, per);
  if (window < 1) throw new MessagingConfigError(`${option}.per: must be at least 1 ms`);
  return { max, per: window };
}
