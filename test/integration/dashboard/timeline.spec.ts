import { expect, it } from '@jest/globals';
import type { MessageRecord } from '@dundun/messaging/operations';
import { waitingOf } from '../../../libs/dashboard/src/timeline.js';

const NOW = new Date('2026-01-01T00:00:00Z');
const LATER = new Date('2026-01-01T08:00:00Z');

const waiting = (changes: Partial<MessageRecord>) => {
  const message = { status: 'queued', attempts: 0, errorCode: null, ...changes };
  return waitingOf(message as MessageRecord, undefined, NOW);
};

it('a deferred message says why it waits and until when', () => {
  const deferred = { waitsUntil: LATER, deferredUntil: LATER };
  expect(waiting({ ...deferred, errorCode: 'quiet_hours' })).toMatchObject([
    {
      kind: 'waiting',
      title: 'Deferred: Quiet hours of the recipient',
      detail: LATER.toISOString(),
      code: 'quiet_hours',
    },
  ]);
  expect(waiting(deferred)).toMatchObject([{ title: 'Waits for its time' }]);
  const past = { deferredUntil: NOW, waitsUntil: NOW, errorCode: 'quiet_hours' };
  expect(waiting(past)).toMatchObject([{ title: 'Waits for its turn in the lane' }]);
});
