import { describe, expect, it } from '@jest/globals';
import { decide, type Situation, type StepState } from './notification-decision.js';

const AFTER = 120_000;
const GIVE_UP = 1_000_000;

type Given = Partial<Omit<Situation, 'steps'>> & { readonly states: readonly StepState[] };

/** Steps that began at 0, of which another one is left. */
function decided({ states, ...given }: Given) {
  return decide({
    now: 0,
    status: 'pending',
    left: 1,
    after: AFTER,
    unless: 'sent',
    until: null,
    giveUpAfter: GIVE_UP,
    ...given,
    steps: states.map((state) => ({ state, at: 0 })),
  });
}

const next = (reason: string, stop = false) => ({ kind: 'next', reason, stop });
const wait = (at: number) => ({ kind: 'wait', at });
const end = (status: string) => ({ kind: 'end', status });

describe('before the deadline', () => {
  it.each(['queued', 'sending', 'unreported'] as const)(
    'before the deadline a message that is %s is waited for',
    (state) => {
      expect(decided({ states: [state] })).toEqual(wait(AFTER));
      expect(decided({ states: [state], unless: 'delivered' })).toEqual(wait(AFTER));
    },
  );

  it('a failed message falls back at once', () => {
    expect(decided({ states: ['failed'] })).toEqual(next('failed'));
    expect(decided({ states: ['failed'], after: null })).toEqual(next('failed'));
  });

  it('a message that arrived ends the notification', () => {
    expect(decided({ states: ['reached'] })).toEqual(end('delivered'));
  });

  it('a message that the app cancelled ends the notification without a fallback', () => {
    expect(decided({ states: ['cancelled'] })).toEqual(end('cancelled'));
  });
});

describe('after the deadline', () => {
  const late = (state: StepState, unless: Situation['unless']) =>
    decided({ states: [state], now: AFTER, unless });

  it('a message that has not started is stopped, and the next one begins', () => {
    expect(late('queued', 'sent')).toEqual(next('not_started', true));
    expect(late('queued', 'delivered')).toEqual(next('not_started', true));
  });

  it('unless sent, a message that may have been sent has no fallback', () => {
    expect(late('unreported', 'sent')).toEqual(wait(GIVE_UP));
    expect(late('sending', 'sent')).toMatchObject({ kind: 'wait' });
  });

  it('unless delivered, a message that may have been sent falls back', () => {
    expect(late('unreported', 'delivered')).toEqual(next('not_delivered'));
    expect(late('sending', 'delivered')).toEqual(next('not_delivered'));
  });

  it('a message that a restored database may have sent waits for the release of its lane', () => {
    expect(late('held', 'delivered')).toMatchObject({ kind: 'wait' });
  });

  it('without a deadline a message that waits is waited for', () => {
    expect(decided({ states: ['queued'], after: null, now: 10 * GIVE_UP })).toMatchObject({
      kind: 'wait',
    });
  });
});

describe('without a step to come', () => {
  it('the notification fails once every message has failed', () => {
    expect(decided({ states: ['failed', 'failed'], left: 0 })).toEqual(end('failed'));
  });

  it('a message without a report keeps the notification open until the report is given up', () => {
    expect(decided({ states: ['unreported', 'failed'], left: 0 })).toEqual(wait(GIVE_UP));
    expect(decided({ states: ['unreported', 'failed'], left: 0, now: GIVE_UP })).toEqual(
      end('undecided'),
    );
  });

  it('no step begins after the validity of the notification', () => {
    expect(decided({ states: ['failed'], until: 10, now: 9 })).toEqual(next('failed'));
    expect(decided({ states: ['failed'], until: 10, now: 10 })).toEqual(end('failed'));
    expect(decided({ states: ['queued'], until: 10, now: AFTER })).toMatchObject({ kind: 'wait' });
  });
});

describe('after the end', () => {
  it('a late delivery raises an ended notification to delivered', () => {
    for (const status of ['failed', 'undecided', 'cancelled'] as const)
      expect(decided({ states: ['reached', 'failed'], status, left: 0 })).toEqual(end('delivered'));
  });

  it('an undecided notification fails once every message has failed', () => {
    expect(decided({ states: ['failed', 'failed'], status: 'undecided', left: 0 })).toEqual(
      end('failed'),
    );
  });

  it('a report that is no late delivery changes no ended notification', () => {
    for (const status of ['delivered', 'failed', 'cancelled'] as const)
      expect(decided({ states: ['failed', 'unreported'], status })).toEqual({ kind: 'none' });
    expect(decided({ states: ['reached'], status: 'delivered' })).toEqual({ kind: 'none' });
  });
});
