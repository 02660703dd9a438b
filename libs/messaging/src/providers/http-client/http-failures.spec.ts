import { describe, expect, it } from '@jest/globals';
import { PausedFailure, UncertainFailure } from '../../message/errors.js';
import { networkFailure, retryAfterMilliseconds } from './http-failures.js';

const { signal } = new AbortController();
const failureOf = (code: string | undefined, reach: 'sent' | 'unsent' | 'unknown') =>
  networkFailure(code, reach, signal);

describe('networkFailure', () => {
  const never = [
    'ECONNREFUSED',
    'ENOTFOUND',
    'EAI_AGAIN',
    'UND_ERR_CONNECT_TIMEOUT',
    'CERT_HAS_EXPIRED',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'ERR_TLS_CERT_ALTNAME_INVALID',
  ];
  const late = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT'];

  it("the client's own knowledge overrides the error code", () => {
    for (const code of [...never, ...late]) {
      expect(failureOf(code, 'unsent')).toMatchObject({ code: 'unreachable' });
      expect(failureOf(code, 'sent')).toBeInstanceOf(UncertainFailure);
    }
  });

  it('only error codes from before the send count as unsent', () => {
    for (const code of never) expect(failureOf(code, 'unknown')).toBeInstanceOf(PausedFailure);
    for (const code of [...late, undefined])
      expect(failureOf(code, 'unknown')).toBeInstanceOf(UncertainFailure);
  });

  it('a TLS failure is named as such', () => {
    const failure = failureOf('CERT_HAS_EXPIRED', 'unsent');
    expect(failure.message).toContain('certificate');
    expect(failure.message).toContain('CERT_HAS_EXPIRED');
  });

  it('an invalid error code is not repeated', () => {
    const failure = failureOf('Bearer tok_1', 'sent');
    expect(failure.message).not.toContain('tok_1');
  });
});

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
    ['99999999999999999999', 3_600_000],
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

  it('a wait is cut at the longest one that the caller allows', () => {
    expect(retryAfterMilliseconds('7200', NOW, 86_400_000)).toBe(7_200_000);
    for (const long of ['999999999', '9999999999', '9'.repeat(400)])
      expect(retryAfterMilliseconds(long, NOW, 86_400_000)).toBe(86_400_000);
  });
});
