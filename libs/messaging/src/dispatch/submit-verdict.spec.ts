import { expect, it } from '@jest/globals';
import { PausedFailure, RetryableFailure, UncertainFailure } from '../message/failures.js';
import { verdictOf } from './submit-verdict.js';

const FAILURES = [PausedFailure, RetryableFailure, UncertainFailure];

it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])(
  'a provider that wants the next try after %s ms is not hammered: our own backoff counts',
  (retryAfter) => {
    for (const Failure of FAILURES)
      expect(verdictOf(new Failure('throttled', 'x', retryAfter))).not.toHaveProperty('retryAfter');
  },
);

it('any other wish is granted', () => {
  for (const Failure of FAILURES)
    expect(verdictOf(new Failure('throttled', 'x', 1_500))).toMatchObject({ retryAfter: 1_500 });
});
