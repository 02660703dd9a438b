import { describe, expect, it } from '@jest/globals';
import { consentWords } from '../contacts/consent-words.js';
import type { CallbackParser } from '../ports/callback-parser.js';
import { callbackRequest } from '../../../../test/support/callback-request.js';
import { africasTalkingParser } from './africas-talking/africas-talking.js';
import { clickatellParser } from './clickatell/clickatell.js';
import { infobipParser } from './infobip/infobip.js';
import { kannelInboundParser } from './kannel/kannel-callbacks.js';
import { plivoParser } from './plivo/plivo.js';
import { termiiParser } from './termii/termii.js';
import { twilioParser } from './twilio/twilio.js';
import { vonageParser } from './vonage/vonage.js';

const FROM = '2348012345678';
const TO = '2348000000001';
const form = (fields: Record<string, string>) =>
  Object.fromEntries(new URLSearchParams(new URLSearchParams(fields).toString()));
/** Without what provider-contents.spec.ts reads. */
const read = (parser: CallbackParser, body: unknown) => {
  const { messages = [], errors } = parser.parse(callbackRequest({ body }));
  expect(errors).toEqual([]);
  return messages.map((one) => {
    const { content: _, profileName: __, repliesTo: ___, ...message } = one;
    return message;
  });
};
const reportsIn = (parser: CallbackParser, body: unknown) =>
  parser.parse(callbackRequest({ body })).reports;
const consentOf = consentWords();
const message = (more: object = {}) => ({
  messageId: 'm-1',
  channel: 'sms',
  from: FROM,
  bsuid: null,
  to: TO,
  text: 'STOP',
  sentAt: null,
  ...more,
});

