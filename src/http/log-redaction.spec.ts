import { describe, expect, it } from '@jest/globals';
import { scrub } from './log-redaction.js';

describe('scrub', () => {
  it.each([
    ['tok_0123456789abcdef', '[redacted]'],
    ['"svk_0123456789abcdef"', '"[redacted]"'],
    ['secret whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'secret [redacted]'],
    ['Authorization: Bearer abc.def', 'Authorization: [redacted]'],
    ['{"authorization":"bearer anything"}', '{"authorization":"[redacted]"}'],
  ])('redacts the credential in %s', (line, scrubbed) => {
    expect(scrub(line)).toBe(scrubbed);
  });

  it.each([
    ['"to":"2348012345678"', '"to":"23480******78"'],
    ['sent to +2348012345678.', 'sent to 23480******78.'],
    ['to=2348012345678&from=ACME', 'to=23480******78&from=ACME'],
    ['["2348012345678","2348012345679"]', '["23480******78","23480******79"]'],
    ['/ng/v1/x/2348012345678', '/ng/v1/x/23480******78'],
    ['"to":"ada.l@example.com"', '"to":"a***@example.com"'],
    ['"to":"platform:NG.1234567","n":1', '"to":"platform:NG.1***","n":1'],
  ])('masks the address in %s', (line, scrubbed) => {
    expect(scrub(line)).toBe(scrubbed);
  });

  it.each([
    '{"time":"2026-11-20T12:00:00.000Z","pid":4194304,"ms":1234567.5}',
    '"reference":"01993021-0000-7000-8000-000000000000"',
    '"message":"01993021-1234-7000-8000-123456789012-17"',
    '"lane":"acc_1234567890123456789012:sms"',
    'req-12345678-1a',
    'waited 12345 ms',
  ])('keeps %s unchanged', (line) => {
    expect(scrub(line)).toBe(line);
  });
});
