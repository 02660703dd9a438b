import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  CallbackCounts,
  type CallbackParser,
  ContactsService,
  MessagingModule,
  sharedSecret,
  simulator,
  WhatsAppService,
} from '@dundun/messaging';
import { africasTalkingParser } from '@dundun/messaging/africas-talking';
import { clickatellParser } from '@dundun/messaging/clickatell';
import { infobipParser } from '@dundun/messaging/infobip';
import { MessageHistory } from '@dundun/messaging/operations';
import { twilioParser } from '@dundun/messaging/twilio';
import { vonageParser } from '@dundun/messaging/vonage';
import { whatsappCloudParser } from '@dundun/messaging/whatsapp-cloud';
import { describeEachDatabase } from '../../support/databases.js';

const SECRET = 'a-secret-of-many-letters';
const OUR_NUMBER = '2348000000001';
const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

/** Messages of WhatsApp as Meta has sent them, but for their times. */
const STOP_FROM_MEXICO =
  '{"object":"whatsapp_business_account","entry":[{"id":"1","changes":[{"field":"messages","value":{"messaging_product":"whatsapp","metadata":{"display_phone_number":"2348000000001","phone_number_id":"1"},"messages":[{"from":"5215512345678","id":"wamid.1","timestamp":"1795780000","type":"text","text":{"body":"STOP"}}]}}]}]}';
const IN_A_GROUP =
  '{"object":"whatsapp_business_account","entry":[{"id":"1","changes":[{"field":"messages","value":{"messaging_product":"whatsapp","metadata":{"display_phone_number":"2348000000001","phone_number_id":"1"},"messages":[{"from":"2348010000014","group_id":"G1","id":"wamid.2","timestamp":"1795780000","type":"text","text":{"body":"hello all"}}]}}]}]}';

const PARSERS: Readonly<Record<string, CallbackParser>> = {
  meta: whatsappCloudParser(),
  infobip: infobipParser(),
  clickatell: clickatellParser(),
  twilio: twilioParser(),
  'africas-talking': africasTalkingParser(),
  vonage: vonageParser(),
};

describeEachDatabase('callbacks as providers have sent them', (database) => {
  let app: NestFastifyApplication;
  let url: string;
  let contacts: ContactsService;

  beforeAll(async () => {
    const verifier = sharedSecret({ secret: SECRET });
    const providers = Object.fromEntries(
      Object.entries(PARSERS).map(([name, parser]) => [name, { parser, verifier }]),
    );
    const module = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot(database.options()),
        MessagingModule.forRoot({
          transport: simulator(),
          dispatch: { enabled: false },
          whatsapp: { from: OUR_NUMBER, templates: 'open' },
          callbackPath: 'callbacks',
          callbacks: { providers },
        }),
      ],
    }).compile();
    app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter(), {
      rawBody: true,
    });
    await app.listen(0, '127.0.0.1');
    url = `${await app.getUrl()}/callbacks`;
    contacts = app.get(ContactsService);
  });
  afterAll(() => app.close());

  const post = async (name: string, type: string, body: string) => {
    const init = { method: 'POST', headers: { 'content-type': type }, body };
    return (await fetch(`${url}/${name}/${SECRET}`, init)).status;
  };
  const now = (body: string) => body.replace('1795780000', String(Math.floor(Date.now() / 1_000)));
  const optedIn = (phone: string) =>
    contacts.optIn(phone, {
      channel: 'whatsapp',
      source: 'test',
      at: new Date(Date.now() - 60_000),
    });
  const text = (to: string) => app.get(WhatsAppService).sendText({ to, text: 'Hello' });

  it('a STOP from WhatsApp’s form of a Mexican number opts the number out that the app writes to, and opens its window', async () => {
    const phone = '525512345678';
    await optedIn(phone);
    await expect(text(phone)).rejects.toMatchObject({ code: 'window_closed' });
    expect(await post('meta', JSON_TYPE, now(STOP_FROM_MEXICO))).toBe(204);
    await expect(text(phone)).rejects.toMatchObject({ code: 'opted_out' });
    const contact = await contacts.find(phone);
    expect(contact).toMatchObject({ phone, consents: { whatsapp: { state: 'opted_out' } } });
    expect(Object.keys(contact?.lastInbound ?? {})).toEqual([OUR_NUMBER]);
    await contacts.optIn(phone, { channel: 'whatsapp', source: 'test' });
    expect((await text(phone)).recipients).toBe(1);
  });

  it('a message to a group of WhatsApp opens no window', async () => {
    const phone = '2348010000014';
    await optedIn(phone);
    expect(await post('meta', JSON_TYPE, now(IN_A_GROUP))).toBe(204);
    await expect(text(phone)).rejects.toMatchObject({ code: 'window_closed' });
    expect((await contacts.find(phone))?.lastInbound).toEqual({});
  });

  it.each([
    [
      'infobip',
      JSON_TYPE,
      '{"results":[{"messageId":"a","from":"385910000000","to":"385920000000","receivedAt":"2026-10-06T09:28:39.220+0000","message":[{"contentType":"text/plain","value":"STOP"}]}],"messageCount":1}',
      { from: '385910000000', to: '385920000000', text: 'STOP' },
    ],
    [
      'clickatell',
      JSON_TYPE,
      '{"integrationId":"i","messageId":"m","replyMessageId":"r","fromNumber":"250780000000","toNumber":"27990000000","timestamp":1795780000000,"text":"%00S%00T%00O%00P","charset":"UTF-16BE"}',
      { from: '250780000000', to: '27990000000', text: 'STOP' },
    ],
    [
      'africas-talking',
      `${FORM_TYPE}; charset=iso-8859-1`,
      'text=Arr%EAt&to=21512&id=e1&from=%2B254700000000',
      { from: '254700000000', to: '21512', text: 'Arrêt' },
    ],
    [
      'twilio',
      FORM_TYPE,
      'SmsStatus=received&NumMedia=1&MediaUrl0=https%3A%2F%2Fmedia.example%2F1&From=%2B14130000001&To=%2B12020000001&MessageSid=SM1',
      { from: '14130000001', to: '12020000001', text: null },
    ],
  ])(
    'the text of a message at %s is read, and its STOP counts',
    async (name, type, body, expected) => {
      expect(await post(name, type, body)).toBe(204);
      const received = await app.get(MessageHistory).inbound({ limit: 10 });
      expect(received).toContainEqual(expect.objectContaining({ channel: 'sms', ...expected }));
      const state = (await contacts.find(expected.from))?.consents['sms']?.state;
      expect(state).toBe(expected.text === null ? undefined : 'opted_out');
      const { reports, messages } = app.get(CallbackCounts).snapshot().get(name)!;
      expect([reports, messages]).toEqual([0, 1]);
    },
  );

  it('Vonage’s check of an address, a GET without parameters, is answered 200 and changes nothing', async () => {
    for (const path of ['/vonage', '/vonage?', `/vonage/${SECRET}?`])
      expect((await fetch(url + path)).status).toBe(200);
    expect(app.get(CallbackCounts).snapshot().get('vonage')).toBeUndefined();
  });
});