describe('Twilio', () => {
  const SID = 'SM0000000000000000000000000000000a';
  const sms = form({
    ToCountry: 'NG',
    SmsMessageSid: SID,
    NumMedia: '0',
    SmsSid: SID,
    SmsStatus: 'received',
    FromCountry: 'NG',
    Body: 'STOP',
    To: `+${TO}`,
    NumSegments: '1',
    MessageSid: SID,
    AccountSid: 'AC00000000000000000000000000000000',
    From: `+${FROM}`,
    ApiVersion: '2010-04-01',
  });
  const whatsApp = {
    ...sms,
    ProfileName: 'Ada',
    WaId: FROM,
    From: `whatsapp:+${FROM}`,
    To: `whatsapp:+${TO}`,
  };

  it('the Twilio parser reads an SMS', () => {
    expect(read(twilioParser(), sms)).toEqual([message({ messageId: SID })]);
  });

  it('the Twilio parser reads WhatsApp by the address prefix', () => {
    expect(read(twilioParser(), whatsApp)).toEqual([
      message({ messageId: SID, channel: 'whatsapp' }),
    ]);
    const media = { ...whatsApp, Body: '', NumMedia: '1', MediaContentType0: 'image/jpeg' };
    expect(read(twilioParser(), media)).toMatchObject([{ text: null }]);
  });

  it('the Twilio parser reads an MMS without a text as a message', () => {
    const body =
      'SmsStatus=received&NumMedia=1&MediaUrl0=https%3A%2F%2Fmedia.example%2F1&From=%2B14130000001&To=%2B12020000001&MessageSid=SM1';
    const mms = Object.fromEntries(new URLSearchParams(body));
    expect(twilioParser().parse(callbackRequest({ body: mms }))).toEqual({
      reports: [],
      messages: [
        message({
          messageId: 'SM1',
          from: '14130000001',
          to: '12020000001',
          text: null,
          content: expect.objectContaining({ kind: 'media' }),
        }),
      ],
      errors: [],
    });
  });

  it('the Twilio parser knows WhatsApp by the prefix of one end, and a sender by the user id', () => {
    const bare = { ...whatsApp, From: `+${FROM}` };
    const expected = message({ messageId: SID, channel: 'whatsapp' });
    expect(read(twilioParser(), bare)).toEqual([expected]);
    const bsuid = 'NG.13491208655302741918';
    const { From: _, ...nameless } = whatsApp;
    for (const more of [
      { ExternalUserId: bsuid },
      { ExternalUserId: `whatsapp:${bsuid}` },
      { From: `whatsapp:${bsuid}` },
    ])
      expect(read(twilioParser(), { ...nameless, ...more })).toEqual([
        { ...expected, from: null, bsuid },
      ]);
    expect(read(twilioParser(), { ...bare, ExternalUserId: bsuid })).toEqual([
      { ...expected, bsuid },
    ]);
  });

  it('the Twilio parser reads buttons, rows and forms of WhatsApp', () => {
    const texts = [
      { ButtonText: 'STOP' },
      { ListTitle: 'STOP' },
      { InteractiveData: '{"a":1}' },
    ].map((more) => read(twilioParser(), { ...whatsApp, Body: '', ...more })[0]?.text);
    expect(texts).toEqual(['STOP', 'STOP', '{"a":1}']);
  });

  it('the Twilio parser knows a message by its status, and what opens no window', () => {
    const optional = ['Body', 'NumMedia', 'NumSegments', 'SmsMessageSid'];
    const bare = Object.fromEntries(
      Object.entries(whatsApp).filter(([name]) => !optional.includes(name)),
    );
    const given = (more: object) =>
      read(twilioParser(), { ...bare, ...more }).map(({ text, opensWindow = true }) => [
        text,
        opensWindow,
      ]);
    expect(given({ MessageType: 'contacts' })).toEqual([[null, true]]);
    expect(given({ MessageType: 'interactive', ListTitle: 'STOP' })).toEqual([['STOP', true]]);
    expect(given({ MessageType: 'unsupported' })).toEqual([[null, false]]);
    expect(given({ MessageType: 'reaction', Body: '👍' })).toEqual([['👍', true]]);
    expect(given({ MessageType: 'reaction' })).toEqual([]);
    expect(given({ MessageType: 'reaction', Body: '' })).toEqual([]);
    expect(reportsIn(twilioParser(), { ...bare, MessageType: 'unsupported' })).toEqual([]);
  });

  it("the Twilio parsers skip each other's callbacks", () => {
    const status = form({ MessageSid: SID, MessageStatus: 'delivered', To: `+${TO}`, From: 'A' });
    expect(read(twilioParser(), { ...sms, From: 'messenger:1234567890' })).toEqual([]);
    expect(read(twilioParser(), status)).toEqual([]);
    expect(reportsIn(twilioParser(), sms)).toEqual([]);
    expect(reportsIn(twilioParser(), status)).toHaveLength(1);
  });
});

