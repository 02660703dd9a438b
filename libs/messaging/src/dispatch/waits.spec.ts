import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  batchBackoff,
  type CourseFacts,
  courseOf,
  escalated,
  type FailedRequest,
  type FailureFacts,
  plannedDeferral,
  providerPause,
  type Situation,
  situationOf,
  waitAfter,
} from './waits.js';

// A backoff is then its upper bound: `base`, doubled with each try.
beforeEach(() => void jest.spyOn(Math, 'random').mockReturnValue(1));
afterEach(() => void jest.restoreAllMocks());

const FACTS: FailureFacts = {
  base: 1_000,
  failures: 1,
  inARow: 1,
  failing: 1,
  pausedFor: 0,
  backsOffFor: 0,
  isResend: false,
  canBeAsked: false,
};

describe('the wait after a failure', () => {
  type Row = readonly [
    situation: Situation,
    of: string,
    facts: Partial<FailureFacts>,
    pause: number,
    backoff: number,
    message: number,
  ];
  const rows: Row[] = [
    ['rejected', 'any', { asked: 5_000 }, 0, 0, 0],
    ['deferred', 'a provider that names no time', {}, 0, 0, 0],
    ['deferred', 'a provider that names its time', { asked: 90_000 }, 0, 0, 90_000],
    ['paused', 'the first', {}, 1_000, 0, 0],
    ['paused', 'the third in a row', { inARow: 3 }, 4_000, 0, 0],
    ['paused', 'the twentieth in a row', { inARow: 20 }, 30_000, 0, 0],
    ['paused', 'one beside others', { inARow: 3, pausedFor: 700 }, 700, 0, 0],
    ['paused', 'a provider that asks for longer', { asked: 60_000 }, 60_000, 0, 0],
    ['throttled', 'the first two', { pausedFor: 2_000 }, 0, 0, 0],
    ['throttled often', 'the third', { pausedFor: 2_000 }, 0, 0, 4_000],
    ['throttled often', 'a short pause', { pausedFor: 50 }, 0, 0, 1_050],
    ['throttled often', 'a long pause', { pausedFor: 60_000 }, 0, 0, 90_000],
    ['failed together', 'a message that backs off', { backsOffFor: 300 }, 0, 0, 300],
    ['failed', 'the first', {}, 0, 1_000, 0],
    ['failed', 'the second', { failures: 2, inARow: 2 }, 0, 2_000, 0],
    [
      'failed',
      'one that the provider may be asked after',
      { failures: 9, canBeAsked: true },
      0,
      15_000,
      0,
    ],
    ['failed', 'a provider that asks for a time', { asked: 7_000 }, 0, 7_000, 0],
    ['failed often', 'the only message', { failures: 3, inARow: 3 }, 0, 0, 4_000],
    ['failed often', 'several messages', { failures: 3, inARow: 4, failing: 2 }, 0, 8_000, 4_000],
    ['failed often', 'an outage', { failures: 12, inARow: 40, failing: 20 }, 0, 30_000, 600_000],
    ['doubted', 'one submission', {}, 0, 0, 1_000],
    ['doubted', 'a few submissions', { base: 10_000, failing: 10 }, 0, 1_000, 10_000],
    ['doubted', 'one that can be asked after', { failures: 9, canBeAsked: true }, 0, 0, 15_000],
    ['doubted', 'an outage', { failing: 13, failures: 6, canBeAsked: true }, 0, 4_000, 32_000],
    [
      'doubted',
      'a resend in an outage',
      { failing: 13, failures: 6, isResend: true },
      0,
      0,
      32_000,
    ],
    ['paused in doubt', 'one submission', {}, 0, 0, 1_000],
    ['paused in doubt', 'a few submissions', { failing: 2 }, 0, 1_000, 1_000],
  ];

  it.each(rows)('%s, %s', (situation, _of, facts, pause, backoff, message) => {
    expect(waitAfter(situation, { ...FACTS, ...facts })).toMatchObject({ pause, backoff, message });
  });

  it.each([
    ['rejected', 'never', 'all'],
    ['deferred', 'never', 'all'],
    ['paused', 'never', 'of other providers'],
    ['throttled', 'never', 'of other providers'],
    ['throttled often', 'never', 'probe'],
    ['failed together', 'never', 'of other providers'],
    ['failed', 'with evidence', 'of other providers'],
    ['failed often', 'with evidence', 'probe'],
    ['doubted', 'with evidence', 'probe'],
    ['paused in doubt', 'never', 'probe'],
  ] as const)('%s counts %s, and these messages go on: %s', (situation, counted, goingOn) => {
    expect(waitAfter(situation, FACTS)).toMatchObject({ counted, goingOn });
  });
});

