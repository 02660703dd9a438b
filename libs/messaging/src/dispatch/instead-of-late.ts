import type { LaneDrainContext } from './lane-run.js';
import { ageOf, type Ready } from './slice.js';

/**
 * Its time was over before it could start; or it may have started before, for which its time was judged
 * with its resend, and its key is honoured no more.
 */
export function insteadOfLate(
  item: Ready,
  { clock, transport }: Pick<LaneDrainContext, 'clock' | 'transport'>,
): Ready['instead'] {
  if (!item.resent) return item.validUntil <= clock.monotonic() ? { result: 'expired' } : undefined;
  return ageOf(item, clock) < transport.capabilities.idempotencyWindow
    ? undefined
    : { result: 'unknown', errorCode: 'outcome_lost' };
}
