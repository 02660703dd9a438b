import { describe, expect, it } from '@jest/globals';
import { callbackRequest } from '../../../../../test/support/callback-request.js';
import { telnyxParser } from './telnyx.js';

const TO = '2348012345678';
const FROM = '2348000000001';
const ID = 'ac012cbf-5e09-46af-a69a-7c0e2d90993c';

const parse = (event_type: string, payload: object) => {
  const data = { event_type, id: 'e-1', occurred_at: '2024-01-15T21:32:14.148+00:00', payload };
  return telnyxParser().parse(callbackRequest({ body: { data, meta: { attempt: 1 } } }));
};
const outbound = (status: string, more: object = {}) => ({
  direction: 'outbound',
  id: ID,
  type: 'SMS',
  from: { phone_number: `+${FROM}` },
  to: [{ phone_number: `+${TO}`, status }],
  text: 'STOP',
  errors: [],
  ...more,
});
const inbound = (more: object = {}) => ({
  direction: 'inbound',
  id: ID,
  type: 'SMS',
  from: { phone_number: `+${TO}`, carrier: 'MTN' },
  to: [{ phone_number: `+${FROM}`, status: 'webhook_delivered' }],
  text: 'STOP',
  media: [],
  received_at: '2024-01-15T20:16:07.503+00:00',
  ...more,
});

describe('telnyxParser', () => {
  it('a finalized message is a report, with its error', () => {
    const errors = [{ code: '40008', title: 'Undeliverable' }];
    expect(parse('message.finalized', outbound('delivery_failed', { errors }))).toEqual({
      reports: [
        {
          reference: null,
          messageId: ID,
          recipient: TO,
          status: 'undelivered',
          rawStatus: 'delivery_failed',
          errorCode: '40008',
          providerTime: new Date('2024-01-15T21:32:14.148Z'),
        },
      ],
      messages: [],
      errors: [],
    });
  });

  it('every status is mapped, and an unknown one kept raw', () => {
    const words = [
      'queued',
      'sending',
      'sent',
      'delivery_unconfirmed',
      'delivered',
      'expired',
      'delivery_failed',
      'sending_failed',
      'cancelled',
      'webhook_delivered',
    ];
    const read = words.map((word) => parse('message.sent', outbound(word)).reports?.[0]?.status);
    expect(read).toEqual([
      'sent',
      'sent',
      'sent',
      'sent',
      'delivered',
      'expired',
      'undelivered',
      'failed',
      'failed',
      null,
    ]);
  });

  it('a received SMS or MMS is a message, also from a short code or a name', () => {
    const message = {
      messageId: ID,
      channel: 'sms',
      from: TO,
      bsuid: null,
      to: FROM,
      text: 'STOP',
      sentAt: new Date('2024-01-15T20:16:07.503Z'),
    };
    const read = (more?: object) => parse('message.received', inbound(more)).messages;
    expect(read()).toEqual([message]);
    expect(read({ type: 'MMS', text: '' })).toEqual([{ ...message, text: null }]);
    for (const phone_number of ['21512', 'My Bank'])
      expect(read({ from: { phone_number } })).toEqual([{ ...message, from: phone_number }]);
    expect(read({ type: 'RCS' })).toEqual([]);
  });

  it('other events are skipped', () => {
    const none = { reports: [], messages: [], errors: [] };
    expect(parse('call.answered', { call_control_id: 'c-1' })).toEqual(none);
    expect(parse('message.link_click', { id: ID, to: `+${TO}` })).toEqual(none);
  });
});
