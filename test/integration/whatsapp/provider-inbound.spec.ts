import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  CallbackCounts,
  ContactsService,
  hmacSignature,
  INBOUND_RECEIVED,
  type InboundReceived,
  MessagingModule,
  sharedSecret,
  simulator,
  SmsService,
  WhatsAppService,
} from '@dundun/messaging';
import { MessageHistory } from '@dundun/messaging/operations';
import { kannelInboundParser } from '@dundun/messaging/kannel';
import { termiiParser } from '@dundun/messaging/termii';
import { twilioParser, twilioSignature } from '@dundun/messaging/twilio';
import { whatsappCloudParser, whatsappCloudSignature } from '@dundun/messaging/whatsapp-cloud';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';

const SECRET = 'a-secret-of-many-letters';
const ORIGIN = 'https://app.example.com';
const OUR_NUMBER = '2348000000001';

describeOneDatabase('inbound messages at other providers', (database) => {
  let app: NestFastifyApplication;
  let url: string;
  let contacts: ContactsService;

  beforeAll(async () => {
    const module = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot(database.options()),
        MessagingModule.forRoot({
          transport: simulator(),
          dispatch: { enabled: false },
          whatsapp: { from: OUR_NUMBER, templates: 'open' },
          callbackPath: 'inbound',
          callbacks: {
            providers: {
              twilio: {
                parser: twilioParser(),
                verifier: twilioSignature({ authToken: SECRET, origin: ORIGIN }),
              },
              termii: {
                parser: termiiParser(),
                verifier: hmacSignature({
                  header: 'x-termii-signature',
                  algorithm: 'sha512',
                  secret: SECRET,
                }),
              },
              meta: {
                parser: whatsappCloudParser(),
                verifier: whatsappCloudSignature({ appSecret: SECRET, verifyToken: SECRET }),
              },
              kannel: {
                parser: kannelInboundParser(),
                verifier: sharedSecret({ secret: SECRET }),
              },
            },
          },
        }),
      ],
    }).compile();
    app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter(), {
      rawBody: true,
    });
    await app.listen(0, '127.0.0.1');
    url = `${await app.getUrl()}/inbound`;
    contacts = app.get(ContactsService);
  });
  afterAll(() => app.close());

  const call = async (path: string, init?: RequestInit) =>
    (await fetch(`${url}${path}`, init)).status;
  const post = (body: string, type: string, headers: Record<string, string>) => ({
    method: 'POST',
    headers: { 'content-type': type, ...headers },
    body,
  });
  const twilio = async (fields: Record<string, string>, signature?: string) => {
    const sorted = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
    const text = `${ORIGIN}/inbound/twilio${sorted.flat().join('')}`;
    const own = createHmac('sha1', SECRET).update(text).digest('base64');
    const body = new URLSearchParams(fields).toString();
    return call(
      '/twilio',
      post(body, 'application/x-www-form-urlencoded', { 'x-twilio-signature': signature ?? own }),
    );
  };
  const stateOf = async (who: string, channel: 'sms' | 'whatsapp') =>
    (await contacts.find(who))?.consents[channel]?.state;

  it("a verified Twilio WhatsApp message opens its number's window and STOP opts out of WhatsApp only", async () => {
    const from = '2348012345601';
    const whatsApp = app.get(WhatsAppService);
    await contacts.optIn(from, { channel: 'whatsapp', source: 'test' });
    const message = (MessageSid: string, Body: string) => ({
      MessageSid,
      SmsStatus: 'received',
      NumMedia: '0',
      From: `whatsapp:+${from}`,
      To: `whatsapp:+${OUR_NUMBER}`,
      Body,
    });
    expect(await twilio(message('SM1', 'Hi'), 'bm90IGl0cyBzaWduYXR1cmU=')).toBe(401);
    await expect(whatsApp.sendText({ to: from, text: 'Hello' })).rejects.toMatchObject({
      code: 'window_closed',
    });
    expect(await twilio(message('SM1', 'Hi'))).toBe(204);
    expect((await whatsApp.sendText({ to: from, text: 'Hello' })).recipients).toBe(1);
    expect(await twilio(message('SM2', 'Stop'))).toBe(204);
    expect([await stateOf(from, 'whatsapp'), await stateOf(from, 'sms')]).toEqual([
      'opted_out',
      undefined,
    ]);
  });

  it('one endpoint tells reports and inbound messages apart', async () => {
    const status = { MessageSid: 'SM3', MessageStatus: 'delivered', To: '+2348012345602' };
    const before = app.get(CallbackCounts).snapshot().get('twilio')!;
    expect(await twilio(status)).toBe(204);
    expect(
      await twilio({ MessageSid: 'SM4', From: '+2348012345602', To: '22384', Body: 'Hi' }),
    ).toBe(204);
    const after = app.get(CallbackCounts).snapshot().get('twilio')!;
    expect([after.reports - before.reports, after.messages - before.messages]).toEqual([1, 1]);
    expect([after.unmapped, after.unreadable]).toEqual([0, 0]);
  });

  it('a verified Termii STOP opts out of SMS', async () => {
    const body = JSON.stringify({
      type: 'inbound',
      message_id: '3905204342778053556',
      receiver: '22384',
      sender: '2348012345603',
      message: 'STOP',
      received_at: new Date().toISOString(),
      status: 'Received',
      channel: null,
    });
    const signature = createHmac('sha512', SECRET).update(body).digest('hex');
    const signed = (by: string) => post(body, 'application/json', { 'x-termii-signature': by });
    expect(await call('/termii', signed(signature.replace(/./, 'x')))).toBe(401);
    expect(await stateOf('2348012345603', 'sms')).toBeUndefined();
    expect(await call('/termii', signed(signature))).toBe(204);
    expect(await stateOf('2348012345603', 'sms')).toBe('opted_out');
    const campaign = app.get(SmsService).send({ from: 'ACME', to: '2348012345603', body: 'Hi' });
    await expect(campaign).rejects.toMatchObject({ code: 'opted_out' });
  });

  const meta = (field: string, value: object) => {
    const metadata = { display_phone_number: OUR_NUMBER, phone_number_id: '1' };
    const changes = [{ field, value: { messaging_product: 'whatsapp', metadata, ...value } }];
    const body = JSON.stringify({
      object: 'whatsapp_business_account',
      entry: [{ id: '1', changes }],
    });
    const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
    return call('/meta', post(body, 'application/json', { 'x-hub-signature-256': signature }));
  };
  const seconds = () => String(Math.floor(Date.now() / 1_000));

  it('a message in a WhatsApp group opens no window, and its words opt out but not in', async () => {
    const from = '2348010000014';
    const whatsApp = app.get(WhatsAppService);
    const at = new Date(Date.now() - 60_000);
    await contacts.optIn(from, { channel: 'whatsapp', source: 'test', at });
    const say = (id: string, body: string, more: object = {}) =>
      meta('messages', {
        messages: [{ from, id, timestamp: seconds(), type: 'text', text: { body }, ...more }],
      });
    expect(await say('wamid.2', 'hello all', { group_id: 'G1' })).toBe(204);
    expect((await contacts.find(from))?.lastInbound).toEqual({});
    await expect(whatsApp.sendText({ to: from, text: 'Hello' })).rejects.toMatchObject({
      code: 'window_closed',
    });
    expect(await say('wamid.3', 'hello you')).toBe(204);
    expect((await whatsApp.sendText({ to: from, text: 'Hello' })).recipients).toBe(1);
    expect(await say('wamid.4', 'STOP', { group_id: 'G1' })).toBe(204);
    expect(await stateOf(from, 'whatsapp')).toBe('opted_out');
    expect(await say('wamid.5', 'START', { group_id: 'G1' })).toBe(204);
    expect(await stateOf(from, 'whatsapp')).toBe('opted_out');
  });

  it('marketing that a person stops in WhatsApp is refused, and other categories are not', async () => {
    const from = '2348010000015';
    const whatsApp = app.get(WhatsAppService);
    await contacts.optIn(from, {
      channel: 'whatsapp',
      source: 'test',
      at: new Date(Date.now() - 60_000),
    });
    const now = Math.floor(Date.now() / 1_000);
    const choose = (value: string, ago: number) => {
      const timestamp = now - ago;
      const one = { wa_id: from, category: 'marketing_messages', value, timestamp };
      return meta('user_preferences', { user_preferences: [one] });
    };
    const send = (category: 'marketing' | 'utility') =>
      whatsApp.sendTemplate({ to: from, template: 'sale', language: 'en', category });
    expect(await choose('stop', 30)).toBe(204);
    expect(await choose('stop', 30)).toBe(204);
    await expect(send('marketing')).rejects.toMatchObject({
      code: 'opted_out',
    });
    expect((await send('utility')).recipients).toBe(1);
    const { consents, lastInbound } = (await contacts.find(from)) ?? {};
    expect(consents?.['whatsapp:marketing']).toMatchObject({
      state: 'opted_out',
      source: 'platform',
    });
    expect(lastInbound).toEqual({});
    expect((await contacts.consentHistory(from)).length).toBe(2);
    expect(await choose('resume', 10)).toBe(204);
    expect((await send('marketing')).recipients).toBe(1);
  });

  it('a message from a short code or a name is kept with its sender', async () => {
    const heard: (string | null)[] = [];
    app.get(EventEmitter2).on(INBOUND_RECEIVED, ({ from }: InboundReceived) => heard.push(from));
    for (const [n, from] of ['21512', 'My Bank'].entries()) {
      const query = new URLSearchParams({ id: `code-${n}`, from, to: '22384', text: 'Your code' });
      expect(await call(`/kannel/${SECRET}?${query.toString()}`)).toBe(200);
    }
    await eventually(async () => expect(heard).toEqual(['21512', 'My Bank']));
    const kept = await app.get(MessageHistory).inbound({ limit: 2 });
    expect(kept.map(({ from }) => from).toSorted()).toEqual(['21512', 'My Bank']);
  });

  it("Kannel's get-url and post-url messages are taken once each", async () => {
    const from = '2348012345604';
    const time = Math.floor(Date.now() / 1_000) - 60;
    const query = `id=6a1c0f9e-59c5-4a0f-9d7a-2f1f3b1c7d11&from=%2B${from}&to=22384&text=T%C9%98&time=${time}`;
    expect(await call(`/kannel/wrong?${query}`)).toBe(401);
    expect(await call(`/kannel/${SECRET}?${query}`)).toBe(200);
    expect(await call(`/kannel/${SECRET}?${query}`)).toBe(200);
    const text = post('%D8%AA%D9%88%D9%82%D9%81', 'text/plain; charset="UTF-8"', {});
    const stop = query.replace('6a1c', '7b2d').replace('T%C9%98', '%D8%AA%D9%88%D9%82%D9%81');
    expect(await call(`/kannel/${SECRET}?${stop}`, text)).toBe(204);
    expect(await stateOf(from, 'sms')).toBe('opted_out');
    const contact = await contacts.find(from);
    expect(contact?.lastInbound).toEqual({ '22384': new Date(time * 1_000) });
  });
});
