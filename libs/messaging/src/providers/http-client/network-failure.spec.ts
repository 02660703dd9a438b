import { describe, expect, it } from '@jest/globals';
import { PausedFailure, UncertainFailure } from '../../message/failures.js';
import { networkFailure } from './network-failure.js';

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
      expect(networkFailure({ code, reach: 'unsent' })).toMatchObject({ code: 'unreachable' });
      expect(networkFailure({ code, reach: 'sent' })).toBeInstanceOf(UncertainFailure);
    }
  });

  it('only error codes from before the send count as unsent', () => {
    for (const code of never)
      expect(networkFailure({ code, reach: 'unknown' })).toBeInstanceOf(PausedFailure);
    for (const code of [...late, undefined])
      expect(networkFailure({ code, reach: 'unknown' })).toBeInstanceOf(UncertainFailure);
  });

  it('a TLS failure is named as such', () => {
    const failure = networkFailure({ code: 'CERT_HAS_EXPIRED', reach: 'unsent' });
    expect(failure.message).toContain('certificate');
    expect(failure.message).toContain('CERT_HAS_EXPIRED');
  });

  it('an invalid error code is not repeated', () => {
    const failure = networkFailure({ code: 'Bearer tok_1', reach: 'sent' });
    expect(failure.message).not.toContain('tok_1');
  });
});
