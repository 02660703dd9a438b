import { describe, expect, it } from '@jest/globals';
import { EndpointHealth } from './endpoint-health.js';
import type { AttemptOutcome } from './webhook-client.js';

const DAY = 86_400_000;
const HOOK = { id: 'w', url: 'https://hooks.example.com/reports' };

function attempt(startedAt: number, error: AttemptOutcome['error']): AttemptOutcome {
  return { startedAt, duration: 10, status: 500, error, response: null };
}

describe('endpoint health', () => {
  it('endpoint health reports changes only', () => {
    const health = new EndpointHealth({ ...HOOK, failingSince: null }, 5 * DAY);
    expect(health.after(attempt(1_000, null))).toBeUndefined();
    expect(health.after(attempt(2_000, 'http_status'))).toEqual({ ...HOOK, failingSince: 2_000 });
    expect(health.after(attempt(3_000, 'timeout'))).toBeUndefined();
    expect(health.after(attempt(4_000, null))).toEqual({ ...HOOK, failingSince: null });
    expect(health.after(attempt(5_000, null))).toBeUndefined();
  });

  it('a 410 disables an endpoint at once', () => {
    const health = new EndpointHealth({ ...HOOK, failingSince: null }, 5 * DAY);
    expect(health.after(attempt(1_000, 'gone'))).toEqual({
      ...HOOK,
      failingSince: 1_000,
      disabled: { at: 1_010, reason: 'gone' },
    });
  });

  it('five days without a success disable an endpoint', () => {
    const health = new EndpointHealth({ ...HOOK, failingSince: 1_000 }, 5 * DAY);
    expect(health.after(attempt(5 * DAY + 980, 'timeout'))).toBeUndefined();
    expect(health.after(attempt(5 * DAY + 990, 'timeout'))).toMatchObject({
      disabled: { reason: 'failing' },
    });
  });

  it('a week without deliveries disables no endpoint', () => {
    const health = new EndpointHealth({ ...HOOK, failingSince: null }, 5 * DAY);
    health.after(attempt(0, null));
    expect(health.after(attempt(7 * DAY, 'timeout'))).toEqual({ ...HOOK, failingSince: 7 * DAY });
  });
});
