import { describe, expect, it } from '@jest/globals';
import type { AttemptOutcome } from './webhook-client.js';
import { healthAfter } from './webhook-sender.js';

const DAY = 86_400_000;

function attempt(startedAt: number, error: AttemptOutcome['error']): AttemptOutcome {
  return { startedAt, duration: 10, status: 500, error, response: null };
}

describe('endpoint health', () => {
  it('endpoint health reports changes only', () => {
    expect(healthAfter(null, attempt(1_000, null), 5 * DAY)).toBeUndefined();
    const failed = healthAfter(null, attempt(2_000, 'http_status'), 5 * DAY);
    expect(failed).toEqual({ failingSince: 2_000 });
    expect(healthAfter(2_000, attempt(3_000, 'timeout'), 5 * DAY)).toBeUndefined();
    expect(healthAfter(2_000, attempt(4_000, null), 5 * DAY)).toEqual({ failingSince: null });
  });

  it('a 410 disables an endpoint at once', () => {
    expect(healthAfter(null, attempt(1_000, 'gone'), 5 * DAY)).toEqual({
      failingSince: 1_000,
      disabled: { at: 1_010, reason: 'gone' },
    });
  });

  it('five days without a success disable an endpoint', () => {
    expect(healthAfter(1_000, attempt(5 * DAY + 980, 'timeout'), 5 * DAY)).toBeUndefined();
    expect(healthAfter(1_000, attempt(5 * DAY + 990, 'timeout'), 5 * DAY)).toMatchObject({
      disabled: { reason: 'failing' },
    });
  });

  it('a week without deliveries disables no endpoint', () => {
    const first = attempt(7 * DAY, 'timeout');
    expect(healthAfter(null, first, 5 * DAY)).toEqual({ failingSince: 7 * DAY });
  });
});
