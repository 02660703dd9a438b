import { expect, it } from '@jest/globals';
import type { MessageRecord } from '@dundun/messaging/operations';
import { mayStillLeave } from './repetition.js';

const [FIRST, BUSY, SECOND] = [10, 20, 30].map((at) => new Date(at)) as [Date, Date, Date];

function call(status: string, events: readonly [string, Date][], starts: readonly Date[]) {
  return {
    status,
    reports: events.map(([rawStatus, receivedAt]) => ({ rawStatus, receivedAt })),
    submissions: starts.map((startedAt) => ({ startedAt })),
  } as unknown as MessageRecord;
}

it('a message may still leave while it is queued or sending, and while its call waits for a redial', () => {
  const statuses = ['queued', 'sending', 'unknown', 'sent', 'failed', 'delivered', 'cancelled'];
  expect(statuses.filter((status) => mayStillLeave(call(status, [], [FIRST])))).toEqual([
    'queued',
    'sending',
  ]);
  expect(mayStillLeave(call('busy', [['redial', BUSY]], [FIRST]))).toBe(true);
  expect(mayStillLeave(call('busy', [['redial', BUSY]], [FIRST, SECOND]))).toBe(false);
});