describe('the situation of a failure', () => {
  const LANE = { concurrency: 10, honoursKeys: true, isResend: false, pausedFor: 0 };
  const UNCERTAIN = { kind: 'retryable', uncertain: true } as const;
  const THROTTLED = { kind: 'paused', uncertain: false, code: 'throttled' } as const;
  type Given = Partial<FailedRequest['failure']> & Partial<Omit<FailedRequest, 'failure'>>;

  it.each<readonly [Situation, Given]>([
    ['rejected', { kind: 'permanent', pausedFor: 100 }],
    ['deferred', { kind: 'deferred', retryAfter: 100, pausedFor: 100 }],
    ['paused', { kind: 'paused' }],
    ['paused', { kind: 'paused', pausedFor: 100 }],
    ['paused', { kind: 'paused', uncertain: true, retryAfter: 100 }],
    ['paused', { kind: 'paused', uncertain: true, honoursKeys: false }],
    ['paused', { ...THROTTLED, concurrency: 1 }],
    ['throttled', THROTTLED],
    ['throttled', { ...THROTTLED, uncertain: true }],
    ['failed', {}],
    ['failed', { code: 'throttled' }],
    ['failed', { ...UNCERTAIN, concurrency: 1 }],
    ['failed', { ...UNCERTAIN, honoursKeys: false }],
    ['failed', { ...UNCERTAIN, retryAfter: 100 }],
    ['failed together', { pausedFor: 100 }],
    ['failed together', { ...UNCERTAIN, pausedFor: 100 }],
    ['doubted', UNCERTAIN],
    ['doubted', { kind: 'lost', uncertain: true }],
    ['doubted', { ...UNCERTAIN, isResend: true, pausedFor: 100 }],
    ['paused in doubt', { kind: 'paused', uncertain: true }],
  ])('%s: %j', (situation, given) => {
    const { kind = 'retryable', uncertain = false, code = 'x', retryAfter, ...lane } = given;
    const failure = { kind, uncertain, code, ...(retryAfter !== undefined && { retryAfter }) };
    expect(situationOf({ failure, ...LANE, ...lane })).toBe(situation);
  });

  it.each<readonly [Situation, Situation, number, number]>([
    ['failed', 'failed', 2, 9],
    ['failed', 'failed often', 3, 0],
    ['throttled', 'throttled', 9, 2],
    ['throttled', 'throttled often', 0, 3],
    ['doubted', 'doubted', 9, 9],
    ['paused', 'paused', 9, 9],
  ])(
    '%s becomes %s after %i failures and %i refusals for the rate',
    (given, is, failures, throttles) => {
      expect(escalated(given, { failures, throttles }, 3)).toBe(is);
    },
  );
});

it.each([
  [5_000, 1, 0],
  [5_000, 2, 5_000],
  [90_000, 9, 30_000],
  [-1, 2, 0],
])(
  'with %i ms left, a batch with %i failing messages backs off for %i ms',
  (left, messages, is) => {
    expect(batchBackoff(left, messages)).toBe(is);
  },
);

it.each([
  ['the first pause is that of the lane', { trips: 1 }, 50],
  ['a failed probe doubles it', { trips: 3 }, 4_000],
  ['a lane that reckons with more decides', { trips: 2, ofLane: 9_000 }, 9_000],
  ['failures beside the first one change nothing', { trips: 3, isPaused: true }, 50],
  ['no pause is longer than 30 s', { trips: 20 }, 30_000],
  ['the provider may ask for a longer one', { trips: 20, asked: 60_000 }, 60_000],
])('pause of a provider for all lanes: %s', (_rule, facts, is) => {
  const given = { base: 1_000, asked: undefined, ofLane: 50, isPaused: false, ...facts };
  expect(providerPause(given)).toBe(is);
});

it.each([
  ['a provider that accepts takes the message', {}, 0],
  ['a batch that backs off is looked at in a second or later', { batch: 20 }, 1_000],
  ['the batch comes first', { batch: 3_000, provider: 9_000, before: 9_000 }, 3_000],
  ['a pause ends in a second or later', { provider: 20 }, 1_000],
  ['the deferral ends with that of the messages before', { provider: 20, before: 40 }, 40],
  ['a longer pause decides', { provider: 3_000, before: 40 }, 3_000],
  ['a provider that is probed gets one message', { hasProbe: () => true }, 1_000],
])('deferral of a planned message: %s', (_rule, facts, is) => {
  expect(
    plannedDeferral({ batch: 0, provider: 0, before: 0, hasProbe: () => false, ...facts }),
  ).toBe(is);
});

describe('the course of the messages of a failed submission', () => {
  const GIVEN: CourseFacts = {
    situation: 'failed',
    others: undefined,
    mayHaveIt: false,
    isRepeatable: true,
    canBeAsked: false,
    isExpired: false,
    counts: 1,
    countedFailures: 1,
    maxAttempts: 3,
  };
  const ROUND = { next: false, over: false };
  const OVER = { next: false, over: true };
  const NEXT = { next: true, over: false };
  const LAST = { countedFailures: 3 };

  it.each<readonly [ReturnType<typeof courseOf>, Partial<CourseFacts>]>([
    ['rejected', { situation: 'rejected' }],
    ['rejected', { situation: 'rejected', others: OVER }],
    ['to the next provider', { situation: 'rejected', others: NEXT }],
    ['to the next provider', { situation: 'rejected', others: ROUND }],
    ['expired', { situation: 'deferred', isExpired: true, mayHaveIt: true }],
    ['queued', { situation: 'deferred', ...LAST }],
    ['sent again', { situation: 'deferred', mayHaveIt: true }],
    ['to the next provider', { others: NEXT, ...LAST }],
    ['queued', {}],
    ['queued', { counts: 0, ...LAST }],
    ['queued', { others: ROUND }],
    ['failed', LAST],
    ['failed', { counts: 0, others: ROUND, ...LAST }],
    ['sent again', { mayHaveIt: true }],
    ['sent again', { mayHaveIt: true, canBeAsked: true, ...LAST }],
    ['unknown', { mayHaveIt: true, ...LAST }],
    ['unknown', { mayHaveIt: true, isRepeatable: false, canBeAsked: true }],
  ])('%s: %j', (course, given) => {
    expect(courseOf({ ...GIVEN, ...given })).toBe(course);
  });
});
