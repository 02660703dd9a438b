import { afterAll, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { type INestApplication, Logger } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Webhook } from 'standardwebhooks';
import { DataSource } from 'typeorm';
import {
  type Clock,
  consentWords,
  ContactsService,
  INBOUND_RECEIVED,
  type InboundListener,
  type InboundReceived,
  MESSAGING_CLOCK,
  MessagingModule,
  simulator,
  WhatsAppService,
} from '@dundun/messaging';
import { InboundListeners } from '../../../libs/messaging/src/ports/listeners.js';
import { InboundRecorder } from '../../../libs/messaging/src/contacts/inbound.js';
import { systemClock } from '../../../libs/messaging/src/ports/clock.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const OUR_NUMBER = '2348000000001';
const NOBODYS = '2348000000008';
const HOUR = 3_600_000;
const read = consentWords();

class LeapingClock implements Clock {
  leap = 0;
  now = () => systemClock.now() + this.leap;
  monotonic = () => systemClock.monotonic();
  id = () => systemClock.id();
}

describeOneDatabase('inbound messages', (database) => {
  let app: INestApplication;
  let url: string;
  let contacts: ContactsService;
  let whatsApp: WhatsAppService;
  const clock = new LeapingClock();
  const events: InboundReceived[] = [];
  let listener: InboundListener['onInbound'] = async () => undefined;
  let next = 0;
  const number = (digits = '0000') => `23480${7_000 + next++}${digits}`;

  const received = (from: string, text: string | null, more: object = {}) => ({
    type: 'whatsapp.message_received',
    timestamp: new Date(clock.now()).toISOString(),
    data: { message_id: `wamid.${next++}`, from, to: OUR_NUMBER, text, ...more },
  });
  const post = async (content: unknown, path = '') => {
    const body = JSON.stringify(content);
    // A virtual clock signs, too.
    const at = new Date(clock.now());
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': 'msg_1',
        'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
        'webhook-signature': new Webhook(SECRET).sign('msg_1', at, body),
      },
      body,
    });
    return response.status;
  };
  const heardOf = (from: string) => events.filter((event) => event.from === from);
  const repliesTo = async (to: string) => {
    const { data } = await whatsApp.batches({ limit: 1000 });
    const sent = await Promise.all(
      data.map(async ({ id, content }) => ({ content, to: (await whatsApp.recipients(id)).data })),
    );
    return sent
      .filter((one) => one.to[0] === to)
      .map(({ content }) => content?.kind === 'text' && content.text);
  };

  beforeAll(async () => {
    const module = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot(database.options()),
        MessagingModule.forRoot({
          transport: simulator({ reportDelay: 1, replyDelay: 1 }),
          callbacks: { secrets: [SECRET] },
          callbackPath: 'inbound',
          whatsapp: { from: OUR_NUMBER, templates: 'open' },
          inbound: {
            tenant: async ({ to }) =>
              to === OUR_NUMBER ? '' : to === NOBODYS ? undefined : `of ${to}`,
            consent: async (text, { tenant }) =>
              tenant === '' ? read(text) : /^basta$/i.test(text) ? 'opted_out' : undefined,
            reply: async ({ consent, tenant }) =>
              `${tenant === '' ? '' : `${tenant}: `}${consent === 'opted_out' ? 'You are out' : 'You are in'}`,
          },
        }),
      ],
    })
      .overrideProvider(MESSAGING_CLOCK)
      .useValue(clock)
      .compile();
    app = module.createNestApplication({ rawBody: true, logger: false });
    await app.listen(0, '127.0.0.1');
    url = `${await app.getUrl()}/inbound`;
    contacts = app.get(ContactsService);
    whatsApp = app.get(WhatsAppService);
    app.get(EventEmitter2).on(INBOUND_RECEIVED, (event: InboundReceived) => events.push(event));
    app.get(InboundListeners).add({ onInbound: (all, manager) => listener(all, manager) });
    for (const level of ['warn', 'error'] as const)
      jest.spyOn(Logger.prototype, level).mockImplementation(() => undefined);
  });
  beforeEach(() => {
    listener = async () => undefined;
  });
  afterAll(async () => {
    await app.close();
    jest.restoreAllMocks();
  });

  it('a repeated inbound message creates one contact, opens the window and publishes one event', async () => {
    const from = number();
    const message = received(`+${from}`, 'Good morning', { bsuid: `NG.${from}` });
    const told = jest.fn<InboundListener['onInbound']>(async () => undefined);
    listener = told;
    const answers = await Promise.all(Array.from({ length: 12 }, () => post(message)));
    expect(new Set(answers)).toEqual(new Set([204]));
    expect(await post([message, message])).toBe(204);
    const contact = await contacts.find(from);
    expect(contact).toMatchObject({ phone: from, platform: `NG.${from}`, consents: {} });
    expect(Object.keys(contact?.lastInbound ?? {})).toEqual([OUR_NUMBER]);
    await eventually(async () => expect(heardOf(from)).toHaveLength(1));
    expect(heardOf(from)).toEqual([
      {
        id: expect.stringMatching(/^[\da-f-]{36}$/),
        tenant: '',
        channel: 'whatsapp',
        contactId: contact?.id,
        messageId: message.data.message_id,
        from,
        bsuid: `NG.${from}`,
        to: OUR_NUMBER,
        text: 'Good morning',
        content: { kind: 'text', text: 'Good morning' },
        profileName: null,
        repliesTo: null,
        sentAt: new Date(message.timestamp),
        consent: null,
      },
    ]);
    const heard = told.mock.calls.flatMap(([all]) => all.map(({ messageId }) => messageId));
    expect(new Set(heard)).toEqual(new Set([message.data.message_id]));
    await contacts.optIn(from, { channel: 'whatsapp', source: 'test' });
    expect((await whatsApp.sendText({ to: from, text: 'Hello' })).recipients).toBe(1);
  });

  it('an inbound message whose listener fails is not stored and counts when repeated', async () => {
    const [bad, good] = [number(), number()];
    const messages = [received(bad, 'x'), received(good, 'y')];
    let failing = true;
    listener = async (all) => {
      if (failing && all.some(({ from }) => from === bad)) throw new Error('no room');
    };
    expect(await post(messages)).toBe(503);
    await eventually(async () => expect(heardOf(good)).toHaveLength(1));
    expect(await contacts.find(bad)).toBeUndefined();
    failing = false;
    expect(await post(messages)).toBe(204);
    await eventually(async () => expect(heardOf(bad)).toHaveLength(1));
    expect(heardOf(good)).toHaveLength(1);
  });

  it('a bad inbound entry fails no other entry, and only a callback of bad entries alone is refused', async () => {
    const from = number();
    const { data: _none, ...empty } = received(from, 'x');
    const bad = [empty, received('nobody', 'x'), received(from, 'x', { message_id: 7 })];
    expect(await post([...bad, received(from, 'fine'), { type: 'email.opened', data: {} }])).toBe(
      204,
    );
    await eventually(async () => expect(heardOf(from).map(({ text }) => text)).toEqual(['fine']));
    expect(await post(bad)).toBe(400);
    expect(await post([{ type: 'email.opened', data: {} }])).toBe(204);
  });

  it('inbound messages are taken at the callback path beside reports', async () => {
    const from = number();
    const report = { reference_id: 'r', message_id: 'r-0', to: from, status: 'delivered' };
    const status = { type: 'whatsapp.message_status', data: report };
    expect(await post([received(from, 'Hi'), status])).toBe(204);
    await eventually(async () => expect(heardOf(from)).toHaveLength(1));
    const rows = await app
      .get(DataSource)
      .query(`SELECT raw_status FROM messaging_report WHERE recipient = '${from}'`);
    expect(rows).toHaveLength(1);
  });

  it('STOP opts out with one reply and START opts in again', async () => {
    const from = number();
    await contacts.optIn(from, { channel: 'whatsapp', source: 'test' });
    clock.leap += 1_000;
    expect(await post([received(from, ' Stop! '), received(from, 'STOP')])).toBe(204);
    expect((await contacts.find(from))?.consents.whatsapp).toMatchObject({
      state: 'opted_out',
      source: 'keyword',
      evidence: expect.stringMatching(/stop/i),
    });
    await eventually(async () => expect(await repliesTo(from)).toEqual(['You are out']));
    expect(await post(received(from, 'stop'))).toBe(204);
    await expect(whatsApp.sendText({ to: from, text: 'Hi' })).rejects.toMatchObject({
      code: 'opted_out',
    });
    clock.leap += 1_000;
    expect(await post(received(from, 'start'))).toBe(204);
    await eventually(async () =>
      expect(await repliesTo(from)).toEqual(['You are in', 'You are out']),
    );
    expect((await whatsApp.sendText({ to: from, text: 'Hi' })).recipients).toBe(1);
    const [out, , , back] = heardOf(from);
    expect(out?.consent).toBe('opted_out');
    expect(back?.consent).toBe('opted_in');
    expect((await contacts.consentHistory(from)).map(({ state }) => state)).toEqual([
      'opted_in',
      'opted_out',
      'opted_out',
      'opted_out',
      'opted_in',
    ]);
    await eventually(async () => {
      const { data } = await whatsApp.batches({ limit: 3 });
      expect(data.map(({ counts }) => counts)).toEqual([{ read: 1 }, { read: 1 }, { read: 1 }]);
    });
  });

  it('consent words and replies are those of the tenant', async () => {
    const [from, to] = [number(), '2348000000019'];
    const tenant = `of ${to}`;
    await post([received(from, 'STOP', { to }), received(from, 'Basta', { to })]);
    expect((await contacts.find(from, { tenant }))?.consents.whatsapp).toMatchObject({
      state: 'opted_out',
      evidence: 'Basta',
    });
    await eventually(async () => {
      const { data } = await whatsApp.batches({ tenant });
      expect(data.map(({ content }) => content)).toEqual([
        { kind: 'text', text: `${tenant}: You are out`, confirms: 'opted_out' },
      ]);
    });
  });

  it('a late STOP does not overrule a newer START', async () => {
    const from = number();
    const early = received(from, 'stop', {
      received_at: new Date(clock.now() - HOUR).toISOString(),
    });
    await post(received(from, 'start'));
    await post(early);
    expect((await contacts.find(from))?.consents.whatsapp?.state).toBe('opted_in');
    await eventually(async () => expect(heardOf(from)).toHaveLength(2));
    expect(heardOf(from).map(({ consent }) => consent)).toEqual(['opted_in', null]);
    await eventually(async () => expect(await repliesTo(from)).toEqual(['You are in']));
  });

  it('an old message opens no window, and a message from the future opens no longer window', async () => {
    const [old, ahead] = [number(), number()];
    await contacts.optIn([old, ahead], { channel: 'whatsapp', source: 'test' });
    const at = (time: number) => ({ received_at: new Date(clock.now() + time).toISOString() });
    await post([received(old, 'x', at(-24 * HOUR)), received(ahead, 'x', at(HOUR))]);
    await expect(whatsApp.sendText({ to: old, text: 'Hi' })).rejects.toMatchObject({
      code: 'window_closed',
    });
    expect((await whatsApp.sendText({ to: ahead, text: 'Hi' })).recipients).toBe(1);
    clock.leap += 24 * HOUR;
    await expect(whatsApp.sendText({ to: ahead, text: 'Hi' })).rejects.toMatchObject({
      code: 'window_closed',
    });
  });

  it('inbound messages belong to the tenant of the number', async () => {
    const from = number();
    await post(received(from, 'Hi', { to: '2348000000009' }));
    expect(await contacts.find(from)).toBeUndefined();
    expect(await contacts.find(from, { tenant: 'of 2348000000009' })).toBeDefined();
  });

  it('an inbound message to an unknown number is skipped and fails no other', async () => {
    const [from, other] = [number(), number()];
    expect(await post([received(from, 'Hi', { to: NOBODYS }), received(other, 'Hi')])).toBe(204);
    expect([await contacts.find(from), (await contacts.find(other))?.phone]).toEqual([
      undefined,
      other,
    ]);
    expect(jest.mocked(Logger.prototype.warn).mock.calls.flat().join()).toMatch(
      /1 inbound messages were left out: no tenant has the number/,
    );
  });

  it('two contacts that one message names by phone and bsuid are merged into the older one', async () => {
    const from = number();
    const [byPhone] = await contacts.upsert({ phone: from });
    await contacts.upsert({ platform: `NG.${from}` });
    expect(await post(received(from, 'Hi', { bsuid: `NG.${from}` }))).toBe(204);
    await eventually(async () =>
      expect(heardOf(from)).toMatchObject([{ contactId: byPhone?.id, text: 'Hi' }]),
    );
  });

  it('a simulated …9910 writes back and may then get a text', async () => {
    const to = number('9910');
    await contacts.optIn(to, { channel: 'whatsapp', source: 'test' });
    await whatsApp.sendTemplate({ to, template: 'hello', language: 'en' });
    await eventually(async () => expect(heardOf(to)).toMatchObject([{ to: OUR_NUMBER }]));
    expect((await whatsApp.sendText({ to, text: 'Hi' })).recipients).toBe(1);
    await eventually(async () => expect(heardOf(to)).toHaveLength(2));
  });

  it('inbound message ids are deleted after their retention', async () => {
    const inbound = app.get(InboundRecorder);
    await post(received(number(), 'Hi'));
    expect(await inbound.forget(1_000)).toBe(0);
    clock.leap += 31 * 24 * HOUR;
    expect(await inbound.forget(5)).toBe(5);
    expect(await inbound.forget(1_000)).toBeGreaterThan(0);
    expect(await inbound.forget(1_000)).toBe(0);
  });
});