describe('Vonage', () => {
  const sms = {
    'api-key': 'abcd1234',
    msisdn: FROM,
    to: TO,
    messageId: '0A0000000123ABCD1',
    text: 'STOP',
    type: 'text',
    keyword: 'STOP',
    'message-timestamp': '2020-01-01 12:00:00',
    timestamp: '1577880000',
  };

  it('the Vonage parser reads the SMS API as JSON and query', () => {
    const expected = message({
      messageId: '0A0000000123ABCD1',
      sentAt: new Date('2020-01-01T12:00:00Z'),
    });
    expect(read(vonageParser(), sms)).toEqual([expected]);
    expect(
      vonageParser().parse(callbackRequest({ method: 'GET', query: form(sms) })).messages,
    ).toEqual([expected]);
  });

  it('the Vonage parser reads the Messages API', () => {
    const v1 = {
      channel: 'whatsapp',
      message_uuid: 'aaaaaaaa-bbbb-4ccc-8ddd-0123456789ab',
      to: TO,
      from: FROM,
      timestamp: '2020-01-01T14:00:00.000Z',
      message_type: 'text',
      text: 'STOP',
      profile: { name: 'Ada' },
    };
    const expected = message({
      messageId: v1.message_uuid,
      channel: 'whatsapp',
      sentAt: new Date('2020-01-01T14:00:00Z'),
    });
    expect(read(vonageParser(), v1)).toEqual([expected]);
    expect(read(vonageParser(), { ...v1, from: 'NG.13491208655302741918' })).toEqual([
      { ...expected, from: null, bsuid: 'NG.13491208655302741918' },
    ]);
    const v01 = {
      message_uuid: v1.message_uuid,
      from: { type: 'whatsapp', number: FROM },
      to: { type: 'whatsapp', number: TO },
      timestamp: v1.timestamp,
      message: { content: { type: 'text', text: 'STOP' } },
    };
    expect(read(vonageParser(), v01)).toEqual([expected]);
    for (const body of [v1, v01, sms]) expect(reportsIn(vonageParser(), body)).toEqual([]);
  });

  it('the Vonage parser reads captions, and what opens no window', () => {
    const given = (more: object) => {
      const base = { channel: 'whatsapp', message_uuid: 'm-1', to: TO, from: FROM };
      return read(vonageParser(), { ...base, ...more }).map(({ text, opensWindow = true }) => [
        text,
        opensWindow,
      ]);
    };
    const caption = { url: 'https://example.com/i', caption: 'STOP' };
    expect(given({ message_type: 'image', image: caption })).toEqual([['STOP', true]]);
    const content = { type: 'video', video: caption };
    expect(given({ message: { content } })).toEqual([['STOP', true]]);
    expect(given({ message_type: 'button', button: { payload: 'x', text: 'STOP' } })).toEqual([
      ['STOP', true],
    ]);
    const reply = { id: 'row1', title: 'STOP', description: 'No more offers' };
    expect(given({ message_type: 'reply', reply })).toEqual([['STOP', true]]);
    expect(given({ message_type: 'unsupported' })).toEqual([[null, false]]);
    const reaction = (more: object) => given({ message_type: 'reaction', reaction: more });
    expect(reaction({ action: 'react', emoji: '👍' })).toEqual([[null, true]]);
    expect(reaction({ action: 'unreact', emoji: '👍' })).toEqual([]);
    expect(reaction({})).toEqual([]);
  });

  it('the Vonage parser skips receipts and other channels', () => {
    const receipt = { msisdn: FROM, to: 'ACME', messageId: 'x', status: 'delivered' };
    expect(read(vonageParser(), { ...sms, channel: 'viber_service' })).toEqual([]);
    expect(read(vonageParser(), receipt)).toEqual([]);
  });
});

