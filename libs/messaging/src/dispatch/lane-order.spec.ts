import { describe, expect, it } from '@jest/globals';
import { takenOver } from './submissions.js';
import { LaneOrder } from './lane-order.js';

/** A message of the lane that was accepted at `place`. */
function message(place: number, { priority = 1, attempt = 0 } = {}) {
  return {
    ...takenOver(
      {
        batch: `b${place}`,
        n: 0,
        provider: 'main',
        firstPosition: 0,
        lastPosition: 0,
        attempt,
        countedFailures: 0,
        errorCode: null,
        errorText: null,
        firstSentAt: new Date(0),
        recipients: [{ position: 0, recipient: '2348012345678' }],
        tenant: '',
        channel: 'sms',
        sender: 'ACME',
        content: { kind: 'text', text: 'x' },
        deliveryReport: false,
        guarded: false,
        validFor: null,
        dueAt: new Date(0),
        place,
        priority,
        dueFor: 0,
        inDoubtAt: null,
      },
      0,
      0,
    ),
    resendAt: undefined,
  };
}

describe('the order of a lane names why a message was passed', () => {
  it('messages that start in their order have passed none, also a second time', () => {
    const order = new LaneOrder(() => false);
    expect([1, 2, 3].map((place) => order.started(message(place)))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(order.started(message(3, { attempt: 1 }))).toBeUndefined();
  });

  it('a refused one is passed by those in flight, and by a later start without a reason', () => {
    const order = new LaneOrder(() => false);
    for (const place of [1, 2, 3]) order.started(message(place));
    order.refused(message(1));
    expect(order.started(message(1, { attempt: 1 }))).toBe('in_flight');
    order.refused(message(2));
    order.started(message(4));
    expect(order.started(message(2, { attempt: 1 }))).toBe('unnamed');
  });

  it('one that waits has its reason until it starts', () => {
    const order = new LaneOrder(() => false);
    order.waits(message(1), 'parked');
    order.waits(message(2), 'deferred');
    order.planned({
      deferred: [],
      batches: [{ id: 'b3', revision: 0, pending: true, requeued: true, deferUntil: 1 }],
    });
    order.withdrawn(message(4), false);
    order.started(message(9));
    expect([1, 2, 3, 4, 1].map((place) => order.started(message(place)))).toEqual([
      'parked',
      'deferred',
      'deferred',
      'unnamed',
      'late',
    ]);
  });

  it('one of a lower priority is passed by a later one of a higher', () => {
    const order = new LaneOrder(() => false);
    order.started(message(5, { priority: 0 }));
    expect(order.started(message(4))).toBe('class');
    expect(order.started(message(6))).toBeUndefined();
  });
});
