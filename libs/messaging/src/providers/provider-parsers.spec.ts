import { describe, expect, it } from '@jest/globals';
import type { CallbackParser } from '../ports/callback-parser.js';
import { callbackRequest } from '../../../../test/support/callback-request.js';
import { africasTalkingParser } from './africas-talking/africas-talking.js';
import { clickatellParser } from './clickatell/clickatell.js';
import { infobipParser } from './infobip/infobip.js';
import { plivoParser } from './plivo/plivo.js';
import { termiiParser } from './termii/termii.js';
import { twilioParser } from './twilio/twilio.js';
import { vonageParser } from './vonage/vonage.js';

const TO = '2348012345678';
const form = (text: string) => Object.fromEntries(new URLSearchParams(text));
const read = (parser: CallbackParser, body: unknown) => {
  const { reports = [], errors } = parser.parse(callbackRequest({ body }));
  return { reports, errors };
};

/** The status that the parser reads from each word, in an otherwise whole payload. */
function statuses(parser: CallbackParser, payload: (word: string) => unknown, words: string) {
  return words
    .split('|')
    .map((word) => read(parser, payload(word)).reports[0]?.status ?? null)
    .join('|');
}

describe('Twilio', () => {
  const payload = (word: string) => ({
    AccountSid: 'AC00000000000000000000000000000000',
    ApiVersion: '2010-04-01',
    From: '+15005550006',
    MessageSid: 'SM0000000000000000000000000000000a',
    MessageStatus: word,
    SmsSid: 'SM0000000000000000000000000000000a',
    SmsStatus: word,
    To: `+${TO}`,
  });

  it('a status callback is read', () => {
    const body = form(`${new URLSearchParams(payload('undelivered')).toString()}&ErrorCode=30003`);
    expect(read(twilioParser(), body)).toEqual({
      reports: [
        {
          reference: null,
          messageId: 'SM0000000000000000000000000000000a',
          recipient: TO,
          status: 'undelivered',
          rawStatus: 'undelivered',
          errorCode: '30003',
          providerTime: null,
        },
      ],
      errors: [],
    });
  });

  it('every status is mapped', () => {
    const words =
      'accepted|scheduled|queued|sending|sent|delivered|read|undelivered|failed|canceled|receiving';
    expect(statuses(twilioParser(), payload, words)).toBe(
      'sent|sent|sent|sent|sent|delivered|read|undelivered|failed|failed|',
    );
  });
});

describe('Vonage', () => {
  const payload = (status: string) => ({
    msisdn: TO,
    to: 'ACME',
    'network-code': '62130',
    messageId: '0B00000127FDBC63',
    price: '0.03330000',
    status,
    scts: '1810251310',
    'err-code': '0',
    'api-key': 'abcd1234',
    'message-timestamp': '2018-10-25 12:10:29',
  });

  it('a receipt of the SMS API is read as JSON and query', () => {
    const report = {
      reference: null,
      messageId: '0B00000127FDBC63',
      recipient: TO,
      status: 'delivered',
      rawStatus: 'delivered',
      errorCode: null,
      providerTime: new Date('2018-10-25T12:10:29Z'),
    };
    expect(read(vonageParser(), payload('delivered')).reports).toEqual([report]);
    const query = form(new URLSearchParams(payload('delivered')).toString());
    expect(vonageParser().parse(callbackRequest({ method: 'GET', query })).reports).toEqual([
      report,
    ]);
  });

  it('a status callback of the Messages API is read', () => {
    const body = {
      message_uuid: 'aaaaaaaa-bbbb-cccc-dddd-0123456789ab',
      to: TO,
      from: 'ACME',
      timestamp: '2023-05-01T14:00:00.000Z',
      status: 'rejected',
      error: { type: 'https://developer.vonage.com/api-errors/messages#1000', title: '1000' },
    };
    expect(read(vonageParser(), body).reports).toMatchObject([
      {
        messageId: 'aaaaaaaa-bbbb-cccc-dddd-0123456789ab',
        recipient: TO,
        status: 'rejected',
        errorCode: '1000',
        providerTime: new Date('2023-05-01T14:00:00Z'),
      },
    ]);
  });

  it('every status is mapped and an unknown one kept raw', () => {
    const words = 'accepted|buffered|delivered|expired|failed|rejected|unknown|submitted|read';
    expect(statuses(vonageParser(), payload, words)).toBe(
      'sent|sent|delivered|expired|failed|rejected||sent|read',
    );
  });
});

