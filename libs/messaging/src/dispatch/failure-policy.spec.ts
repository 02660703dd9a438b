import { expect, it } from '@jest/globals';
import { type FailureContext, FailurePolicy } from './failure-policy.js';

const APART = { apart: true };
const AGAIN = { apart: true, again: true };
const OVERDUE = { overdue: true };

const messageOf = (batch: string, firstPosition = 0) => ({ batch, firstPosition });

/** A policy whose `batches` failed three times each, from `now` on. */
function failed(now: number, ...batches: string[]): FailurePolicy {
  const failures = new FailurePolicy(1);
  for (const batch of batches) for (let n = 0; n < 3; n++) failures.failed(messageOf(batch), now);
  return failures;
}

/** How many failures count with one more of the batch. */
function countsOf(failures: FailurePolicy, batch: string, context?: FailureContext): number {
  return failures.failed(messageOf(batch), 1_000, context).counts;
}

it('failures of the only failing message do not count, as an outage looks the same', () => {
  const failures = failed(1_000, 'a');
  failures.alone();
  expect(countsOf(failures, 'a')).toBe(0);
});

it('a success in another lane after the first failure makes the failures of the message count', () => {
  const failures = new FailurePolicy(1);
  failures.failed(messageOf('a'), 100_000);
  failures.alone();
  const now = 200_000;
  expect(failures.failed(messageOf('a'), now, { servedAt: 99_999 }).counts).toBe(0);
  expect(failures.failed(messageOf('a'), now, { servedAt: 100_001 }).counts).toBeGreaterThan(0);
});

it('with maxAttempts 1 a failure counts at once after a recent success, else at the next success', () => {
  const now = 50_000;
  const known = new FailurePolicy(1, 1);
  expect(known.failed(messageOf('a'), now, { servedAt: now - 1_000 }).counts).toBe(1);
  const shownLater = new FailurePolicy(1, 1);
  expect(shownLater.failed(messageOf('a'), now).counts).toBe(0);
  shownLater.passed(messageOf('b'));
  expect(shownLater.failed(messageOf('a'), now).counts).toBe(2);
});

it('the failures of the only failing message count while the provider has just served others', () => {
  const failures = new FailurePolicy(1, 3);
  const now = 50_000;
  const fail = (batch: string, servedAt: number) =>
    failures.failed(messageOf(batch), now, { servedAt }).counts;
  expect(fail('a', now - 100)).toBe(1);
  expect(fail('a', now - 9_000)).toBe(1);
  expect(fail('a', now - 11_000)).toBe(0);
  expect(fail('b', now - 100)).toBe(0);
});

it('a message that is throttled three times waits longer than the provider rests, until it passes', () => {
  const failures = new FailurePolicy(1);
  const throttled = (batch: string) => failures.throttled(messageOf(batch), 1_000, 2_000);
  expect([throttled('a'), throttled('b'), throttled('a'), throttled('a')]).toEqual([
    0, 0, 0, 4_000,
  ]);
  expect(throttled('b')).toBe(0);
  expect(throttled('a')).toBe(4_000);
  failures.passed(messageOf('a'));
  expect(throttled('a')).toBe(0);
});

it('failures of an overdue batch count, but not while other batches fail, too', () => {
  const failures = failed(1_000, 'a');
  expect(countsOf(failures, 'a', OVERDUE)).toBe(0);
  failures.alone();
  expect(countsOf(failures, 'a', OVERDUE)).toBe(1);
  const both = failed(1_000, 'a', 'b');
  both.alone();
  expect(countsOf(both, 'a', OVERDUE)).toBe(0);
  const oneBatch = failed(1_000, 'a');
  oneBatch.failed(messageOf('a', 1), 1_000);
  oneBatch.alone();
  expect(countsOf(oneBatch, 'a', OVERDUE)).toBeGreaterThan(0);
});

it('an accepted message makes the failures of all other messages count, also in its batch, and clears its own', () => {
  const failures = failed(1_000, 'a', 'b');
  failures.passed(messageOf('b'));
  expect(failures.probing).toBe(false);
  expect(countsOf(failures, 'a')).toBeGreaterThan(0);
  const sameBatch = failed(1_000, 'a');
  sameBatch.passed(messageOf('a', 1));
  expect(countsOf(sameBatch, 'a')).toBeGreaterThan(0);
});

