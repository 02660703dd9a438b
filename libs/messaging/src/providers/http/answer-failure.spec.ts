import { describe, expect, it } from '@jest/globals';
import { PausedFailure, PermanentFailure, UncertainFailure } from '../../message/errors.js';
import { answerFailure } from './http.transport.js';

const failureOf = (status: number, code?: string) =>
  answerFailure({ status, body: { error: { code } }, retryAfter: undefined }, 0, 'apiToken');

describe('answerFailure', () => {
  it('a refused credential lists the documented causes', () => {
    const failure = failureOf(401, 'unauthorized');
    expect(failure).toBeInstanceOf(PausedFailure);
    for (const cause of ['Bearer', 'white space', 'newline', 'rotated', 'apiToken'])
      expect(failure.message).toContain(cause);
    expect(failureOf(403, 'account_disabled').message).toContain('suspended');
    expect(failureOf(403, 'insufficient_scope').message).toContain('scope');
  });

  it('an invalid error.code is dropped', () => {
    for (const code of ['2348012345678', 'to 234', 'x'.repeat(65), '', 'a\nb']) {
      const failure = failureOf(422, code);
      expect(failure.code).toBe('http_422');
      expect(failure.message).toBe('The service refused the request (422)');
    }
  });

  it('unknown statuses are uncertain, 4xx permanent and a wrong address a pause', () => {
    for (const status of [100, 199, 500, 504, 511, 599, 600, 999])
      expect(failureOf(status)).toBeInstanceOf(UncertainFailure);
    for (const status of [402, 410, 415, 418, 451, 499])
      expect(failureOf(status)).toBeInstanceOf(PermanentFailure);
    for (const status of [300, 301, 302, 304, 308, 404, 405])
      expect(failureOf(status)).toBeInstanceOf(PausedFailure);
  });
});