describe('Infobip', () => {
  const receivedAt = '2019-11-09T16:00:00.000+0000';
  const sms = {
    messageId: 'm-1',
    from: FROM,
    to: TO,
    text: 'STOP it',
    cleanText: 'it',
    keyword: 'STOP',
    receivedAt,
    smsCount: 1,
    price: { pricePerMessage: 0, currency: 'EUR' },
    callbackData: 'callbackData',
  };
  const whatsApp = {
    from: FROM,
    to: TO,
    integrationType: 'WHATSAPP',
    receivedAt,
    messageId: 'wamid.1',
    pairedMessageId: null,
    callbackData: null,
    message: { type: 'TEXT', text: 'STOP' },
    contact: { name: 'Ada' },
    price: { pricePerMessage: 0, currency: 'EUR' },
  };

  it('the Infobip parser reads SMS and WhatsApp results', () => {
    const image = { ...whatsApp, message: { type: 'IMAGE', url: 'https://example.com/i' } };
    const results = [sms, whatsApp, image];
    const sentAt = new Date(receivedAt.replace('+0000', 'Z'));
    expect(read(infobipParser(), { results, messageCount: 3 })).toEqual([
      message({ text: 'STOP it', sentAt }),
      message({ messageId: 'wamid.1', channel: 'whatsapp', sentAt }),
      message({ messageId: 'wamid.1', channel: 'whatsapp', text: null, sentAt }),
    ]);
    expect(reportsIn(infobipParser(), { results })).toEqual([]);
  });

  it('the Infobip parser joins the texts of an MMS, and reads captions, buttons and forms', () => {
    const parts = [
      { contentType: 'image/png', url: 'https://example.com/i' },
      { contentType: 'text/plain', value: 'STOP' },
      { contentType: 'text/plain; charset=utf-8', value: 'now' },
    ];
    const texts = [
      { ...sms, text: undefined, message: parts.slice(0, 2) },
      { ...sms, text: undefined, message: parts },
      { ...sms, text: undefined, message: parts.slice(0, 1) },
      { ...whatsApp, message: { type: 'IMAGE', url: 'https://example.com/i', caption: 'STOP' } },
      { ...whatsApp, message: { type: 'INTERACTIVE_LIST_REPLY', id: '1', title: 'STOP' } },
      { ...whatsApp, message: { type: 'BUTTON', text: 'STOP', payload: 'x' } },
      {
        ...whatsApp,
        message: { type: 'INTERACTIVE_FLOW_REPLY', text: 'Sent', response: { a: 1 } },
      },
    ].map((result) => read(infobipParser(), { results: [result] })[0]?.text);
    expect(texts).toEqual(['STOP', 'STOP\nnow', null, 'STOP', 'STOP', 'STOP', '{"a":1}']);
    const arret = {
      ...sms,
      text: undefined,
      message: [{ contentType: 'text/plain', value: 'Arrêt' }],
    };
    const [answer] = read(infobipParser(), { results: [arret] });
    expect(consentOf(answer?.text ?? '')).toBe('opted_out');
  });

  it('the Infobip parser knows what opens no window', () => {
    const kinds = [
      { message: { type: 'UNSUPPORTED' } },
      { message: { type: 'TEXT', text: 'to all' }, groupId: 'g' },
      { message: { type: 'REACTION', emoji: '👍' } },
      { message: { type: 'REACTION' } },
    ].map((more) => read(infobipParser(), { results: [{ ...whatsApp, ...more }] }));
    expect(kinds.map((all) => all.map(({ opensWindow = true }) => opensWindow))).toEqual([
      [false],
      [false],
      [true],
      [],
    ]);
  });

  it('the Infobip parser skips reports', () => {
    const results = [{ bulkId: 'b', messageId: 'm', to: TO, status: { groupName: 'DELIVERED' } }];
    expect(read(infobipParser(), { results })).toEqual([]);
    expect(reportsIn(infobipParser(), { results })).toHaveLength(1);
  });
});

it("the Africa's Talking parser reads a form", () => {
  const body = form({
    linkId: 'SampleLinkId123',
    text: 'STOP',
    to: '22384',
    id: 'm-1',
    date: '2017-01-06 22:09:37',
    from: `+${FROM}`,
    networkCode: '62130',
  });
  expect(read(africasTalkingParser(), body)).toEqual([message({ to: '22384' })]);
  expect(reportsIn(africasTalkingParser(), body)).toEqual([]);
  const report = form({ id: 'm-1', status: 'Success', phoneNumber: `+${FROM}` });
  expect(read(africasTalkingParser(), report)).toEqual([]);
});

it('the Termii parser reads events of any route', () => {
  const body = {
    type: 'inbound',
    id: '8248611476370959318',
    message_id: '3905204342778053556',
    receiver: TO,
    sender: FROM,
    message: 'STOP',
    received_at: '2020-12-16T10:51:03.000000Z',
    cost: null,
    command: 'Received',
    status: 'Received',
    channel: null as string | null,
  };
  const expected = message({
    messageId: body.message_id,
    sentAt: new Date('2020-12-16T10:51:03Z'),
  });
  expect(read(termiiParser(), body)).toEqual([expected]);
  expect(
    ['dnd', 'generic', 'whatsapp'].map(
      (channel) => read(termiiParser(), { ...body, channel })[0]?.channel,
    ),
  ).toEqual(['sms', 'sms', 'whatsapp']);
  expect(read(termiiParser(), { ...body, type: 'outbound' })).toEqual([]);
  expect(reportsIn(termiiParser(), body)).toEqual([]);
});

