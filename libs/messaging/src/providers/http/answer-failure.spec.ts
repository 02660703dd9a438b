import { describe, expect, it } from '@jest/globals';
import { PausedFailure, PermanentFailure, UncertainFailure } from '../../message/errors.js';
import { retryAfterMilliseconds } from '../http-client/http-failures.js';
import { answerFailure } from './answer-failure.js';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);

describe('retryAfterMilliseconds', () => {
  it.each([
    ['0', 0],
    ['30', 30_000],
    [' 30 ', 30_000],
    ['Fri, 02 Jan 2026 03:05:05 GMT', 60_000],
    ['7200', 3_600_000],
    ['Fri, 02 Jan 2027 03:05:05 GMT', 3_600_000],
    ['999999999', 3_600_000],
    ['99999999999999999999', undefined],
    ['-1', undefined],
    ['1.5', undefined],
    ['1e3', undefined],
    ['', undefined],
    ['soon', undefined],
    ['Fri, 02 Jan 2026 03:04:04 GMT', undefined],
    ['Fri, 99 Foo 2026 03:04:04 GMT', undefined],
    ['2026-01-02T03:05:05Z', undefined],
    [undefined, undefined],
  ])('Retry-After %j is %j', (value, expected) => {
    expect(retryAfterMilliseconds(value, NOW)).toBe(expected);
  });

  it('is cut at the longest wait that the caller allows', () => {
    expect(retryAfterMilliseconds('7200', NOW, 86_400_000)).toBe(7_200_000);
    expect(retryAfterMilliseconds('999999999', NOW, 86_400_000)).toBe(86_400_000);
  });
});

describe('answerFailure', () => {
  it('a refused credential lists the documented causes', () => {
    const failure = answerFailure({ status: 401, code: 'unauthorized' }, NOW);
    expect(failure).toBeInstanceOf(PausedFailure);
    for (const cause of ['Bearer', 'white space', 'newline', 'rotated', 'apiToken'])
      expect(failure.message).toContain(cause);
    expect(answerFailure({ status: 403, code: 'account_disabled' }, NOW).message).toContain(
      'suspended',
    );
    expect(answerFailure({ status: 403, code: 'insufficient_scope' }, NOW).message).toContain(
      'scope',
    );
  });

  it('an invalid error.code is dropped', () => {
    for (const code of ['2348012345678', 'to 234', 'x'.repeat(65), '', 'a\nb']) {
      const failure = answerFailure({ status: 422, code }, NOW);
      expect(failure.code).toBe('http_422');
      expect(failure.message).toBe('The service refused the request (422)');
    }
  });

  it('unknown statuses are uncertain, 4xx permanent and a wrong address a pause', () => {
    for (const status of [100, 199, 500, 504, 511, 599, 600, 999])
      expect(answerFailure({ status }, NOW)).toBeInstanceOf(UncertainFailure);
    for (const status of [402, 410, 415, 418, 451, 499])
      expect(answerFailure({ status }, NOW)).toBeInstanceOf(PermanentFailure);
    for (const status of [300, 301, 302, 304, 308, 404, 405])
      expect(answerFailure({ status }, NOW)).toBeInstanceOf(PausedFailure);
  });
});
