import { describe, expect, it } from '@jest/globals';
import {
  PausedFailure,
  PausedUncertainFailure,
  PermanentFailure,
  RetryableFailure,
  UncertainFailure,
} from '../../message/errors.js';
import { answerFailure } from './http.transport.js';

const WINDOW = 72_000_000;

const answered = (status: number, body: unknown, idempotencyWindow = WINDOW) =>
  answerFailure({ status, body, retryAfter: undefined }, 0, 'apiToken', { idempotencyWindow });
const failureOf = (status: number, code = 'some_code', idempotencyWindow = WINDOW) =>
  answered(status, { error: { type: 'x', code } }, idempotencyWindow);

describe('answerFailure', () => {
  it('a refused credential lists the documented causes', () => {
    const failure = failureOf(401, 'unauthorized');
    expect(failure).toBeInstanceOf(PausedFailure);
    for (const cause of ['Bearer', 'white space', 'newline', 'rotated', 'apiToken'])
      expect(failure.message).toContain(cause);
    expect(failureOf(403, 'account_disabled').message).toContain('suspended');
    expect(failureOf(403, 'insufficient_scope').message).toContain('scope');
  });

  it.each([
    ['a proxy', undefined],
    ['a proxy, as JSON', { message: 'Bad Gateway' }],
    ['a proxy, as a JSON text', { error: 'bad_gateway' }],
    ['a proxy, as JSON with its status as the code', { error: { code: 502 } }],
    ['a number in the place of the code', { error: { code: '2348012345678' } }],
    ['a sentence in the place of the code', { error: { code: 'to 234' } }],
    ['an overlong code', { error: { code: 'x'.repeat(65) } }],
    ['a code of two lines', { error: { code: 'a\nb' } }],
  ])('no answer without the error body of the interface is proof of a refusal: %s', (_, body) => {
    for (const keys of [WINDOW, 0])
      for (let status = 300; status < 600; status++) {
        const failure = answered(status, body, keys);
        expect(failure).toBeInstanceOf(UncertainFailure);
        expect(failure.message + failure.code).not.toMatch(/234|xx|Bad/);
      }
  });

  it('answers that a wrong address or a proxy gives to every request pause the lane', () => {
    for (const status of [301, 302, 307, 308, 401, 403, 404, 405, 407, 429])
      expect(answered(status, undefined)).toBeInstanceOf(PausedUncertainFailure);
    for (const status of [400, 408, 409, 413, 422, 500, 502, 503, 504])
      expect(answered(status, undefined)).not.toBeInstanceOf(PausedUncertainFailure);
  });

  it('unknown statuses are uncertain, and 4xx with the error body permanent', () => {
    for (const status of [100, 199, 500, 504, 511, 599, 600, 999])
      expect(failureOf(status)).toBeInstanceOf(UncertainFailure);
    for (const status of [402, 404, 405, 410, 415, 418, 451, 499])
      expect(failureOf(status)).toBeInstanceOf(PermanentFailure);
  });

  it('"later" in the error body keeps the submission under its key, and is proof only without keys', () => {
    expect(failureOf(429)).toBeInstanceOf(PausedUncertainFailure);
    expect(failureOf(429, 'rate_limited', 0)).toBeInstanceOf(PausedFailure);
    expect(failureOf(503)).toBeInstanceOf(UncertainFailure);
    expect(failureOf(503, 'unavailable', 0)).toBeInstanceOf(RetryableFailure);
    expect(failureOf(500, 'internal_error', 0)).toBeInstanceOf(UncertainFailure);
  });
});
