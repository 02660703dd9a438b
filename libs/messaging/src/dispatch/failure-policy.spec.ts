import { expect, it } from '@jest/globals';
import { FailurePolicy } from './failure-policy.js';

const NO_EVIDENCE = { servedAt: -Infinity, overdue: false };
const OVERDUE = { servedAt: -Infinity, overdue: true };

/** A policy whose `batches` failed three times each, from `now` on. */
function failed(now: number, ...batches: string[]): FailurePolicy {
  const failures = new FailurePolicy(1);
  for (const batch of batches)
    for (let strike = 0; strike < 3; strike++) failures.failed(batch, now);
  return failures;
}

it('a batch that fails alone costs no attempts: it cannot be told from an outage', () => {
  const failures = failed(1_000, 'a');
  failures.alone();
  expect(failures.costsAttempt('a', NO_EVIDENCE)).toBe(false);
});

it('a request of another lane that is served after the first failure shows that the batch is at fault', () => {
  const failures = failed(1_000, 'a');
  failures.alone();
  expect(failures.costsAttempt('a', { servedAt: 999, overdue: false })).toBe(false);
  expect(failures.costsAttempt('a', { servedAt: 1_001, overdue: false })).toBe(true);
});

it('an overdue batch costs attempts, but not while other batches fail, too', () => {
  const failures = failed(1_000, 'a');
  expect(failures.costsAttempt('a', OVERDUE)).toBe(false);
  failures.alone();
  expect(failures.costsAttempt('a', OVERDUE)).toBe(true);
  const both = failed(1_000, 'a', 'b');
  both.alone();
  expect(both.costsAttempt('a', OVERDUE)).toBe(false);
});

it('a batch that passes proves all failing batches at fault, and is forgotten itself', () => {
  const failures = failed(1_000, 'a', 'b');
  failures.passed('b');
  expect(failures.costsAttempt('a', NO_EVIDENCE)).toBe(true);
  expect(failures.costsAttempt('b', NO_EVIDENCE)).toBe(false);
  expect(failures.probing).toBe(false);
});

it('a batch with three failures is not the probe until another batch passes, and the lane rests 30 s at most', () => {
  const batches = Array.from({ length: 20 }, (_, n) => `batch ${n}`);
  const failures = failed(1_000, ...batches);
  failures.failed('next', 1_000);
  expect(batches.every((batch) => failures.isAside(batch))).toBe(true);
  expect(failures.isAside('next')).toBe(false);
  for (const batch of batches)
    expect(failures.failed(batch, 1_000).rest).toBeLessThanOrEqual(30_000);
  failures.passed('next');
  expect(batches.some((batch) => failures.isAside(batch))).toBe(false);
});

it('one uncertain submission costs the lane no rest, but failures of two batches do', () => {
  const failures = new FailurePolicy(1_000);
  const first = failures.failed('a', 0, { apart: true });
  expect(first.rest).toBe(0);
  expect(first.aside).toBeGreaterThan(0);
  expect(failures.failed('b', 0, { apart: true }).rest).toBeGreaterThan(0);
  failures.passed('b');
  // The batch is at fault and not the provider, so the others go on.
  expect(failures.failed('a', 0, { apart: true }).rest).toBe(0);
});

it('a batch whose new messages fail, too, costs the lane a rest', () => {
  const failures = new FailurePolicy(1_000);
  failures.failed('a', 0, { apart: true });
  expect(failures.failed('a', 0, { apart: true }).rest).toBeGreaterThan(0);
});
