import { expect, it } from '@jest/globals';
import { type FailureContext, FailureHistory } from './failure-history.js';

const AGAIN = { isResend: true };
const OVERDUE = { overdue: true };

const messageOf = (batch: string, firstPosition = 0) => ({ batch, firstPosition });

/** A history in which `batches` failed three times each, from `now` on. */
function failed(now: number, ...batches: string[]): FailureHistory {
  const failures = new FailureHistory(1);
  for (const batch of batches)
    for (let n = 0; n < 3; n++) failures.failed(messageOf(batch), now, 'failed');
  return failures;
}

/** How many failures count with one more of the batch. */
function countsOf(failures: FailureHistory, batch: string, context?: FailureContext): number {
  return failures.failed(messageOf(batch), 1_000, 'failed', context).counts;
}

it('failures of the only failing message do not count, as an outage looks the same', () => {
  const failures = failed(1_000, 'a');
  failures.alone();
  expect(countsOf(failures, 'a')).toBe(0);
});

it('a success in another lane after the first failure makes the failures of the message count', () => {
  const failures = new FailureHistory(1);
  failures.failed(messageOf('a'), 100_000, 'failed');
  failures.alone();
  const now = 200_000;
  expect(failures.failed(messageOf('a'), now, 'failed', { servedAt: 99_999 }).counts).toBe(0);
  expect(
    failures.failed(messageOf('a'), now, 'failed', { servedAt: 100_001 }).counts,
  ).toBeGreaterThan(0);
});

it('with maxAttempts 1 a failure counts at once after a recent success, else at the next success', () => {
  const now = 50_000;
  const known = new FailureHistory(1, 1);
  expect(known.failed(messageOf('a'), now, 'failed', { servedAt: now - 1_000 }).counts).toBe(1);
  const shownLater = new FailureHistory(1, 1);
  expect(shownLater.failed(messageOf('a'), now, 'failed').counts).toBe(0);
  shownLater.passed(messageOf('b'));
  expect(shownLater.failed(messageOf('a'), now, 'failed').counts).toBe(2);
});

it('the failures of the only failing message count while the provider has just served others', () => {
  const failures = new FailureHistory(1, 3);
  const now = 50_000;
  const fail = (batch: string, servedAt: number) =>
    failures.failed(messageOf(batch), now, 'failed', { servedAt }).counts;
  expect(fail('a', now - 100)).toBe(1);
  expect(fail('a', now - 9_000)).toBe(1);
  expect(fail('a', now - 11_000)).toBe(0);
  expect(fail('b', now - 100)).toBe(0);
});

it('a message that is throttled three times waits longer than the provider pauses, until it passes', () => {
  const failures = new FailureHistory(1);
  const throttled = (batch: string) =>
    failures.failed(messageOf(batch), 1_000, 'throttled', { pausedFor: 2_000 }).message;
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
  oneBatch.failed(messageOf('a', 1), 1_000, 'failed');
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
    const failures = new FailureHistory(1, maxAttempts);
    let tries = 0;
    let counted = 0;
    const fail = () => {
      tries++;
      counted += failures.failed(messageOf('bad'), 1_000, 'failed').counts;
    };
    // The next message is tried only once the bad one steps aside.
    do fail();
    while (!failures.stepsAside(messageOf('bad')));
    failures.passed(messageOf('good'));
    // Evidence that comes after the only try asks for one more.
    while (counted < maxAttempts) fail();
    expect(tries).toBe(Math.max(2, maxAttempts));
  },
);

it('the tries of an outage do not count once it is over', () => {
  const failures = new FailureHistory(1, 8);
  for (let n = 0; n < 50; n++) failures.failed(messageOf('a'), 1_000, 'failed');
  failures.passed(messageOf('b'));
  expect(countsOf(failures, 'a')).toBe(1);
  expect(countsOf(failures, 'a')).toBe(1);
});

it('a message with three failures steps aside until another message is accepted, and the lane backs off for 30 s at most', () => {
  const batches = Array.from({ length: 20 }, (_, n) => `batch ${n}`);
  const failures = failed(1_000, ...batches);
  failures.failed(messageOf('next'), 1_000, 'failed');
  expect(batches.every((batch) => failures.stepsAside(messageOf(batch)))).toBe(true);
  expect(failures.stepsAside(messageOf('next'))).toBe(false);
  for (const batch of batches)
    expect(failures.failed(messageOf(batch), 1_000, 'failed').backoff).toBeLessThanOrEqual(30_000);
  failures.passed(messageOf('next'));
  expect(batches.some((batch) => failures.stepsAside(messageOf(batch)))).toBe(false);
});

it('one uncertain submission costs the lane no backoff, and a few cost a second at most', () => {
  const failures = new FailureHistory(10_000);
  const first = failures.failed(messageOf('a'), 0, 'doubted');
  expect(first.backoff).toBe(0);
  expect(first.message).toBeGreaterThan(0);
  for (let n = 1; n < 10; n++) {
    const { backoff } = failures.failed(messageOf('a', n), 0, 'doubted');
    expect(backoff).toBeGreaterThan(0);
    expect(backoff).toBeLessThanOrEqual(1_000);
  }
  expect(failures.outage).toBe(false);
  // A resend that is uncertain again tells nothing new of the provider.
  expect(failures.failed(messageOf('a'), 0, 'doubted', AGAIN).backoff).toBe(0);
  failures.passed(messageOf('b'));
  expect(failures.failed(messageOf('a'), 0, 'doubted', AGAIN).backoff).toBe(0);
  expect(failures.probing).toBe(false);
});

it('more than ten uncertain submissions without a success are an outage with growing backoffs', () => {
  const failures = new FailureHistory(10_000);
  let longest = 0;
  for (let n = 0; n < 30; n++)
    longest = Math.max(longest, failures.failed(messageOf('a', n), 0, 'doubted').backoff);
  expect(failures.outage).toBe(true);
  expect(longest).toBeGreaterThan(1_000);
  expect(longest).toBeLessThanOrEqual(30_000);
});

it('a failure counts where the provider does not know the uncertain submission, except in an outage', () => {
  const failures = new FailureHistory(1_000);
  failures.failed(messageOf('a'), 0, 'doubted');
  expect(failures.denied(messageOf('a'))).toBe(1);
  expect(failures.denied(messageOf('a'))).toBe(0);
  for (let n = 1; n <= 11; n++) failures.failed(messageOf('a', n), 0, 'doubted');
  expect(failures.denied(messageOf('a', 1))).toBe(0);
});

it('a submission that the provider can be polled for waits 15 s at most, except in an outage', () => {
  const failures = new FailureHistory(100_000);
  const fail = (n: number) =>
    failures.failed(messageOf('a', n), 0, 'doubted', { canBeAsked: true }).message;
  expect(fail(0)).toBeLessThanOrEqual(15_000);
  expect(failures.backsOffFor(messageOf('a'), 5_000)).toBeLessThanOrEqual(10_000);
  for (let n = 1; n <= 11; n++) fail(n);
  for (let n = 0; n < 10; n++) fail(12);
  expect(failures.backsOffFor(messageOf('a', 12), 0)).toBeGreaterThan(15_000);
});