describe('Infobip', () => {
  const result = (groupName: string, name: string) => ({
    bulkId: 'BULK-ID-123-xyz',
    messageId: 'MESSAGE-ID-123-xyz',
    to: TO,
    sentAt: '2019-11-09T16:00:00.000+0000',
    doneAt: '2019-11-09T16:00:00.250+0000',
    smsCount: 1,
    price: { pricePerMessage: 0.01, currency: 'EUR' },
    status: { groupId: 3, groupName, id: 5, name, description: 'Message delivered to handset' },
    error: { groupId: 0, groupName: 'OK', id: 0, name: 'NO_ERROR', permanent: false },
  });

  it('all results of a callback are read', () => {
    const other = {
      ...result('UNDELIVERABLE', 'UNDELIVERABLE_NOT_DELIVERED'),
      messageId: 'B',
      error: { groupId: 1, groupName: 'HANDSET_ERRORS', id: 27, name: 'EC_ABSENT_SUBSCRIBER' },
    };
    const results = [result('DELIVERED', 'DELIVERED_TO_HANDSET'), { to: TO }, other];
    const { reports, errors } = read(infobipParser(), { results });
    expect(reports).toEqual([
      {
        reference: 'BULK-ID-123-xyz',
        messageId: 'MESSAGE-ID-123-xyz',
        recipient: TO,
        status: 'delivered',
        rawStatus: 'DELIVERED',
        errorCode: null,
        providerTime: new Date('2019-11-09T16:00:00.250Z'),
      },
      expect.objectContaining({
        messageId: 'B',
        status: 'undelivered',
        errorCode: 'EC_ABSENT_SUBSCRIBER',
      }),
    ]);
    expect(errors).toEqual(['entry 1: names no message']);
  });

  it('the status group decides, and delivery to the operator is sent', () => {
    const of = (group: string, name: string) =>
      read(infobipParser(), { results: [result(group, name)] }).reports[0]?.status;
    expect([
      of('PENDING', 'PENDING_ENROUTE'),
      of('DELIVERED', 'DELIVERED_TO_OPERATOR'),
      of('EXPIRED', 'EXPIRED_EXPIRED'),
      of('REJECTED', 'REJECTED_NETWORK'),
      of('NEW_GROUP', 'NEW_NAME'),
    ]).toEqual(['sent', 'sent', 'expired', 'rejected', null]);
  });
});

describe("Africa's Talking", () => {
  const payload = (status: string) =>
    form(`id=ATXid_1234&status=${status}&phoneNumber=%2B${TO}&networkCode=62130&retryCount=0`);

  it('a delivery report is read', () => {
    const body = { ...payload('Rejected'), failureReason: 'UserInBlackList' };
    expect(read(africasTalkingParser(), body).reports).toEqual([
      {
        reference: null,
        messageId: 'ATXid_1234',
        recipient: TO,
        status: 'rejected',
        rawStatus: 'Rejected',
        errorCode: 'UserInBlackList',
        providerTime: null,
      },
    ]);
  });

  it('every status is mapped', () => {
    const words = 'Sent|Submitted|Buffered|Rejected|Success|Failed|AbsentSubscriber|Expired|New';
    expect(statuses(africasTalkingParser(), payload, words)).toBe(
      'sent|sent|sent|rejected|delivered|undelivered|undelivered|expired|',
    );
  });
});

