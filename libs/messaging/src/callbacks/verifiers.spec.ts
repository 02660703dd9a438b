import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { MessagingConfigError } from '../message/errors.js';
import type { CallbackRequest, CallbackVerifier } from '../ports/callback-parser.js';
import { callbackRequest, proven } from '../../../../test/support/callback-request.js';
import { allOf, anyOf, basicAuth, hmacSignature, ipRanges, sharedSecret } from './verifiers.js';
import { plivoSignature } from '../providers/plivo/plivo.js';
import { twilioSignature } from '../providers/twilio/twilio.js';
import { vonageSignature } from '../providers/vonage/vonage.js';

const SECRET = 'k3y-0f-at-least-sixteen';
const NEXT = 'the-n3xt-key-of-a-rotation';
const yes: CallbackVerifier = { verify: () => true };
const no: CallbackVerifier = { verify: () => Promise.resolve(false) };

describe('hmacSignature', () => {
  const rawBody = Buffer.from('{"status":"dún"}');
  const sign = (algorithm: string, secret: string, encoding: 'hex' | 'base64') =>
    createHmac(algorithm, secret).update(rawBody).digest(encoding);

  it('hmacSignature verifies the raw body with either secret of a rotation', async () => {
    const verifier = hmacSignature({ header: 'X-Signature', secret: [SECRET, NEXT] });
    const signed = (signature: string, changes: Partial<CallbackRequest> = {}) => ({
      headers: { 'x-signature': signature },
      rawBody,
      ...changes,
    });
    const right = sign('sha256', SECRET, 'hex');
    const cases: [Partial<CallbackRequest>, boolean][] = [
      [signed(right), true],
      [signed(right.toUpperCase()), true],
      [signed(sign('sha256', NEXT, 'hex')), true],
      [signed(sign('sha256', 'another-secret-of-them', 'hex')), false],
      [signed(right.slice(2)), false],
      [signed(''), false],
      [signed(right, { rawBody: Buffer.from('{"status":"dún" }') }), false],
      [signed(right, { method: 'GET' }), false],
      [{ rawBody }, false],
      [{ headers: { 'x-signature': [right, right] }, rawBody }, false],
    ];
    expect(
      await proven(
        verifier,
        cases.map(([request]) => request),
      ),
    ).toEqual(cases.map(([, expected]) => expected));
  });

  it('hmacSignature uses the configured algorithm, encoding and prefix', async () => {
    const verifier = hmacSignature({
      header: 'x-hub-signature',
      algorithm: 'sha512',
      encoding: 'base64',
      prefix: 'sha512=',
      secret: SECRET,
    });
    const signature = sign('sha512', SECRET, 'base64');
    expect(
      await proven(verifier, [
        { headers: { 'x-hub-signature': `sha512=${signature}` }, rawBody },
        { headers: { 'x-hub-signature': signature }, rawBody },
      ]),
    ).toEqual([true, false]);
  });

  it('hmacSignature names a missing raw body', () => {
    const verifier = hmacSignature({ header: 'x-signature', secret: SECRET });
    const request = callbackRequest({ headers: { 'x-signature': 'aa' }, body: { a: 1 } });
    expect(() => verifier.verify(request)).toThrow(/rawBody: true/);
  });
});

it('basicAuth needs both name and password', async () => {
  const verifier = basicAuth({ username: 'acme', password: [SECRET, NEXT] });
  const of = (text: string, scheme = 'Basic') => ({
    headers: { authorization: `${scheme} ${Buffer.from(text).toString('base64')}` },
  });
  expect(
    await proven(verifier, [
      of(`acme:${SECRET}`),
      of(`acme:${NEXT}`, 'basic'),
      of(`acme:${SECRET}x`),
      of(`acm:${SECRET}`),
      of(SECRET),
      of(''),
      { headers: { authorization: 'Basic' } },
      { headers: { authorization: `Bearer ${SECRET}` } },
      {},
    ]),
  ).toEqual([true, true, false, false, false, false, false, false, false]);
});

describe('sharedSecret', () => {
  it.each<['path' | { query: string } | { header: string }, (s: unknown) => object]>([
    ['path', (pathSecret) => ({ pathSecret })],
    [{ query: 'token' }, (token) => ({ query: { token } })],
    [{ header: 'X-Token' }, (token) => ({ headers: { 'x-token': token } })],
  ])('sharedSecret is read from %j only', async (place, at) => {
    const verifier = sharedSecret({ secret: [SECRET, NEXT], in: place });
    expect(
      await proven(verifier, [
        at(SECRET),
        at(NEXT),
        at(`${SECRET} `),
        at(SECRET.toUpperCase()),
        at([SECRET]),
        at(undefined),
        { query: { other: SECRET }, headers: { other: SECRET } },
      ]),
    ).toEqual([true, true, false, false, false, false, false]);
  });

  it('sharedSecret is read from the path by default', async () => {
    expect(await proven(sharedSecret({ secret: SECRET }), [{ pathSecret: SECRET }, {}])).toEqual([
      true,
      false,
    ]);
  });
});

