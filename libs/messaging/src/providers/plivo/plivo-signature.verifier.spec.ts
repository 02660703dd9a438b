import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { CallbackRequest } from '../../ports/callback-parser.js';
import { proven } from '../../../../../test/support/callback-request.js';
import { plivoSignature } from './plivo.js';

const TOKEN = 'an-auth-token-of-plivos-console';
const NEXT = 'the-one-after-it-in-a-rotation';
const ORIGIN = 'https://app.example.com';
const NONCE = '05429567804466091622';

const sign = (text: string, token = TOKEN) =>
  createHmac('sha256', token).update(text).digest('base64');
const form = (fields: readonly [string, string][]) =>
  Buffer.from(new URLSearchParams(fields).toString());
const REPORT: readonly [string, string][] = [
  ['To', '2348012345678'],
  ['Status', 'delivered'],
  ['MessageUUID', 'b342e29e'],
  ['From', '+1 415'],
];
/** Names, then values, run together. */
const TOLD = 'From+1 415MessageUUIDb342e29eStatusdeliveredTo2348012345678';

const post = (
  headers: CallbackRequest['headers'],
  changes: Partial<CallbackRequest> = {},
): Partial<CallbackRequest> => ({
  url: '/dlr',
  headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  rawBody: form(REPORT),
  ...changes,
});
const v3 = (signature: string, name = 'x-plivo-signature-v3') => ({
  [name]: signature,
  'x-plivo-signature-v3-nonce': NONCE,
});
const v2 = (signature: string, name = 'x-plivo-signature-v2') => ({
  [name]: signature,
  'x-plivo-signature-v2-nonce': NONCE,
});

const expectEach = async (cases: readonly [Partial<CallbackRequest>, boolean][]) => {
  const verifier = plivoSignature({ authToken: [NEXT, TOKEN], origin: ORIGIN });
  const given = await proven(
    verifier,
    cases.map(([request]) => request),
  );
  expect(given).toEqual(cases.map(([, expected]) => expected));
};

describe('plivoSignature', () => {
  it("plivoSignature accepts Plivo's own test vectors", () => {
    expect(sign('https://answer.url12345', 'my_auth_token')).toBe(
      'ehV3IKhLysWBxC1sy8INm0qGoQYdYsHwuoKjsX7FsXc=',
    );
  });

  it('plivoSignature V3 covers address, fields and nonce', async () => {
    const right = sign(`${ORIGIN}/dlr?${TOLD}.${NONCE}`);
    await expectEach([
      [post(v3(right)), true],
      [post(v3(right, 'x-plivo-signature-ma-v3')), true],
      [post(v3(`${sign('else')}, ${right}`)), true],
      [post(v3(sign(`${ORIGIN}/dlr?${TOLD}.${NONCE}`, NEXT))), true],
      [post(v3(sign(`${ORIGIN}/dlr?${TOLD}.${NONCE}`, 'a-token-of-somebody-else'))), false],
      [post(v3(right), { rawBody: form([...REPORT, ['ErrorCode', '30']]) }), false],
      [post(v3(right), { rawBody: form(REPORT.slice(1)) }), false],
      [post(v3(right), { url: '/dlr2' }), false],
      [post({ ...v3(right), 'x-plivo-signature-v3-nonce': '1' }), false],
      [post({ 'x-plivo-signature-v3': right }), false],
      [post(v3('')), false],
      [post({}), false],
    ]);
  });

  it('plivoSignature V3 sorts the query apart from the fields', async () => {
    const both = sign(`${ORIGIN}/dlr?a=1&a=2&b=x y.${TOLD}.${NONCE}`);
    const alone = sign(`${ORIGIN}/dlr?a=1&a=2&b=x y.${NONCE}`);
    const bare = sign(`${ORIGIN}/dlr.${NONCE}`);
    const url = '/dlr?b=x%20y&a=2&a=1';
    await expectEach([
      [post(v3(both), { url }), true],
      [post(v3(both), { url: '/dlr?b=x%20y&a=2&a=3' }), false],
      [{ method: 'GET', url, headers: v3(alone) }, true],
      [{ method: 'GET', url: '/dlr', headers: v3(bare) }, true],
      [{ url: '/dlr', headers: v3(bare) }, true],
    ]);
  });

  it('plivoSignature refuses a body that V3 does not cover', async () => {
    const headers = { ...v3(sign(`${ORIGIN}/dlr.${NONCE}`)), 'content-type': 'application/json' };
    await expectEach([[post(headers, { rawBody: Buffer.from('{"Status":"delivered"}') }), false]]);
  });

  it('plivoSignature V2 covers the address', async () => {
    const right = sign(`${ORIGIN}/dlr${NONCE}`);
    await expectEach([
      [post(v2(right)), true],
      [post(v2(right, 'x-plivo-signature-ma-v2'), { url: '/dlr?a=1' }), true],
      [{ method: 'GET', url: '/dlr?Status=sent', headers: v2(right) }, true],
      [post(v2(right), { url: '/dlr/x' }), false],
      [post({ ...v2(right), 'x-plivo-signature-v2-nonce': '1' }), false],
      [post({ 'x-plivo-signature-v2': right }), false],
    ]);
  });

  it('plivoSignature uses V3 where present', async () => {
    const second = v2(sign(`${ORIGIN}/dlr${NONCE}`));
    const wrong = sign('something else');
    await expectEach([
      [post({ ...second, ...v3(sign(`${ORIGIN}/dlr?${TOLD}.${NONCE}`)) }), true],
      [post({ ...second, ...v3(wrong) }), false],
      [post({ ...second, ...v3(wrong, 'x-plivo-signature-ma-v3') }), false],
      [post({ ...second, 'x-plivo-signature-v3': '' }), false],
    ]);
  });
});
