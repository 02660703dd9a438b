import { describe, expect, it } from '@jest/globals';
import { MessagingConfigError } from '../../message/errors.js';
import type { CallbackRequest } from '../../ports/callback-parser.js';
import { kannelParser, kannelSignature, reportLink } from './kannel-callbacks.js';

const SECRET = '0123456789abcdef';
const NOW = 1_795_182_180_000;
const SUBMISSION = '0198f6f0-0000-7000-8000-000000000001-s0';
const NUMBER = '2348012345678';
const parser = kannelParser();
const linkBy = (secret: string, submission = SUBMISSION, to = NUMBER) =>
  reportLink('http://h/reports', secret, submission, to);

interface Said {
  readonly status?: string;
  readonly answer?: string;
  readonly id?: string;
  readonly time?: string;
}

/** The request after Kannel has filled in its codes, as urltrans_fill_escape_codes() does. */
function called(
  { status = '1', answer = '', id = '', time = '1795182172' }: Said = {},
  link = linkBy(SECRET),
): CallbackRequest {
  const codes: Readonly<Record<string, string>> = { d: status, A: answer, F: id, T: time };
  const filled = link.replaceAll(/%(.)/g, (code, letter: string) =>
    letter === '%' ? '%' : letter in codes ? encodeURIComponent(codes[letter] ?? '') : code,
  );
  const query = Object.fromEntries(new URL(filled).searchParams);
  return {
    method: 'GET',
    headers: {},
    query,
    body: undefined,
    rawBody: undefined,
    ip: '',
    receivedAt: NOW,
  } as never;
}

describe('the address Kannel calls', () => {
  it('the Kannel callback address round-trips any reference', () => {
    const link = reportLink('http://h/re%20ports/%d', SECRET, 'a%d b&c=1-s0', '23480');
    const request = called({}, link);
    expect(request.query).toMatchObject({ submission: 'a%d b&c=1-s0', to: '23480', status: '1' });
    expect(kannelSignature(SECRET).verify(request)).toBe(true);
    expect(link).toMatch(/^http:\/\/h\/re%%20ports\/%%d\?/);
  });
});

describe('kannelSignature', () => {
  const verifier = kannelSignature(['fedcba9876543210', SECRET]);

  it('kannelSignature accepts any of its secrets', () => {
    expect(verifier.verify(called())).toBe(true);
    const other = linkBy('fedcba9876543210');
    expect(verifier.verify(called({}, other))).toBe(true);
    const strange = linkBy('not-one-of-the-two');
    expect(verifier.verify(called({}, strange))).toBe(false);
  });

  it.each<[string, Record<string, unknown>]>([
    ['another submission', { submission: `${SUBMISSION}1` }],
    ['another recipient', { to: '2348012345679' }],
    ['a number moved over', { submission: `${SUBMISSION}\n2`, to: '348012345678' }],
    ['no signature', { signature: undefined }],
    ['an empty signature', { signature: '' }],
    ['a list of signatures', { signature: ['a', 'b'] }],
    ['half a signature', { signature: 'AAAA' }],
    ['a very long signature', { signature: 'A'.repeat(100_000) }],
    ['a very long submission', { submission: 'A'.repeat(100_000) }],
    ['a list of submissions', { submission: [SUBMISSION, 'x'] }],
  ])('kannelSignature refuses %s', (_what, changes) => {
    const request = called();
    expect(verifier.verify({ ...request, query: { ...request.query, ...changes } })).toBe(false);
  });

  it('kannelSignature ignores prototype keys', () => {
    const { query } = called();
    const request = { ...called(), query: Object.create(query) as Record<string, unknown> };
    expect(verifier.verify(request)).toBe(false);
  });

  it('kannelSignature needs a strong secret', () => {
    expect(() => kannelSignature([])).toThrow(MessagingConfigError);
    expect(() => kannelSignature('short')).toThrow(/^kannelSignature.secrets: /);
  });
});

