import type { LaneDrainContext } from './lane-run.js';
import { ageOf, type Ready } from './slice.js';

/**
 * Its time was over before it could start. One that may have started before is told unknown then: it is
 * not repeated late, nor where its key is honoured no more.
 */
export function skipOutcomeOfLate(
  item: Ready,
  { clock, transport }: Pick<LaneDrainContext, 'clock' | 'transport'>,
): Ready['instead'] {
  const over = item.validUntil <= clock.monotonic();
  if (!item.resent) return over ? { result: 'expired' } : undefined;
  if (over) return { result: 'unknown', errorCode: 'validity_over' };
  return ageOf(item, clock) < transport.capabilities.idempotencyWindow
    ? undefined
    : { result: 'unknown', errorCode: 'outcome_lost' };
}
