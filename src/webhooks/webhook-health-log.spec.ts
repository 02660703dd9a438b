import { expect, it } from '@jest/globals';
import type { ActiveEndpoint, AttemptOutcome } from './webhook-client.js';
import { WebhookHealthLog } from './webhook-health-log.js';
import { healthAfter } from './webhook-sender.js';

const DAY = 86_400_000;

function receiver(id = 'whk_1') {
  const lines: object[] = [];
  let now = 0;
  const log = new WebhookHealthLog({ monotonic: () => now });
  const write = (line: object) => void lines.push(line);
  let failingSince: number | null = null;
  const attempt = (after: number, error: AttemptOutcome['error']): void => {
    now += after;
    const outcome = { startedAt: now, duration: 0, status: 500, error, response: null };
    const change = healthAfter(failingSince, outcome, 5 * DAY);
    if (change) failingSince = change.failingSince;
    const endpoint = { id, url: 'https://hooks.example.com/x' } as ActiveEndpoint;
    log.attempted({ log: write, warn: write }, endpoint, outcome, change);
  };
  return { lines, attempt };
}

it('an endpoint that fails and works in turn writes one line a minute, with the number of changes', () => {
  const { lines, attempt } = receiver();
  for (let second = 0; second < 600; second++)
    attempt(1_000, second % 2 === 0 ? 'http_status' : null);
  expect(lines.length).toBeLessThanOrEqual(11);
  expect(lines[0]).toEqual({
    message: 'webhook fails',
    webhook: 'whk_1',
    origin: 'https://hooks.example.com',
    error: 'http_status',
  });
  expect(lines[1]).toMatchObject({ changes: 60 });
});

it('the last state of an endpoint that has stopped changing is written after the minute', () => {
  const { lines, attempt } = receiver();
  attempt(0, 'timeout');
  attempt(1_000, null);
  attempt(1_000, null);
  expect(lines).toHaveLength(1);
  attempt(60_000, null);
  attempt(60_000, null);
  expect(lines).toMatchObject([{ message: 'webhook fails' }, { message: 'webhook works again' }]);
});

it('an endpoint that is disabled writes its line at once', () => {
  const { lines, attempt } = receiver();
  attempt(0, 'timeout');
  attempt(1_000, 'gone');
  expect(lines).toMatchObject([
    { message: 'webhook fails' },
    { message: 'webhook disabled', reason: 'gone' },
  ]);
});