it('ipRanges matches IPv4, IPv6 and IPv4-mapped addresses', async () => {
  const verifier = ipRanges(['203.0.113.0/24', '198.51.100.7', '2001:db8::/32']);
  const peers: Record<string, boolean> = {
    '203.0.113.200': true,
    '::ffff:203.0.113.200': true,
    '203.0.114.1': false,
    '198.51.100.7': true,
    '198.51.100.8': false,
    '2001:db8:1::5': true,
    '2001:db9::1': false,
    '::1': false,
    '': false,
    'not-an-address': false,
  };
  expect(
    await proven(
      verifier,
      Object.keys(peers).map((ip) => ({ ip })),
    ),
  ).toEqual(Object.values(peers));
});

it('allOf needs every verifier and anyOf one', async () => {
  const all = await Promise.all(
    [[yes], [yes, yes], [yes, no], [no, yes]].map(async (of) =>
      allOf(...of).verify(callbackRequest()),
    ),
  );
  const any = await Promise.all(
    [[yes], [no, yes], [no, no]].map(async (of) => anyOf(...of).verify(callbackRequest())),
  );
  expect([all, any]).toEqual([
    [true, true, false, false],
    [true, true, false],
  ]);
});

it.each<[string, () => unknown, string]>([
  ['no secret', () => sharedSecret({ secret: [] }), 'sharedSecret.secret: is missing'],
  ['an unset secret', () => sharedSecret({ secret: undefined as never }), 'is missing'],
  ['an empty secret', () => basicAuth({ username: 'a', password: '' }), 'basicAuth.password'],
  ['a newline', () => hmacSignature({ header: 'x', secret: `${SECRET}\n` }), 'newline'],
  ['a short secret', () => hmacSignature({ header: 'x', secret: 'short-but-mine' }), 'shorter'],
  ['no header', () => hmacSignature({ header: '', secret: SECRET }), 'hmacSignature.header'],
  [
    'an unknown algorithm',
    () => hmacSignature({ header: 'x', secret: SECRET, algorithm: 'sha257' as 'sha256' }),
    'hmacSignature.algorithm',
  ],
  [
    'an unknown encoding',
    () => hmacSignature({ header: 'x', secret: SECRET, encoding: 'utf8' as 'hex' }),
    'hmacSignature.encoding',
  ],
  ['a name with a colon', () => basicAuth({ username: 'a:b', password: SECRET }), 'username'],
  ['nowhere', () => sharedSecret({ secret: SECRET, in: {} as 'path' }), 'sharedSecret.in'],
  ['a bad range', () => ipRanges(['10.0.0.0/8', '10.0.0/33']), 'ipRanges[1]'],
  ['no range', () => ipRanges([]), 'ipRanges'],
  [
    'an origin with a path',
    () => twilioSignature({ authToken: SECRET, origin: 'https://a.example/x' }),
    'twilioSignature.origin',
  ],
  [
    'an origin without a scheme',
    () => plivoSignature({ authToken: SECRET, origin: 'a.example' }),
    'plivoSignature.origin',
  ],
  ['no token', () => plivoSignature({ authToken: '', origin: 'https://a' }), 'authToken'],
  ['no signature secret', () => vonageSignature({ secret: [] }), 'vonageSignature.secret'],
  [
    'no tolerance',
    () => vonageSignature({ secret: SECRET, tolerance: 0 }),
    'vonageSignature.tolerance',
  ],
  [
    'a tolerance without a unit anybody knows',
    () => vonageSignature({ secret: SECRET, tolerance: '5 fortnights' as never }),
    'vonageSignature.tolerance',
  ],
  ['none at all', () => allOf(), 'allOf'],
  ['none of any', () => anyOf(), 'anyOf'],
])('%s fails at boot by name without being shown', (_what, make, named) => {
  let failure: unknown;
  try {
    make();
  } catch (error) {
    failure = error;
  }
  expect(failure).toBeInstanceOf(MessagingConfigError);
  expect((failure as Error).message).toContain(named);
  expect((failure as Error).message).not.toContain(SECRET);
  expect((failure as Error).message).not.toContain('short-but-mine');
});