describe('Termii', () => {
  const payload = (status: string) => ({
    type: 'outbound',
    message_id: '5964465985113503103',
    receiver: TO,
    sender: 'N-Alert',
    message: 'Your confirmation code is 234u53.',
    sent_at: '2020-12-16 11:34:36',
    cost: '3.9',
    command: 'deliver',
    status,
    channel: 'Number Api',
  });

  it('an outbound event is read', () => {
    const { reports } = read(termiiParser(), payload('DELIVERED | Message delivered to handset'));
    expect(reports).toEqual([
      {
        reference: null,
        messageId: '5964465985113503103',
        recipient: TO,
        status: 'delivered',
        rawStatus: 'DELIVERED',
        errorCode: null,
        providerTime: null,
      },
    ]);
  });

  it('every status is mapped and inbound events skipped', () => {
    const words = 'Message Sent|Delivered|Message Failed|DND Active on Phone Number|New';
    expect(statuses(termiiParser(), payload, words)).toBe('sent|delivered|failed|rejected|');
    expect(read(termiiParser(), { ...payload('Received'), type: 'inbound' }).reports).toEqual([]);
  });
});

describe('Plivo', () => {
  const payload = (status: string) =>
    form(
      `MessageUUID=db3ce55a-7f1d-11e1-8ea7-1231380bc196&To=${TO}&From=ACME&Type=sms&Status=${status}` +
        '&Units=1&TotalRate=0.0065&TotalAmount=0.0065&MCC=621&MNC=30&ErrorCode=000&Sequence=2' +
        '&DeliveryReportTime=2021-01-01+10:00:00.000000',
    );

  it('a status callback is read', () => {
    expect(read(plivoParser(), payload('delivered')).reports).toEqual([
      {
        reference: null,
        messageId: 'db3ce55a-7f1d-11e1-8ea7-1231380bc196',
        recipient: TO,
        status: 'delivered',
        rawStatus: 'delivered',
        errorCode: null,
        providerTime: null,
      },
    ]);
    expect(
      read(plivoParser(), { ...payload('undelivered'), ErrorCode: '30' }).reports,
    ).toMatchObject([{ status: 'undelivered', errorCode: '30' }]);
  });

  it('every status is mapped', () => {
    const words = 'queued|sent|failed|delivered|undelivered|rejected|read|new';
    expect(statuses(plivoParser(), payload, words)).toBe(
      'sent|sent|failed|delivered|undelivered|rejected|read|',
    );
  });
});

describe('Clickatell', () => {
  const payload = (status: string) => ({
    integrationName: 'acme',
    messageId: '7a8b0cf0e1f04b16a3d4c8f0a9c7e001',
    requestId: 'r1',
    clientMessageId: null,
    to: TO,
    from: 'ACME',
    statusCode: 23,
    status,
    statusDescription: 'Error delivering message',
    timestamp: 1_505_820_180_000,
  });

  it('a callback of the REST API is read', () => {
    expect(read(clickatellParser(), payload('DELIVERY_FAILURE')).reports).toEqual([
      {
        reference: null,
        messageId: '7a8b0cf0e1f04b16a3d4c8f0a9c7e001',
        recipient: TO,
        status: 'undelivered',
        rawStatus: 'DELIVERY_FAILURE',
        errorCode: '23',
        providerTime: new Date(1_505_820_180_000),
      },
    ]);
  });

  it('a list of One API without recipients is read', () => {
    const update = {
      channel: 'sms',
      messageId: 'm-1',
      clientMessageId: 'c-1',
      timestamp: 1_505_820_180_000,
      statusCode: 5,
      status: 'DEVICE_ACK',
    };
    const body = { integrationId: 'i', event: { messageStatusUpdate: [update, update] } };
    expect(read(clickatellParser(), body).reports).toMatchObject([
      { messageId: 'm-1', recipient: null, status: 'delivered', errorCode: null },
      { messageId: 'm-1' },
    ]);
  });

  it('the status table is mapped and an unknown status kept raw', () => {
    const words =
      'UNKNOWN|QUEUED|SCHEDULED|SENT_TO_SUPPLIER|DEVICE_ACK|READ|EXPIRED|STOPPED_BY_USER|' +
      'INSUFFICIENT_ACCOUNT_BALANCE|VOLUME_LIMIT_DAILY|RECIPIENT_DOES_NOT_EXIST|ROUTING_ERROR';
    expect(statuses(clickatellParser(), payload, words)).toBe(
      '|sent|sent|sent|delivered|read|expired|rejected|rejected|rejected|undelivered|failed',
    );
  });
});