describe('kannelParser', () => {
  const read = (said: Said) => parser.parse(called(said)).reports?.[0];

  it('kannelParser reads a delivery of Kannel 1.4.5', () => {
    expect(parser.parse(called({ id: '9cad42ff-0382-473c-ae7e-b246532d44e5' }))).toEqual({
      reports: [
        {
          submissionId: SUBMISSION,
          reference: SUBMISSION,
          messageId: '9cad42ff-0382-473c-ae7e-b246532d44e5',
          recipient: NUMBER,
          status: 'delivered',
          rawStatus: '1',
          errorCode: null,
          providerTime: new Date(1_795_182_172_000),
        },
      ],
      errors: [],
    });
  });

  it.each<[string, string, string | null, string, string | null]>([
    ['8', 'ACK/', 'sent', '8', null],
    ['4', '', 'sent', '4', null],
    ['1', 'id:7 sub:001 dlvrd:001 stat:DELIVRD err:000 text:hi', 'delivered', '1 DELIVRD', null],
    ['2', '', 'undelivered', '2', null],
    ['2', 'id:7 stat:UNDELIV err:011 text:stat:DELIVRD err:9', 'undelivered', '2 UNDELIV', '011'],
    ['2', 'id:7 stat:EXPIRED err:3c text:', 'expired', '2 EXPIRED', '3c'],
    ['2', 'id:7 text:hi stat:EXPIRED err:011', 'expired', '2 EXPIRED', '011'],
    ['2', 'id:7 text:stat:REJECTD stat:EXPIRED err:0', 'expired', '2 EXPIRED', null],
    ['2', 'id:7\0 stat:REJECTD\0 err:027\0', 'rejected', '2 REJECTD', '027'],
    ['2', 'id:7 stat:FAILED err:001', 'undelivered', '2 FAILED', '001'],
    ['2', 'id:7 stat:DELETED err:000 text:', 'undelivered', '2 DELETED', null],
    ['2', 'id:7 stat:REJECTD err:1 text:', 'rejected', '2 REJECTD', '1'],
    ['2', 'id:7 stat:UNKNOWN err:1 text:', null, '2 UNKNOWN', '1'],
    ['16', 'NACK/11/Invalid destination', 'rejected', '16', '11'],
    ['16', 'NACK/', 'rejected', '16', null],
    ['16', 'NACK/Retries Exceeded', 'failed', '16', 'Retries Exceeded'],
    ['16', 'NACK/REJECTED', 'rejected', '16', 'REJECTED'],
    ['32', '', null, '32', null],
    ['0', '', null, '0', null],
    ['constructor', '', null, 'constructor', null],
  ])('Kannel report bit %s %j is %s', (status, answer, expected, rawStatus, errorCode) => {
    expect(read({ status, answer })).toMatchObject({ status: expected, rawStatus, errorCode });
  });

  it('kannelParser cleans NUL bytes, lone surrogates and long texts', () => {
    const answer = `id:7\0 stat:UNDE\0LIV err:0\x0011 text:${'\0x\ufffd'.repeat(50_000)}`;
    expect(read({ status: '2', answer })).toMatchObject({
      status: 'undelivered',
      rawStatus: '2 UNDELIV',
      errorCode: '011',
    });
    expect(read({ status: '2\0' })).toMatchObject({ rawStatus: '2' });
    expect(read({ id: 'a\0b' })).toMatchObject({ messageId: null });
  });

  it.each([
    ['1795182172', 1_795_182_172_000],
    ['-1', null],
    ['soon', null],
    ['', null],
  ])('the report time %j is %s', (time, expected) => {
    expect(read({ time })?.providerTime?.getTime() ?? null).toBe(expected);
  });

  it.each([
    { submission: undefined },
    { submission: ['a', 'b'] },
    { to: 'ACME' },
    { status: undefined },
    { status: '' },
  ])('kannelParser refuses %j without quoting it', (changes) => {
    const request = called();
    const parsed = parser.parse({ ...request, query: { ...request.query, ...changes } });
    expect(parsed.reports).toEqual([]);
    expect(parsed.errors).toEqual(['no submission, recipient or status']);
  });
});