it('the Plivo parser reads SMS, MMS and WhatsApp', () => {
  const sms = form({
    MessageUUID: 'm-1',
    From: FROM,
    To: TO,
    Text: 'STOP',
    Type: 'sms',
    Units: '1',
    TotalRate: '0',
    TotalAmount: '0',
    MessageIntent: 'optout',
  });
  const { Text: _, ...rest } = sms;
  const whatsApp = { ...rest, Type: 'whatsapp', Body: 'STOP', ContentType: 'text' };
  const media = { ...rest, Type: 'whatsapp', ContentType: 'media', MimeType: 'image/jpeg' };
  const button = { ...rest, Type: 'whatsapp', ContentType: 'button', ButtonText: 'STOP' };
  const unknown = { ...rest, Type: 'whatsapp', ContentType: 'unknown' };
  expect(
    [sms, { ...rest, Type: 'mms', Body: 'STOP' }, whatsApp, media, button, unknown].map((body) =>
      read(plivoParser(), body),
    ),
  ).toEqual([
    [message()],
    [message()],
    [message({ channel: 'whatsapp' })],
    [message({ channel: 'whatsapp', text: null })],
    [message({ channel: 'whatsapp' })],
    [message({ channel: 'whatsapp', text: null, opensWindow: false })],
  ]);
  for (const body of [sms, whatsApp, media, button, unknown])
    expect(reportsIn(plivoParser(), body)).toEqual([]);
  const report = form({ MessageUUID: 'm-1', To: TO, From: FROM, Type: 'sms', Status: 'delivered' });
  expect(read(plivoParser(), report)).toEqual([]);
});

describe('Clickatell', () => {
  it('the Clickatell parser reads reply callbacks', () => {
    const body = {
      integrationName: 'acme',
      messageId: 'of-what-was-replied-to',
      replyMessageId: 'm-1',
      fromNumber: FROM,
      toNumber: TO,
      timestamp: 1_506_607_698_000,
      text: 'STOP',
      charset: 'UTF-8',
      udh: '',
      network: '62130',
      keyword: null,
    };
    expect(read(clickatellParser(), body)).toEqual([
      message({ sentAt: new Date(1_506_607_698_000) }),
    ]);
    expect(reportsIn(clickatellParser(), body)).toEqual([]);
  });

  it('the Clickatell parser reads One API texts and media', () => {
    const text = {
      channel: 'whatsapp',
      messageId: 'm-1',
      relatedMessageId: 'd33eef0838a121f71069a4cc8d55c19e',
      relatedClientMessageId: null,
      from: FROM,
      to: TO,
      timestamp: 1_506_607_698_000,
      content: 'STOP',
      charset: 'UTF-8',
      whatsapp: { profileName: 'Ada' },
    };
    const media = { ...text, messageId: 'm-2', content: 'aGVsbG8=', contentType: 'image/jpeg' };
    const body = {
      integrationId: 'fa8090815f05d5ed015f0b5b56080cd2',
      integrationName: 'acme',
      event: { moText: [text, { ...text, channel: 'sms' }], moMedia: [media] },
    };
    const sentAt = new Date(1_506_607_698_000);
    expect(read(clickatellParser(), body)).toEqual([
      message({ channel: 'whatsapp', sentAt }),
      message({ sentAt }),
      message({ messageId: 'm-2', channel: 'whatsapp', text: null, sentAt }),
    ]);
    expect(reportsIn(clickatellParser(), body)).toEqual([]);
  });

  it('the Clickatell parser skips status callbacks', () => {
    const update = { channel: 'sms', messageId: 'm-1', status: 'DEVICE_ACK', statusCode: 5 };
    const event = { messageStatusUpdate: [update] };
    expect(read(clickatellParser(), { event })).toEqual([]);
    expect(read(clickatellParser(), { messageId: 'm', to: TO, status: 'READ' })).toEqual([]);
  });
});

