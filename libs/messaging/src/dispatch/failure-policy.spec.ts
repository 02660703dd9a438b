import { expect, it } from '@jest/globals';
import { FailurePolicy } from './failure-policy.js';

const NOBODY = { servedAt: -Infinity, overdue: false };
const OVERDUE = { servedAt: -Infinity, overdue: true };

/** A gate whose `batches` failed three times each, from `now` on. */
function failed(now: number, ...batches: string[]): FailurePolicy {
  const gate = new FailurePolicy(1);
  for (const batch of batches) for (let strike = 0; strike < 3; strike++) gate.failed(batch, now);
  return gate;
}

it('a batch that fails alone costs no attempts: there is nothing to tell it from an outage', () => {
  const gate = failed(1_000, 'a');
  gate.alone();
  expect(gate.costsAttempt('a', NOBODY)).toBe(false);
});

it('somebody served since its first failure shows that it is the batch; before that says nothing', () => {
  const gate = failed(1_000, 'a');
  gate.alone();
  expect(gate.costsAttempt('a', { servedAt: 999, overdue: false })).toBe(false);
  expect(gate.costsAttempt('a', { servedAt: 1_001, overdue: false })).toBe(true);
});

it('an overdue batch is given up even so, but not while others fail with it', () => {
  const gate = failed(1_000, 'a');
  expect(gate.costsAttempt('a', OVERDUE)).toBe(false);
  gate.alone();
  expect(gate.costsAttempt('a', OVERDUE)).toBe(true);
  const both = failed(1_000, 'a', 'b');
  both.alone();
  expect(both.costsAttempt('a', OVERDUE)).toBe(false);
});

it('another batch that passes proves every one that failed, and a batch that passes is forgotten', () => {
  const gate = failed(1_000, 'a', 'b');
  gate.passed('b');
  expect(gate.costsAttempt('a', NOBODY)).toBe(true);
  expect(gate.costsAttempt('b', NOBODY)).toBe(false);
  expect(gate.probing).toBe(false);
});

it('what failed three times is not the probe until something passes, nor does the lane rest for long', () => {
  const batches = Array.from({ length: 20 }, (_, n) => `batch ${n}`);
  const gate = failed(1_000, ...batches);
  gate.failed('next', 1_000);
  expect(batches.every((batch) => gate.isAside(batch))).toBe(true);
  expect(gate.isAside('next')).toBe(false);
  for (const batch of batches) expect(gate.failed(batch, 1_000).rest).toBeLessThanOrEqual(30_000);
  gate.passed('next');
  expect(batches.some((batch) => gate.isAside(batch))).toBe(false);
});
