import { createHash, createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { callbackRequest, proven } from '../../../../../test/support/callback-request.js';
import { messageOf } from '../../../../../test/support/providers/bird-server.js';
import type { CallbackRequest } from '../../ports/callback-parser.js';
import { birdParser, birdSignature } from './bird.js';

const TO = '2348012345678';
const CHANNEL = '614208aa-b153-4d5d-9989-2fddfc0ce4c3';
const parse = (event: string, payload: object) =>
  birdParser().parse(callbackRequest({ body: { service: 'channels', event, payload } }));

describe('birdParser', () => {
  const outbound = (status: string) => {
    const contacts = [{ identifierKey: 'phonenumber', identifierValue: `+${TO}` }];
    return messageOf({
      id: 'm-1',
      request: { receiver: { contacts }, reference: 'batch-s0' },
      status,
    });
  };

  it('an outbound event names the submission, and its error', () => {
    expect(parse('sms.outbound', outbound('delivery_failed'))).toEqual({
      reports: [
        {
          submissionId: 'batch-s0',
          reference: null,
          messageId: 'm-1',
          recipient: TO,
          status: 'undelivered',
          rawStatus: 'delivery_failed',
          errorCode: '15005',
          providerTime: new Date('2026-01-01T00:00:01Z'),
        },
      ],
      messages: [],
      errors: [],
    });
  });

  it('every status is mapped, and an unknown one kept raw', () => {
    const words = ['accepted', 'sent', 'delivered', 'delivery_failed', 'sending_failed', 'new'];
    expect(words.map((word) => parse('sms.outbound', outbound(word)).reports?.[0]?.status)).toEqual(
      ['sent', 'sent', 'delivered', 'undelivered', 'failed', null],
    );
  });

  it('an inbound event is a message to the channel, or to its number', () => {
    const inbound = (identifierValue: string, connector: object = {}) => ({
      id: 'm-1',
      channelId: CHANNEL,
      sender: { contact: { id: 'c-1', identifierKey: 'phonenumber', identifierValue } },
      receiver: { connector: { id: '86cc4dc0-3dc0-41b7-ac43-8ec829ead56f', ...connector } },
      body: { type: 'text', text: { text: 'STOP' } },
      status: 'delivered',
      direction: 'incoming',
      createdAt: '2022-12-22T08:32:50.736Z',
    });
    const message = {
      messageId: 'm-1',
      channel: 'sms',
      from: TO,
      bsuid: null,
      to: CHANNEL,
      text: 'STOP',
      sentAt: new Date('2022-12-22T08:32:50.736Z'),
    };
    expect(parse('sms.inbound', inbound(`+${TO}`)).messages).toEqual([message]);
    const named = inbound(`+${TO}`, { identifierValue: '+2348000000001' });
    expect(parse('sms.inbound', named).messages).toEqual([{ ...message, to: '2348000000001' }]);
    for (const from of ['21512', 'My Bank'])
      expect(parse('sms.inbound', inbound(from)).messages).toEqual([{ ...message, from }]);
  });

  it('other events are skipped', () => {
    const none = { reports: [], messages: [], errors: [] };
    expect(parse('whatsapp.outbound', outbound('delivered'))).toEqual(none);
    expect(parse('channel.created', { id: CHANNEL })).toEqual(none);
  });
});

describe('birdSignature', () => {
  const KEY = 'secure-signing-key';
  const ORIGIN = 'https://app.example.com';
  const BODY = '{"event":"sms.outbound"}';
  const AT = '1735689600';

  /** As in Bird's example in PHP. */
  const sign = (address: string, body = BODY, key = KEY) =>
    createHmac('sha256', key)
      .update(`${AT}\n${address}\n`)
      .update(createHash('sha256').update(body).digest())
      .digest('base64');
  const post = (
    signature: string | undefined,
    changes: Partial<CallbackRequest> = {},
    at: string | undefined = AT,
  ): Partial<CallbackRequest> => ({
    url: '/dlr/bird',
    headers: { 'messagebird-signature': signature, 'messagebird-request-timestamp': at },
    rawBody: Buffer.from(BODY),
    receivedAt: Number(AT) * 1_000,
    ...changes,
  });

  it('the signature is over time, address and body', async () => {
    const right = sign(`${ORIGIN}/dlr/bird`);
    const verifier = birdSignature({ signingKey: ['the-one-before-it-1', KEY], origin: ORIGIN });
    const [first, ...others] = await proven(verifier, [
      post(right),
      post(right, {}, '1735689601'),
      post(right, { url: '/dlr/other' }),
      post(right, { rawBody: Buffer.from(`${BODY} `) }),
      post(right, { method: 'GET' }),
      post(right, { receivedAt: Number(AT) * 1_000 + 4 * 86_400_000 }),
      post(sign(`${ORIGIN}/dlr/bird`, BODY, 'the-key-of-another-app')),
      post(undefined),
      { ...post(right), headers: { 'messagebird-signature': right } },
    ]);
    expect(first).toBe(true);
    expect(others).not.toContain(true);
  });

  it.each([
    ['signingKey', { origin: ORIGIN, signingKey: 'hunter2' }],
    ['origin', { origin: 'hunter2', signingKey: KEY }],
  ])('a wrong %s is named without its value', (option, options) => {
    const make = () => birdSignature(options);
    expect(make).toThrow(new RegExp(`^birdSignature\\.${option}: `));
    expect(make).not.toThrow(/hunter2/);
  });
});
