import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { proven } from '../../../../../test/support/callback-request.js';
import type { CallbackRequest } from '../../ports/callback-parser.js';
import { telnyxSignature } from './telnyx.js';

const AT = 1_700_000_000;
const BODY = '{"data":{"event_type":"message.received"}}';

function keyPair() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  return { privateKey, publicKey: Buffer.from(x, 'base64url').toString('base64') };
}

const first = keyPair();
const second = keyPair();

const post = (
  { privateKey } = first,
  changes: Partial<CallbackRequest> = {},
  at = String(AT),
): Partial<CallbackRequest> => ({
  receivedAt: AT * 1_000,
  rawBody: Buffer.from(BODY),
  headers: {
    'telnyx-timestamp': at,
    'telnyx-signature-ed25519': sign(null, Buffer.from(`${at}|${BODY}`), privateKey).toString(
      'base64',
    ),
  },
  ...changes,
});

describe('telnyxSignature', () => {
  it('the signature is over time and body', async () => {
    const verifier = telnyxSignature({ publicKey: first.publicKey });
    const { headers = {} } = post();
    const cases: readonly [Partial<CallbackRequest>, boolean][] = [
      [post(), true],
      [post(second), false],
      [post(first, { rawBody: Buffer.from(`${BODY} `) }), false],
      [post(first, { headers: { ...headers, 'telnyx-timestamp': String(AT + 1) } }), false],
      [post(first, { headers: { ...headers, 'telnyx-timestamp': undefined } }), false],
      [post(first, { headers: { ...headers, 'telnyx-signature-ed25519': undefined } }), false],
      [post(first, { headers: { ...headers, 'telnyx-signature-ed25519': 'AAAA' } }), false],
      [post(first, { method: 'GET' }), false],
    ];
    expect(
      await proven(
        verifier,
        cases.map(([request]) => request),
      ),
    ).toEqual(cases.map(([, expected]) => expected));
  });

  it('a time is good for five minutes, before and after, or as the option says', async () => {
    const times = [-301, -299, 299, 301].map((seconds) => post(first, {}, String(AT + seconds)));
    const { publicKey } = first;
    expect(await proven(telnyxSignature({ publicKey }), times)).toEqual([false, true, true, false]);
    const longer = telnyxSignature({ publicKey, tolerance: '10m' });
    expect(await proven(longer, [...times, post(first, {}, 'NaN')])).toEqual([
      true,
      true,
      true,
      true,
      false,
    ]);
  });

  it('two keys are good during a rotation', async () => {
    const verifier = telnyxSignature({ publicKey: [second.publicKey, first.publicKey] });
    expect(await proven(verifier, [post(first), post(second)])).toEqual([true, true]);
  });

  it.each([[undefined], [[]], ['aHVudGVyMg=='], [[first.publicKey, 'x']]])(
    'a wrong key is named without its value',
    (publicKey) => {
      const make = () => telnyxSignature({ publicKey } as never);
      expect(make).toThrow(/^telnyxSignature\.publicKey: /);
      expect(make).not.toThrow(/aHVudGVyMg/);
    },
  );
});
