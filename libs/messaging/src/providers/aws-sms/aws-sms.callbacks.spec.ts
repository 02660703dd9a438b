import { describe, expect, it } from '@jest/globals';
import { callbackRequest } from '../../../../../test/support/callback-request.js';
import { eventOf, notificationOf } from '../../../../../test/support/providers/aws-sms-server.js';
import { awsSmsParser } from './aws-sms.js';

const TO = '2348012345678';
const ID = '862a8790-60c0-4430-9b2b-658bd0000001';
const parse = (body: unknown) => awsSmsParser().parse(callbackRequest({ body }));
const none = { reports: [], messages: [], errors: [] };

describe('awsSmsParser', () => {
  const event = eventOf('TEXT_DELIVERED', ID, TO, 'batch-s0');
  const report = {
    submissionId: 'batch-s0',
    reference: null,
    messageId: ID,
    recipient: TO,
    status: 'delivered',
    rawStatus: 'TEXT_DELIVERED',
    errorCode: null,
    providerTime: new Date('2026-01-01T00:00:00Z'),
  };

  it.each([
    ['a notification of SNS', notificationOf(event)],
    ['a notification as text', JSON.stringify(notificationOf(event))],
    ['an event of EventBridge', { source: 'aws.sms-voice', detail: event }],
    ['a bare event', event],
  ])('%s names the submission by its context', (_, body) => {
    expect(parse(body)).toEqual({ reports: [report], messages: [], errors: [] });
  });

  it('an event without context and number names the message alone', () => {
    const { context: _, destinationPhoneNumber: __, ...detail } = event;
    const { submissionId: ___, ...bare } = report;
    expect(parse({ detail }).reports).toEqual([{ ...bare, recipient: null }]);
  });

  it('every type of event is mapped', () => {
    const statuses = {
      TEXT_QUEUED: 'sent',
      TEXT_PENDING: 'sent',
      TEXT_SENT: 'sent',
      TEXT_SUCCESSFUL: 'sent',
      TEXT_UNKNOWN: 'sent',
      TEXT_DELIVERED: 'delivered',
      TEXT_TTL_EXPIRED: 'expired',
      TEXT_INVALID: 'undelivered',
      TEXT_UNREACHABLE: 'undelivered',
      TEXT_CARRIER_UNREACHABLE: 'undelivered',
      TEXT_BLOCKED: 'rejected',
      TEXT_CARRIER_BLOCKED: 'rejected',
      TEXT_PROTECT_BLOCKED: 'rejected',
      TEXT_SPAM: 'rejected',
      TEXT_INVALID_MESSAGE: 'rejected',
      TEXT_NEW: null,
    };
    const read = Object.keys(statuses).map((type) => [
      type,
      parse(eventOf(type, ID, TO)).reports?.[0]?.status,
    ]);
    expect(Object.fromEntries(read)).toEqual(statuses);
  });

  it('what people write is a message, also from a short code', () => {
    const inbound = {
      originationNumber: `+${TO}`,
      destinationNumber: '+2348000000001',
      messageKeyword: 'KEYWORD_1',
      messageBody: 'STOP',
      inboundMessageId: 'm-1',
      previousPublishedMessageId: ID,
    };
    const message = {
      messageId: 'm-1',
      channel: 'sms',
      from: TO,
      bsuid: null,
      to: '2348000000001',
      text: 'STOP',
      repliesTo: ID,
      sentAt: null,
    };
    const notification = { ...notificationOf(inbound), Timestamp: '2026-11-28T10:00:00.000Z' };
    const sentAt = new Date(notification.Timestamp);
    expect(parse(notification)).toEqual({ ...none, messages: [{ ...message, sentAt }] });
    expect(parse({ ...inbound, originationNumber: '21512' }).messages).toEqual([
      { ...message, from: '21512' },
    ]);
  });

  it('confirmations, other notifications, and events of calls and media are skipped', () => {
    const confirmation = {
      Type: 'SubscriptionConfirmation',
      Message: 'You have chosen',
      Token: 't',
    };
    expect(parse(confirmation)).toEqual(none);
    for (const other of ['1', '"text"', 'null', '{"a":1}', '[]'])
      expect(parse({ Type: 'Notification', Message: other })).toEqual(none);
    expect(parse(eventOf('VOICE_COMPLETED', ID, TO))).toEqual(none);
  });
});
