import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import {
  PausedFailure,
  PausedUncertainFailure,
  PermanentFailure,
  RetryableFailure,
  SubmitFailure,
  UncertainFailure,
} from '../message/errors.js';
import { InFlight } from './in-flight.js';
import { failureOf } from './submit-answers.js';

const TIMEOUT = 10_000;
const GRACE = 5_000;

let givenUp: string[];
let requests: InFlight<string>;
beforeEach(() => {
  jest.useFakeTimers();
  givenUp = [];
  requests = new InFlight<string>(TIMEOUT, (item) => {
    if (requests.end(item)) givenUp.push(item);
  });
});
afterEach(() => {
  jest.useRealTimers();
});

it('each request is aborted within its time limit, and not before 99 hundredths of it', () => {
  const started = new Map<string, { signal: AbortSignal; at: number }>();
  const told = new Map<string, number>();
  for (let n = 0; n < 50; n++) {
    const at = performance.now();
    const signal = requests.begin(`r${n}`);
    started.set(`r${n}`, { signal, at });
    signal.addEventListener('abort', () => told.set(`r${n}`, performance.now() - at));
    jest.advanceTimersByTime(37);
  }
  jest.advanceTimersByTime(TIMEOUT);
  expect(told.size).toBe(50);
  for (const took of told.values()) {
    expect(took).toBeGreaterThanOrEqual(TIMEOUT * 0.99);
    expect(took).toBeLessThanOrEqual(TIMEOUT);
  }
  // 1,850 ms in waves of 100.
  expect(new Set([...started.values()].map(({ signal }) => signal)).size).toBeLessThan(20);
});

it('lanes share an abort signal, and each lane gives up only its own requests', () => {
  const waves = new Map();
  const gaveUp: string[] = [];
  const lanes = ['one', 'other'].map(
    (lane) => new InFlight<string>(TIMEOUT, (item) => gaveUp.push(`${lane}: ${item}`), waves),
  );
  const signals = lanes.map((lane, n) => lane.begin(`deaf ${n}`));
  expect(signals[0]).toBe(signals[1]);
  expect(lanes.map(({ size }) => size)).toEqual([1, 1]);
  jest.advanceTimersByTime(TIMEOUT + GRACE);
  expect(gaveUp).toEqual(['one: deaf 0', 'other: deaf 1']);
});

it('requests that ignore the signal are given up once, after the grace period, and no other request is', () => {
  requests.begin('deaf');
  requests.begin('gone');
  requests.begin('deaf too');
  expect(requests.end('gone')).toBe(true);
  jest.advanceTimersByTime(TIMEOUT);
  requests.begin('later');
  jest.advanceTimersByTime(GRACE);
  expect(givenUp).toEqual(['deaf', 'deaf too']);
  expect(requests.end('deaf')).toBe(false);
  expect(requests.size).toBe(1);
});

it('abort() aborts all requests in flight and none that starts later', () => {
  const first = requests.begin('first');
  jest.advanceTimersByTime(TIMEOUT / 2);
  const second = requests.begin('second');
  requests.abort();
  const third = requests.begin('third');
  expect([first, second, third].map(({ aborted }) => aborted)).toEqual([true, true, false]);
  jest.advanceTimersByTime(TIMEOUT);
  expect(third.aborted).toBe(true);
});

it('a request that starts while older ones are overdue has its full time', () => {
  requests.begin('slow');
  jest.advanceTimersByTime(TIMEOUT - 1);
  const late = requests.begin('late');
  jest.advanceTimersByTime(TIMEOUT * 0.98);
  expect(late.aborted).toBe(false);
  jest.advanceTimersByTime(TIMEOUT * 0.02);
  expect(late.aborted).toBe(true);
});

it('a request with a time limit of its own is aborted at that limit, and other requests at theirs', () => {
  const long = requests.begin('long', 6 * TIMEOUT);
  const short = requests.begin('short');
  jest.advanceTimersByTime(TIMEOUT);
  expect([long, short].map(({ aborted }) => aborted)).toEqual([false, true]);
  jest.advanceTimersByTime(5 * TIMEOUT);
  expect(long.aborted).toBe(true);
});

it('no timer runs while no request is in flight', () => {
  requests.begin('a');
  requests.begin('b');
  requests.end('a');
  requests.end('b');
  expect(jest.getTimerCount()).toBe(0);
});

const SENT = { content: { kind: 'text', text: 'x' } } as const;

class OwnFailure extends SubmitFailure {}

it('only errors that prove a refusal set messages back to queued; every other error is uncertain', () => {
  const uncertain = [PausedUncertainFailure, UncertainFailure, OwnFailure];
  for (const Failure of [PermanentFailure, PausedFailure, RetryableFailure])
    expect(failureOf(new Failure('x', 'x'), SENT).uncertain).toBe(false);
  for (const error of [...uncertain.map((Failure) => new Failure('x', 'x')), new Error('x'), 'x'])
    expect(failureOf(error, SENT).uncertain).toBe(true);
});

const FAILURES = [PausedFailure, PausedUncertainFailure, RetryableFailure, UncertainFailure];

it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])(
  'a retryAfter of %s ms is ignored and the backoff decides the wait',
  (retryAfter) => {
    for (const Failure of FAILURES)
      expect(failureOf(new Failure('throttled', 'x', retryAfter), SENT)).not.toHaveProperty(
        'retryAfter',
      );
  },
);

it('a positive retryAfter is kept', () => {
  for (const Failure of FAILURES)
    expect(failureOf(new Failure('throttled', 'x', 1_500), SENT)).toMatchObject({
      retryAfter: 1_500,
    });
});
