import { createHash, createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { proven } from '../../../../../test/support/callback-request.js';
import { twilioSignature } from './twilio.js';

const SECRET = 'k3y-0f-at-least-sixteen';
const NEXT = 'the-n3xt-key-of-a-rotation';

describe('twilioSignature', () => {
  // The example of Twilio's own documentation.
  const TOKEN = '12345';
  const FIELDS = {
    Digits: '1234',
    To: '+18005551212',
    From: '+14158675309',
    Caller: '+14158675309',
    CallSid: 'CA1234567890ABCDE',
  };
  const form = (fields: Record<string, string>) =>
    Buffer.from(new URLSearchParams(fields).toString());
  const post = (signature: string, rawBody: Buffer, url = '/myapp.php?foo=1&bar=2') => ({
    headers: {
      'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
      'x-twilio-signature': signature,
    },
    url,
    rawBody,
  });
  const sign = (text: string, token = SECRET) =>
    createHmac('sha1', token).update(text).digest('base64');

  it('twilioSignature matches the documented example', () => {
    const sorted =
      'CallSidCA1234567890ABCDECaller+14158675309Digits1234From+14158675309To+18005551212';
    expect(sign(`https://mycompany.com/myapp.php?foo=1&bar=2${sorted}`, TOKEN)).toBe(
      'RSOYDt4T1cUTdK1PDd93/VVr8B8=',
    );
  });

  it('twilioSignature covers address and all fields in any order', async () => {
    const verifier = twilioSignature({ authToken: SECRET, origin: 'https://mycompany.com' });
    const sorted =
      'CallSidCA1234567890ABCDECaller+14158675309Digits1234From+14158675309To+18005551212';
    const right = sign(`https://mycompany.com/myapp.php?foo=1&bar=2${sorted}`);
    expect(
      await proven(verifier, [
        post(right, form(FIELDS)),
        post(right, form({ ...FIELDS, Digits: '1235' })),
        post(right, form({ ...FIELDS, New: 'field' })),
        post(right, form(FIELDS), '/myapp.php?foo=1&bar=3'),
        { ...post(right, form(FIELDS)), headers: {} },
        post('', form(FIELDS)),
      ]),
    ).toEqual([true, false, false, false, false, false]);
  });

  it('twilioSignature refuses a form of more than 1,000 fields before it sorts them', async () => {
    const verifier = twilioSignature({ authToken: SECRET, origin: 'https://a.example' });
    const signed = (count: number) => {
      const names = Array.from({ length: count }, (_, n) => `f${String(n).padStart(4, '0')}`);
      const fields = Object.fromEntries(names.map((name) => [name, 'x']));
      const text = names.map((name) => `${name}x`).join('');
      return post(sign(`https://a.example/x${text}`), form(fields), '/x');
    };
    expect(await proven(verifier, [signed(1_000), signed(1_001)])).toEqual([true, false]);
  });

  it('twilioSignature sorts fields by name', async () => {
    const verifier = twilioSignature({ authToken: SECRET, origin: 'https://a.example' });
    const right = sign('https://a.example/xTozToAb');
    expect(await proven(verifier, [post(right, form({ ToA: 'b', To: 'z' }), '/x')])).toEqual([
      true,
    ]);
  });

  it('twilioSignature verifies GET by address and JSON by digest', async () => {
    const verifier = twilioSignature({ authToken: [NEXT, SECRET], origin: 'https://a.example' });
    const rawBody = Buffer.from('{"MessageSid":"SM1"}');
    const url = `/x?bodySHA256=${createHash('sha256').update(rawBody).digest('hex')}`;
    const headers = {
      'content-type': 'application/json',
      'x-twilio-signature': sign(`https://a.example${url}`),
    };
    expect(
      await proven(verifier, [
        { method: 'GET', url, headers },
        { url, headers, rawBody },
        { url, headers, rawBody: Buffer.from('{}') },
        {
          url: '/x',
          headers: { ...headers, 'x-twilio-signature': sign('https://a.example/x') },
          rawBody,
        },
      ]),
    ).toEqual([true, true, false, false]);
  });
});
