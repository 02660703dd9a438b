import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { MessagingConfigError } from '../../message/errors.js';
import type { CallbackRequest } from '../../ports/callback-parser.js';
import { callbackRequest } from '../../../../../test/support/callback-request.js';
import { standardWebhooks } from './interface-callbacks.js';

/** The published example. */
const VECTOR = {
  secret: 'whsec_plJ3nmyCDGBKInavdOK15jsl',
  id: 'msg_loFOjxBNrRLzqYUf',
  timestamp: '1731705121',
  body: '{"event_type":"ping","data":{"success":true}}',
  signature: 'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
};
const OTHER = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const MADE = Number(VECTOR.timestamp) * 1000;

function verifier(secrets = [VECTOR.secret], receivedAt = MADE) {
  const { verify } = standardWebhooks(secrets, 'callbacks.secrets');
  return { verify: (request: CallbackRequest) => verify({ ...request, receivedAt }) };
}

function callback(changes: Partial<typeof VECTOR> = {}): CallbackRequest {
  const { id, timestamp, body, signature } = { ...VECTOR, ...changes };
  return callbackRequest({
    headers: {
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signature,
    },
    body: JSON.parse(body) as unknown,
    rawBody: Buffer.from(body),
  });
}

describe('standardWebhooks', () => {
  it('the published test vector verifies', () => {
    expect(verifier().verify(callback())).toBe(true);
  });

  it('signatures are compatible with the standardwebhooks package', () => {
    const body = '{"to":"2348012345678","text":"dún-dún €"}';
    const webhook = new Webhook(OTHER);
    const at = new Date();
    const signature = webhook.sign('msg_1', at, body);
    const timestamp = String(Math.floor(at.getTime() / 1000));
    const request = callback({ id: 'msg_1', timestamp, body, signature });
    expect(verifier([OTHER], at.getTime()).verify(request)).toBe(true);
    expect(webhook.verify(body, request.headers as Record<string, string>)).toEqual(request.body);
  });

  it.each<[string, Partial<typeof VECTOR>]>([
    ['another body', { body: '{"event_type":"ping","data":{"success":false}}' }],
    ['the same JSON in other bytes', { body: '{"event_type": "ping","data":{"success":true}}' }],
    ['another id', { id: 'msg_2' }],
    ['another time', { timestamp: '1731705122' }],
    ['a time that is none', { timestamp: '1731705121.0' }],
    ['no signature', { signature: '' }],
    ['a signature of another version', { signature: VECTOR.signature.replace('v1', 'v2') }],
    ['a signature without its version', { signature: VECTOR.signature.slice(3) }],
    ['half a signature', { signature: VECTOR.signature.slice(0, 20) }],
    ['a signature and a bit', { signature: `${VECTOR.signature.slice(0, -1)}AAAA` }],
    ['an empty v1', { signature: 'v1,' }],
  ])('%s is refused', (_what, changes) => {
    expect(verifier().verify(callback(changes))).toBe(false);
  });

  it('missing and repeated headers are refused', () => {
    for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
      const request = callback();
      const given = request.headers[name] as string;
      for (const value of [undefined, [given, given]])
        expect(
          verifier().verify({ ...request, headers: { ...request.headers, [name]: value } }),
        ).toBe(false);
    }
  });

  it('timestamps are accepted within five minutes', () => {
    for (const seconds of [-300, 0, 300])
      expect(verifier(undefined, MADE + seconds * 1000).verify(callback())).toBe(true);
    for (const seconds of [-301, 301, 86_400])
      expect(verifier(undefined, MADE + seconds * 1000).verify(callback())).toBe(false);
  });

  it('during a rotation either secret and signature verifies', () => {
    expect(verifier([OTHER, VECTOR.secret]).verify(callback())).toBe(true);
    const both = `v1,${Buffer.alloc(32).toString('base64')} ${VECTOR.signature}`;
    expect(verifier().verify(callback({ signature: both }))).toBe(true);
    expect(verifier([OTHER]).verify(callback({ signature: both }))).toBe(false);
  });

  it('a GET never verifies because its query is unsigned', () => {
    const signature = new Webhook(VECTOR.secret).sign('msg_1', new Date(MADE), '');
    const request = callback({ id: 'msg_1', signature });
    expect(verifier().verify({ ...request, method: 'GET', rawBody: undefined })).toBe(false);
  });

  it('a missing raw body is named with the remedy', () => {
    const request = { ...callback(), rawBody: undefined };
    expect(() => verifier().verify(request)).toThrow(MessagingConfigError);
    expect(() => verifier().verify(request)).toThrow(/rawBody: true.*NestFactory/);
    expect(verifier().verify({ ...request, body: {} })).toBe(false);
  });

  it.each([
    ['', /missing/],
    [undefined, /missing/],
    ['plJ3nmyCDGBKInavdOK15jsl', /whsec_/],
    ['whsec_plJ3nmyCDGBKInavdOK15jsl\n', /newline/],
    ['whsec_plJ3nmyCDGBK!navdOK15jsl', /base64/],
    ['whsec_c2hvcnQ=', /shorter/],
  ])('the invalid secret %j is named by index and not shown', (secret, cause) => {
    const make = () => verifier([OTHER, secret as string]);
    expect(make).toThrow(MessagingConfigError);
    expect(make).toThrow(/^callbacks\.secrets\[1\]: /);
    expect(make).toThrow(cause);
    expect(make).not.toThrow(/plJ3|c2hvcnQ/);
  });
});