it.each([1, 2, 3, 8])(
  'a message that always fails while another one is accepted has exactly %i counted tries',
  (maxAttempts) => {
    const failures = new FailurePolicy(1, maxAttempts);
    let tries = 0;
    let counted = 0;
    const fail = () => {
      tries++;
      counted += failures.failed(messageOf('bad'), 1_000).counts;
    };
    // The next message is tried only once the bad one waits by itself.
    do fail();
    while (!failures.isParked(messageOf('bad')));
    failures.passed(messageOf('good'));
    // Evidence that comes after the only try asks for one more.
    while (counted < maxAttempts) fail();
    expect(tries).toBe(Math.max(2, maxAttempts));
  },
);

it('the tries of an outage do not count once it is over', () => {
  const failures = new FailurePolicy(1, 8);
  for (let n = 0; n < 50; n++) failures.failed(messageOf('a'), 1_000);
  failures.passed(messageOf('b'));
  expect(countsOf(failures, 'a')).toBe(1);
  expect(countsOf(failures, 'a')).toBe(1);
});

it('a message with three failures is parked until another message is accepted, and the lane rests 30 s at most', () => {
  const batches = Array.from({ length: 20 }, (_, n) => `batch ${n}`);
  const failures = failed(1_000, ...batches);
  failures.failed(messageOf('next'), 1_000);
  expect(batches.every((batch) => failures.isParked(messageOf(batch)))).toBe(true);
  expect(failures.isParked(messageOf('next'))).toBe(false);
  for (const batch of batches)
    expect(failures.failed(messageOf(batch), 1_000).rest).toBeLessThanOrEqual(30_000);
  failures.passed(messageOf('next'));
  expect(batches.some((batch) => failures.isParked(messageOf(batch)))).toBe(false);
});

it('one uncertain submission costs the lane no rest, and a few cost a second at most', () => {
  const failures = new FailurePolicy(10_000);
  const first = failures.failed(messageOf('a'), 0, APART);
  expect(first.rest).toBe(0);
  expect(first.parkFor).toBeGreaterThan(0);
  for (let n = 1; n < 10; n++) {
    const { rest } = failures.failed(messageOf('a', n), 0, APART);
    expect(rest).toBeGreaterThan(0);
    expect(rest).toBeLessThanOrEqual(1_000);
  }
  expect(failures.outage).toBe(false);
  // A resend that is uncertain again tells nothing new of the provider.
  expect(failures.failed(messageOf('a'), 0, AGAIN).rest).toBe(0);
  failures.passed(messageOf('b'));
  expect(failures.failed(messageOf('a'), 0, AGAIN).rest).toBe(0);
  expect(failures.probing).toBe(false);
});

it('more than ten uncertain submissions without a success are an outage with growing rests', () => {
  const failures = new FailurePolicy(10_000);
  let longest = 0;
  for (let n = 0; n < 30; n++)
    longest = Math.max(longest, failures.failed(messageOf('a', n), 0, APART).rest);
  expect(failures.outage).toBe(true);
  expect(longest).toBeGreaterThan(1_000);
  expect(longest).toBeLessThanOrEqual(30_000);
});

it('a failure counts where the provider does not know the uncertain submission, except in an outage', () => {
  const failures = new FailurePolicy(1_000);
  failures.failed(messageOf('a'), 0, APART);
  expect(failures.denied(messageOf('a'))).toBe(1);
  expect(failures.denied(messageOf('a'))).toBe(0);
  for (let n = 1; n <= 11; n++) failures.failed(messageOf('a', n), 0, APART);
  expect(failures.denied(messageOf('a', 1))).toBe(0);
});

it('a submission that the provider can be polled for waits 15 s at most, except in an outage', () => {
  const failures = new FailurePolicy(100_000);
  const asked = { ...APART, asked: true };
  const fail = (n: number) => failures.failed(messageOf('a', n), 0, asked).parkFor;
  expect(fail(0)).toBeLessThanOrEqual(15_000);
  expect(failures.parkedFor(messageOf('a'), 5_000)).toBeLessThanOrEqual(10_000);
  for (let n = 1; n <= 11; n++) fail(n);
  for (let n = 0; n < 10; n++) fail(12);
  expect(failures.parkedFor(messageOf('a', 12), 0)).toBeGreaterThan(15_000);
});
