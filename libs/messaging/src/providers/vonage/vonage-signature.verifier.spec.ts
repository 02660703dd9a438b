import { createHash, createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { CallbackRequest } from '../../ports/callback-parser.js';
import { proven } from '../../../../../test/support/callback-request.js';
import { vonageSignature } from './vonage.js';

const SECRET = 'a-signature-secret-of-the-dashboard';
const NEXT = 'the-one-after-it-in-a-rotation';
const NOW = 1_587_494_962;
const rawBody = Buffer.from('{"message_uuid":"aaaa","status":"delivered","to":"2348012345678"}');

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
/** RFC 7515, 7.1. */
const jwt = (claims: object, secret: string, header: object = { alg: 'HS256', typ: 'JWT' }) => {
  const signed = `${part(header)}.${part(claims)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
};
/** The claims Vonage documents. */
const claims = (changes: object = {}) => ({
  iat: NOW,
  jti: 'c5ba8f24-1a14-4c10-bfdf-3fbe8ce511b5',
  iss: 'Vonage',
  payload_hash: createHash('sha256').update(rawBody).digest('hex'),
  api_key: 'a1b2c3d',
  application_id: 'aaaaaaaa-bbbb-cccc-dddd-0123456789ab',
  ...changes,
});
const bearing = (token: string, changes: Partial<CallbackRequest> = {}) => ({
  headers: { authorization: `Bearer ${token}` },
  rawBody,
  receivedAt: NOW * 1_000,
  ...changes,
});

describe('vonageSignature', () => {
  it('vonageSignature accepts tokens of another library', () => {
    expect(
      jwt({ sub: '1234567890', name: 'John Doe', iat: 1516239022 }, 'your-256-bit-secret'),
    ).toBe(
      'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c',
    );
  });

  it('vonageSignature verifies token and body with either secret', async () => {
    const right = jwt(claims(), SECRET);
    const [head = '', payload = '', signature = ''] = right.split('.');
    const cases: [Partial<CallbackRequest>, boolean][] = [
      [bearing(right), true],
      [bearing(right, { headers: { authorization: `bearer ${right}` } }), true],
      [bearing(jwt(claims(), NEXT)), true],
      [bearing(jwt(claims({ payload_hash: claims().payload_hash.toUpperCase() }), SECRET)), true],
      [bearing(jwt(claims(), 'another-secret-of-somebody')), false],
      [bearing(right, { rawBody: Buffer.concat([rawBody, Buffer.from(' ')]) }), false],
      [bearing(jwt(claims({ payload_hash: undefined }), SECRET)), false],
      [bearing(jwt(claims({ payload_hash: 1 }), SECRET)), false],
      [bearing(`${head}.${part(claims({ api_key: 'mine' }))}.${signature}`), false],
      [bearing(`${head}.${payload}.`), false],
      [bearing(`${head}.${payload}`), false],
      [bearing(right.slice(0, -4)), false],
      [bearing(right, { method: 'GET' }), false],
      [bearing(right, { headers: { authorization: right } }), false],
      [bearing(right, { headers: { authorization: [`Bearer ${right}`] } }), false],
      [bearing(right, { headers: {} }), false],
    ];
    const verifier = vonageSignature({ secret: [SECRET, NEXT] });
    expect(
      await proven(
        verifier,
        cases.map(([request]) => request),
      ),
    ).toEqual(cases.map(([, expected]) => expected));
  });

  it('vonageSignature refuses other algorithms', async () => {
    const verifier = vonageSignature({ secret: SECRET });
    const unsigned = `${part({ alg: 'none' })}.${part(claims())}.`;
    expect(
      await proven(verifier, [
        bearing(unsigned),
        bearing(`${unsigned}AA`),
        bearing(jwt(claims(), SECRET, { alg: 'none' })),
        bearing(jwt(claims(), SECRET, { alg: 'RS256' })),
        bearing(jwt(claims(), SECRET, [])),
        bearing(jwt([], SECRET)),
      ]),
    ).toEqual([false, false, false, false, false, false]);
  });

  it('vonageSignature refuses tokens outside the tolerance', async () => {
    const at = (iat: unknown) => bearing(jwt(claims({ iat }), SECRET));
    const ages = [NOW - 300, NOW - 301, NOW + 300, NOW + 301, String(NOW), undefined].map(at);
    expect(await proven(vonageSignature({ secret: SECRET }), ages)).toEqual([
      true,
      false,
      true,
      false,
      false,
      false,
    ]);
    const patient = vonageSignature({ secret: SECRET, tolerance: '24h' });
    expect(await proven(patient, [at(NOW - 86_400), at(NOW - 86_401)])).toEqual([true, false]);
  });

  it('vonageSignature checks the configured claims', async () => {
    const verifier = vonageSignature({ secret: SECRET, claims: { api_key: 'a1b2c3d' } });
    expect(
      await proven(verifier, [
        bearing(jwt(claims(), SECRET)),
        bearing(jwt(claims({ api_key: 'another' }), SECRET)),
        bearing(jwt(claims({ api_key: undefined }), SECRET)),
      ]),
    ).toEqual([true, false, false]);
  });
});