it('the Kannel inbound parser reads GET and POST callbacks', () => {
  const query = form({
    id: '6a1c0f9e-59c5-4a0f-9d7a-2f1f3b1c7d11',
    from: `+${FROM}`,
    to: '22384',
    text: 'STOP',
    time: '1506607698',
  });
  const expected = message({
    messageId: query['id'],
    to: '22384',
    sentAt: new Date(1_506_607_698_000),
  });
  for (const request of [{ method: 'GET' as const }, { method: 'POST' as const, body: 'STOP' }])
    expect(kannelInboundParser().parse(callbackRequest({ ...request, query }))).toEqual({
      reports: [],
      messages: [expected],
      errors: [],
    });
});

it('the Clickatell parser reads a text in its character set, and the caption of media', () => {
  const sms = {
    integrationId: 'i',
    messageId: 'm',
    replyMessageId: 'm-1',
    fromNumber: FROM,
    toNumber: TO,
    timestamp: 1_795_780_000_000,
  };
  const texts = [
    { text: '%00S%00T%00O%00P', charset: 'UTF-16BE' },
    { text: 'Arr%EAt', charset: 'ISO-8859-1' },
    { text: 'Arrêt', charset: 'ISO-8859-1' },
    { text: '100% off', charset: 'ISO-8859-1' },
    { text: '100%25', charset: 'UTF-8' },
    { text: 'STOP', charset: 'GSM' },
    { text: 'STOP' },
  ].map((more) => read(clickatellParser(), { ...sms, ...more })[0]?.text);
  expect(texts).toEqual(['STOP', 'Arrêt', 'Arrêt', '100% off', '100%25', 'STOP', 'STOP']);
  const stops = texts.filter((text) => consentOf(text ?? '') === 'opted_out');
  expect(stops).toEqual(['STOP', 'Arrêt', 'Arrêt', 'STOP', 'STOP']);
  const media = { messageId: 'm-1', from: FROM, to: TO, contentType: 'image/png', content: 'iVBO' };
  const captions = [{}, { caption: 'STOP' }].map((more) => {
    const moMedia = [{ ...media, channel: 'whatsapp', ...more }];
    return read(clickatellParser(), { event: { moMedia } })[0]?.text;
  });
  expect(captions).toEqual([null, 'STOP']);
});

it.each([
  ["Africa's Talking", africasTalkingParser(), { id: 'm-1', text: 'Hi' }],
  ['Kannel', kannelInboundParser(), { id: 'm-1', text: 'Hi' }],
  ['Infobip', infobipParser(), { messageId: 'm-1', text: 'Hi', receivedAt: '' }],
  ['Clickatell', clickatellParser(), { replyMessageId: 'm-1', text: 'Hi' }],
  ['Termii', termiiParser(), { type: 'inbound', message_id: 'm-1', message: 'Hi' }],
  ['Twilio', twilioParser(), { MessageSid: 'm-1', Body: 'Hi' }],
  ['Plivo', plivoParser(), { MessageUUID: 'm-1', Text: 'Hi' }],
  ['Vonage', vonageParser(), { messageId: 'm-1', text: 'Hi' }],
])('the %s parser keeps a short code or a name that writes', (_, parser, entry) => {
  const senders = ['21512', 'MTN-NG', 'My Bank'].map((sender) => {
    const ends = { from: sender, From: sender, sender, fromNumber: sender, msisdn: sender };
    const body = { ...entry, ...ends, to: TO, To: TO, receiver: TO, toNumber: TO };
    return parser.parse(callbackRequest({ body, query: body })).messages?.map(({ from }) => from);
  });
  expect(senders).toEqual([['21512'], ['MTN-NG'], ['My Bank']]);
});
