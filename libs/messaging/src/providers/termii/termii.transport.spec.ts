import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { proven } from '../../../../../test/support/callback-request.js';
import {
  namesWrongOptions,
  openProvider,
  providerContract,
  type ProviderUnderTest,
  smsTo,
} from '../../../../../test/support/providers/provider-contract.js';
import { TermiiServer } from '../../../../../test/support/providers/termii-server.js';
import { PausedFailure, UncertainFailure, UnroutableFailure } from '../../message/errors.js';
import { termiiSignature } from './termii.js';
import { termii } from './termii.transport.js';

const TO = '2348012345678';
const { signal } = new AbortController();

providerContract(
  'termii',
  () => new TermiiServer(),
  ({ options }) => termii(options),
  { refused: { sender: 'UNKNOWN' }, polls: false },
);

describe('termii', () => {
  let under: ProviderUnderTest<TermiiServer>;
  beforeAll(async () => {
    under = await openProvider(new TermiiServer(), ({ options }) =>
      termii({ ...options, route: 'dnd' }),
    );
  });
  afterAll(() => under.close());
  const submit = () => under.transport.submit(smsTo([TO], { sender: 'N-Alert' }), signal);

  it('an SMS has its route, and its answer the id of the message', async () => {
    const id = '9122821270554876001';
    expect(await submit()).toEqual({ reference: id, messageIds: [id] });
    expect(under.server.taken).toEqual([
      { to: TO, from: 'N-Alert', sms: 'Hi & bye', type: 'plain', channel: 'dnd' },
    ]);
  });

  it('an id that is a number is read where JSON keeps its digits, else from its text', async () => {
    const of = async (body: object) => {
      under.server.refuse({ status: 200, body: { code: 'ok', ...body } });
      return (await submit()).reference;
    };
    expect(await of({ message_id: 12345 })).toBe('12345');
    expect(await of({ message_id: 1e25, message_id_str: '3017544054459083819856413' })).toBe(
      '3017544054459083819856413',
    );
    await expect(of({ message_id: 1e25 })).rejects.toBeInstanceOf(UncertainFailure);
  });

  it.each([
    [401, 'Unauthorized', PausedFailure, 'unauthorized'],
    [403, 'Your account is not active', PausedFailure, 'account_restricted'],
    [400, 'Insufficient balance', PausedFailure, 'payment_required'],
    [400, 'Your device has reached the daily limit', PausedFailure, 'throttled'],
    [400, 'Invalid Sender Id', UnroutableFailure, 'sender_unknown'],
    [404, 'Device not found', UnroutableFailure, 'sender_unknown'],
    [403, 'You are not set up on this route', UnroutableFailure, 'not_routable'],
    [503, 'Service temporarily unavailable', UncertainFailure, 'unavailable'],
    [200, 'Insufficient balance', PausedFailure, 'payment_required'],
    [400, 'Something new', UncertainFailure, 'http_400'],
  ])('an answer %i "%s" is classified', async (status, message, kind, code) => {
    under.server.refuse({ status, body: { message } });
    await expect(submit()).rejects.toBeInstanceOf(kind);
    under.server.refuse({ status, body: { message } });
    await expect(submit()).rejects.toMatchObject({ code });
  });

  it('termiiSignature verifies the HMAC of the body', async () => {
    const secret = 'secret-key-of-the-account';
    const rawBody = Buffer.from('{"type":"outbound"}');
    const headersOf = (key: string) => ({
      'x-termii-signature': createHmac('sha512', key).update(rawBody).digest('hex'),
    });
    const requests = [secret, 'another-secret-key'].map((key) => ({
      rawBody,
      headers: headersOf(key),
    }));
    expect(await proven(termiiSignature(secret), requests)).toEqual([true, false]);
  });

  namesWrongOptions(termii, { baseUrl: 'https://v3.api.termii.com', apiKey: 'k'.repeat(20) }, [
    ['baseUrl', { baseUrl: 'hunter2' }],
    ['apiKey', { apiKey: 'hunter2' }],
    ['route', { route: 'hunter2' }],
  ]);
});
