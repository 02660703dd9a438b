import { expect, it } from '@jest/globals';
import { PausedFailure, RetryableFailure, UncertainFailure } from '../message/errors.js';
import { failureOf } from './submit-result.js';

const FAILURES = [PausedFailure, RetryableFailure, UncertainFailure];

it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])(
  'a retryAfter of %s ms is ignored and the backoff decides the wait',
  (retryAfter) => {
    for (const Failure of FAILURES)
      expect(failureOf(new Failure('throttled', 'x', retryAfter))).not.toHaveProperty('retryAfter');
  },
);

it('a positive retryAfter is kept', () => {
  for (const Failure of FAILURES)
    expect(failureOf(new Failure('throttled', 'x', 1_500))).toMatchObject({ retryAfter: 1_500 });
});
