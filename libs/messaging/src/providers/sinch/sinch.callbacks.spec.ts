import { describe, expect, it } from '@jest/globals';
import { callbackRequest, proven } from '../../../../../test/support/callback-request.js';
import type { CallbackRequest } from '../../ports/callback-parser.js';
import { sinchParser, sinchSignature } from './sinch.js';

const TO = '2348012345678';
const FROM = '2348000000001';
const parse = (body: unknown) => sinchParser().parse(callbackRequest({ body }));

describe('sinchParser', () => {
  const report = (status: string, code = 0) => ({
    type: 'recipient_delivery_report_sms',
    at: '2025-01-13T09:22:40.914Z',
    batch_id: '01JHFFHQ0P99JPPNQPJDV7JTBP',
    client_reference: 'batch-s0',
    code,
    operator_status_at: '2025-01-13T09:22:00Z',
    recipient: TO,
    status,
  });

  it('the report of a recipient names the submission', () => {
    expect(parse(report('Delivered'))).toEqual({
      reports: [
        {
          submissionId: 'batch-s0',
          reference: '01JHFFHQ0P99JPPNQPJDV7JTBP',
          messageId: '01JHFFHQ0P99JPPNQPJDV7JTBP',
          recipient: TO,
          status: 'delivered',
          rawStatus: 'Delivered',
          errorCode: null,
          providerTime: new Date('2025-01-13T09:22:00Z'),
        },
      ],
      messages: [],
      errors: [],
    });
  });

  it('every status is mapped, and the codes of a way are no errors', () => {
    const words: readonly (readonly [string, number])[] = [
      ['Queued', 400],
      ['Dispatched', 401],
      ['Unknown', 0],
      ['Delivered', 0],
      ['Expired', 406],
      ['Failed', 27],
      ['Deleted', 5],
      ['Rejected', 402],
      ['Aborted', 407],
      ['Cancelled', 407],
      ['New', 0],
    ];
    const read = words.map(([word, code]) => parse(report(word, code)).reports?.[0]);
    expect(read.map((one) => one?.status)).toEqual([
      'sent',
      'sent',
      'sent',
      'delivered',
      'expired',
      'undelivered',
      'undelivered',
      'rejected',
      'failed',
      'failed',
      null,
    ]);
    expect(read.map((one) => one?.errorCode)).toEqual([
      null,
      null,
      null,
      null,
      '406',
      '27',
      '5',
      '402',
      '407',
      '407',
      null,
    ]);
  });

  it('an SMS and an MMS are messages, also from a short code or a name', () => {
    const sms = {
      type: 'mo_text',
      id: 'm-1',
      from: TO,
      to: FROM,
      body: 'STOP',
      received_at: '2016-07-19T13:09:02.972Z',
    };
    const message = {
      messageId: 'm-1',
      channel: 'sms',
      from: TO,
      bsuid: null,
      to: FROM,
      text: 'STOP',
      sentAt: new Date('2016-07-19T13:09:02.972Z'),
    };
    expect(parse(sms).messages).toEqual([message]);
    const media = { ...sms, type: 'mo_media', body: { subject: 'Hi', message: 'STOP', media: [] } };
    expect(parse(media).messages).toEqual([message]);
    for (const from of ['21512', 'My Bank'])
      expect(parse({ ...sms, from }).messages).toEqual([{ ...message, from }]);
  });

  it('reports of batches and binary messages are skipped', () => {
    const none = { reports: [], messages: [], errors: [] };
    const statuses = [{ code: 0, count: 1, status: 'Delivered', recipients: [TO] }];
    expect(parse({ type: 'delivery_report_sms', batch_id: 'b', statuses })).toEqual(none);
    const binary = { type: 'mo_binary', id: 'm', from: TO, to: FROM, body: 'AAE=', udh: '00' };
    expect(parse(binary)).toEqual(none);
  });
});

describe('sinchSignature', () => {
  // Of the tests of Sinch's SDK for Node.
  const SECRET = 'SMSWebhooksSecret';
  const BODY =
    '{"at":"2025-01-13T09:22:40.914Z","batch_id":"01JHFFHQ0P99JPPNQPJDV7JTBP","client_reference":"a client reference","code":0,"operator_status_at":"2025-01-13T09:22:00Z","recipient":"33662162466","status":"Delivered","type":"recipient_delivery_report_sms"}';
  const HEADERS = {
    'x-sinch-webhook-signature': 'ZoHei66PPN/kZjw7hFVfGhJOnml3iGNCMWoyQVcE5o0=',
    'x-sinch-webhook-signature-algorithm': 'HmacSHA256',
    'x-sinch-webhook-signature-nonce': '01JHFFHWYY7HSS4FWTMDTQEK8V',
    'x-sinch-webhook-signature-timestamp': '1736760161',
  };
  const post = (headers: object = {}, changes: Partial<CallbackRequest> = {}) => ({
    headers: { ...HEADERS, ...headers },
    rawBody: Buffer.from(BODY),
    receivedAt: 1_736_760_200_000,
    ...changes,
  });

  it("the signature of Sinch's own example is good, and covers body, nonce and time", async () => {
    const requests = [
      post(),
      post({ 'x-sinch-webhook-signature-nonce': 'other' }),
      post({ 'x-sinch-webhook-signature-timestamp': '1736760162' }),
      post({ 'x-sinch-webhook-signature': undefined }),
      post({ 'x-sinch-webhook-signature-nonce': undefined }),
      post({}, { rawBody: Buffer.from(BODY.replace('Delivered', 'Failed')) }),
      post({}, { method: 'GET' }),
      post({}, { receivedAt: 1_736_760_200_000 + 4 * 86_400_000 }),
    ];
    const [first, ...others] = await proven(sinchSignature(SECRET), requests);
    expect(first).toBe(true);
    expect(others).not.toContain(true);
    expect(await proven(sinchSignature(['another-secret-of-it', SECRET]), [post()])).toEqual([
      true,
    ]);
    expect(await proven(sinchSignature('another-secret-of-it'), [post()])).toEqual([false]);
  });

  it('a short secret is refused without its value', () => {
    expect(() => sinchSignature('hunter2')).toThrow(/^sinchSignature: (?!.*hunter2)/);
  });
});
