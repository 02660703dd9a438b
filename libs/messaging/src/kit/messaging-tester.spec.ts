import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { text as textIn } from 'node:stream/consumers';
import { DataSource, EntitySchema } from 'typeorm';
import {
  ContactsService,
  EmailService,
  INBOUND_RECEIVED,
  defineTemplates,
  type InboundReceived,
  MESSAGE_STATUS_CHANGED,
  type MessageStatusChanged,
  MESSAGING_POLICY,
  MessagingModule,
  MessagingService,
  NotificationService,
  SmsService,
  VoiceService,
  WhatsAppService,
} from '../index.js';
import { InboundService } from '../inbound.js';
import {
  inMemoryDatabase,
  messagingMatchers,
  MessagingTester,
  MessagingTestingModule,
  type MessagingTestingOptions,
} from '../testing.js';
import { eventually } from '../../../../test/support/eventually.js';

const TO = '2348012345678';

expect.extend(messagingMatchers);

@Injectable()
class Heard {
  readonly statuses: string[] = [];
  readonly messages: InboundReceived[] = [];

  constructor(private readonly whatsapp: WhatsAppService) {}

  @OnEvent(MESSAGE_STATUS_CHANGED)
  changed({ status, errorCode }: MessageStatusChanged): void {
    this.statuses.push(errorCode === null ? status : `${status} ${errorCode}`);
  }

  @OnEvent(INBOUND_RECEIVED)
  async received(message: InboundReceived): Promise<void> {
    this.messages.push(message);
    const { from, text } = message;
    if (text !== 'Are you open?' || from === null) return;
    await this.whatsapp.sendText({ to: from, text: 'Until six' });
  }
}

interface Order {
  id: number;
}

const ORDERS = new EntitySchema<Order>({
  name: 'orders',
  columns: { id: { type: 'integer', primary: true } },
});

let app: TestingModule | undefined;

async function started(
  options?: MessagingTestingOptions,
  {
    imports = [],
    providers = [],
  }: Partial<Record<'imports' | 'providers', NonNullable<unknown>[]>> = {},
) {
  app = await Test.createTestingModule({
    imports: [EventEmitterModule.forRoot(), MessagingTestingModule.forRoot(options), ...imports],
    providers: [Heard, ...providers],
  } as Parameters<typeof Test.createTestingModule>[0]).compile();
  await app.init();
  return {
    app,
    messaging: app.get(MessagingTester),
    sms: app.get(SmsService),
    whatsapp: app.get(WhatsAppService),
    contacts: app.get(ContactsService),
    heard: app.get(Heard).statuses,
  };
}

afterEach(async () => {
  await app?.close();
  app = undefined;
});

const hello = { from: 'ACME', to: TO, body: 'Hello' };

it('sent() has a message once the dispatch has handed it to a provider', async () => {
  const { messaging, sms } = await started();
  const { id } = await sms.send(hello);
  await messaging.idle();
  expect(messaging.sent()).toEqual([
    expect.objectContaining({ batchId: id, channel: 'sms', to: TO, from: 'ACME', body: 'Hello' }),
  ]);
  expect((await sms.batch(id)).counts).toEqual({ sent: 1 });
  messaging.clear();
  expect(messaging.sent()).toEqual([]);
});

it('deliver() and fail() report a batch or one of its messages, and listeners of the app are called', async () => {
  const { messaging, sms, heard } = await started();
  const one = await sms.send(hello);
  await messaging.deliver(one.id);
  expect((await sms.batch(one.id)).counts).toEqual({ delivered: 1 });
  expect(heard).toEqual(['sent', 'delivered']);

  const two = await sms.send({ ...hello, to: [TO, '2348012345679'] });
  await messaging.fail(`${two.id}-1`, 'absent_subscriber');
  expect((await sms.batch(two.id)).counts).toEqual({ sent: 1, failed: 1 });
  expect(await sms.message(`${two.id}-1`)).toMatchObject({ errorCode: 'absent_subscriber' });
  expect(heard.at(-1)).toBe('failed absent_subscriber');
});

it('a later report of a lower rank changes no status', async () => {
  const { messaging, sms } = await started();
  const { id } = await sms.send(hello);
  await messaging.deliver(id);
  await messaging.fail(id, 'late');
  expect((await sms.batch(id)).counts).toEqual({ delivered: 1 });
});

it('report() gives any status of the channel, and a busy call is dialled again when the clock advances', async () => {
  const { messaging } = await started({ voice: { from: '2348000000002' } });
  const voice = app!.get(VoiceService);
  const call = await voice.send({ to: TO, text: 'Hello', redial: { times: 1, after: '5m' } });
  await messaging.report(call.id, 'busy');
  expect(messaging.sent()).toHaveLength(1);
  await messaging.clock.advance('5m');
  expect(messaging.sent().map(({ attempt }) => attempt)).toEqual([1, 2]);
  await messaging.deliver(call.id);
  expect((await voice.batch(call.id)).counts).toEqual({ completed: 1 });
});

it('deliver() refuses a message that no provider has, and changes nothing', async () => {
  const { messaging, sms } = await started();
  const sendAt = new Date(messaging.clock.now().getTime() + 3_600_000);
  const { id } = await sms.send({ ...hello, sendAt });
  await expect(messaging.deliver(id)).rejects.toMatchObject({ code: 'not_sent_yet' });
  expect((await sms.batch(id)).counts).toEqual({ queued: 1 });
});

it('clock.advanceTo() advances to a time, and refuses one that is past', async () => {
  const { messaging } = await started();
  const night = new Date(messaging.clock.now());
  night.setUTCHours(24 + 23, 0, 0, 0);
  await messaging.clock.advanceTo(night);
  expect(+messaging.clock.now() - +night).toBeGreaterThanOrEqual(0);
  expect(+messaging.clock.now() - +night).toBeLessThan(60_000);
  await expect(messaging.clock.advanceTo(new Date(0))).rejects.toThrow(/^time: /);
});

it('clock.advance() sends messages that fall due, in the order of their times, and no later ones', async () => {
  const { messaging, sms } = await started();
  const start = messaging.clock.now().getTime();
  for (const hours of [3, 1, 2])
    await sms.send({ ...hello, body: `${hours}`, sendAt: new Date(start + hours * 3_600_000) });
  await messaging.idle();
  expect(messaging.sent()).toEqual([]);
  expect(messaging.next?.getTime()).toBe(start + 3_600_000);
  await messaging.clock.advance('2h');
  expect(messaging.sent().map(({ body }) => body)).toEqual(['1', '2']);
  await messaging.clock.advance('1h');
  expect(
    messaging.sent().map(({ body, at }) => [body, at.getTime() - start >= 10_800_000]),
  ).toEqual([
    ['1', false],
    ['2', false],
    ['3', true],
  ]);
  await expect(messaging.clock.advance('soon' as never)).rejects.toMatchObject({
    code: 'invalid_config',
  });
});

it('a cancelled message is not sent, and an idempotency key is remembered for its window', async () => {
  const { messaging, sms } = await started();
  const sendAt = new Date(messaging.clock.now().getTime() + 3_600_000);
  const { id } = await sms.send({ ...hello, sendAt });
  await sms.cancel(id);
  await messaging.clock.advance('2h');
  expect(messaging.sent()).toEqual([]);
  expect((await sms.batch(id)).counts).toEqual({ cancelled: 1 });

  const first = await sms.send(hello, { idempotencyKey: 'order-1' });
  const again = await sms.send(hello, { idempotencyKey: 'order-1' });
  expect([again.id, again.replayed]).toEqual([first.id, true]);
  await messaging.clock.advance('25h');
  expect((await sms.send(hello, { idempotencyKey: 'order-1' })).id).not.toBe(first.id);
});

it('receive() opens the WhatsApp window for 24 hours', async () => {
  const { messaging, whatsapp, contacts } = await started();
  await contacts.optIn(TO, { channel: 'whatsapp', source: 'form' });
  const text = { to: TO, text: 'Your order is ready' };
  await expect(whatsapp.sendText(text)).rejects.toMatchObject({ code: 'window_closed' });
  await messaging.receive({ from: '+234 801 234 5678', text: 'Where is it?' });
  await whatsapp.sendText(text);
  await messaging.clock.advance('23h');
  await whatsapp.sendText(text);
  await messaging.clock.advance('1h');
  await expect(whatsapp.sendText(text)).rejects.toMatchObject({ code: 'window_closed' });
  expect(messaging.sent()).toHaveLength(2);
});

it('idle() waits for the messages that a listener sends', async () => {
  const { messaging, contacts } = await started();
  await contacts.optIn(TO, { channel: 'whatsapp', source: 'form' });
  await messaging.receive({ from: TO, text: 'Are you open?' });
  expect(messaging.sent().map(({ body, to }) => [body, to])).toEqual([['Until six', TO]]);
});

it('receive() takes the channel of the last message to the sender, so that STOP opts out of it', async () => {
  const { messaging, sms } = await started();
  await sms.send(hello);
  await messaging.receive({ from: TO, text: 'STOP' });
  await expect(sms.send(hello)).rejects.toMatchObject({ code: 'opted_out' });
  await expect(messaging.receive({ from: 'nobody', text: 'Hi' })).rejects.toMatchObject({
    fields: [{ path: 'from', message: expect.stringContaining('must be an address of whatsapp') }],
  });
});

it('receive() takes a content, whose files the app fetches', async () => {
  const { messaging } = await started();
  const heard = app!.get(Heard).messages;
  const bytes = 'the bytes of a file';
  const source = `data:image/png;base64,${Buffer.from(bytes).toString('base64')}`;
  const file = { type: 'image', contentType: 'image/png', filename: null, size: null } as const;
  const content = {
    kind: 'media',
    caption: 'The meter',
    files: [{ ...file, source }],
  } as const;
  await messaging.receive({ from: TO, content, profileName: 'Ada', repliesTo: 'wamid.0' });
  expect(heard).toMatchObject([
    { text: 'The meter', content, profileName: 'Ada', repliesTo: 'wamid.0' },
  ]);
  const media = await app!.get(InboundService).media(heard[0]!.id);
  expect([media.contentType, await textIn(media.stream)]).toEqual(['image/png', bytes]);
});

it('a notification falls back to its next channel after the wait, and where its first message fails', async () => {
  const { messaging } = await started();
  const notifications = app!.get(NotificationService);
  const notification = {
    via: ['sms', 'email'] as const,
    sms: { from: 'ACME', body: 'Your order is ready' },
    email: { from: 'shop@example.com', subject: 'Your order', text: 'It is ready' },
    fallback: { after: '2m', unless: 'delivered' } as const,
  };
  const to = { phone: TO, email: 'ada@example.com' };
  const channels = () => messaging.sent().map(({ channel }) => channel);
  await notifications.send(notification, to);
  await messaging.clock.advance('1m');
  expect(channels()).toEqual(['sms']);
  await messaging.clock.advance('1m');
  expect(channels()).toEqual(['sms', 'email']);

  messaging.clear();
  await notifications.send(notification, to);
  await messaging.idle();
  await messaging.fail(messaging.sent()[0]!.id, 'blocked');
  expect(channels()).toEqual(['sms', 'email']);
});

it('providers keep their names and routes, and none of their transports is made', async () => {
  const never = () => {
    throw new Error('a real transport was made');
  };
  const { messaging, sms } = await started({
    providers: {
      main: { transport: never, rateLimit: '100/s' },
      other: never,
      injected: { useFactory: never },
    },
    routes: [{ channel: 'sms', use: 'other' }, { use: 'main' }],
  });
  const { id } = await sms.send(hello);
  await messaging.deliver(id);
  expect(messaging.sent().map(({ provider }) => provider)).toEqual(['other']);
  expect((await sms.batch(id)).counts).toEqual({ delivered: 1 });
});

it('the kit takes the place of the module of the app by overrideModule()', async () => {
  const messagingModule = MessagingModule.forRoot({
    transport: () => {
      throw new Error('a real transport was made');
    },
  });
  app = await Test.createTestingModule({ imports: [EventEmitterModule.forRoot(), messagingModule] })
    .overrideModule(messagingModule)
    .useModule(MessagingTestingModule.forRoot())
    .compile();
  await app.init();
  const { id } = await app.get(SmsService).send(hello);
  await app.get(MessagingTester).deliver(id);
  expect((await app.get(SmsService).batch(id)).counts).toEqual({ delivered: 1 });
});

it('idle() rejects with the error of a policy that fails', async () => {
  let fails = false;
  const policy = {
    name: 'own',
    decide: () =>
      fails ? Promise.reject(new Error('no such table: prices')) : Promise.resolve(new Map()),
  };
  const { messaging, sms } = await started(undefined, {
    providers: [{ provide: MESSAGING_POLICY, useValue: policy }],
  });
  const sendAt = new Date(messaging.clock.now().getTime() + 3_600_000);
  await sms.send({ ...hello, sendAt });
  fails = true;
  await expect(messaging.clock.advance('2h')).rejects.toThrow('no such table: prices');
  fails = false;
  await messaging.idle();
  expect(messaging.sent()).toHaveLength(1);
});

it('retention deletes old messages when the clock advances', async () => {
  const { messaging, sms } = await started({
    store: { retention: { content: '30d', messages: '60d' } },
  });
  const { id } = await sms.send(hello);
  await messaging.deliver(id);
  await messaging.clock.advance('31d');
  expect((await sms.message(`${id}-0`)).content).toBeNull();
  await messaging.clock.advance('30d');
  await expect(sms.batch(id)).rejects.toMatchObject({ code: 'not_found' });
});

it('a send joins the transaction of the app in a database of inMemoryDatabase()', async () => {
  const database = { ...inMemoryDatabase(), entities: [ORDERS], synchronize: true };
  const { messaging, sms } = await started(
    { dataSource: 'default' },
    { imports: [TypeOrmModule.forRoot(database)] },
  );
  const source = app!.get(DataSource);
  const order = (id: number, fails: boolean) =>
    source.transaction(async (manager) => {
      await manager.insert(ORDERS, { id });
      await sms.send({ ...hello, body: `Order ${id}` }, { manager });
      // The transaction stays open in later turns of the event loop.
      await new Promise((resolve) => setImmediate(resolve));
      if (fails) throw new Error('card declined');
    });
  await expect(order(1, true)).rejects.toThrow('card declined');
  await order(2, false);
  const [one] = await Promise.all([sms.send(hello), order(3, false)]);
  await messaging.deliver(one.id);
  expect(new Set(messaging.sent().map(({ body }) => body))).toEqual(
    new Set(['Hello', 'Order 2', 'Order 3']),
  );
  expect(await source.getRepository(ORDERS).count()).toBe(2);
});

it('each app that opens the same inMemoryDatabase() begins with an empty one', async () => {
  const database = { ...inMemoryDatabase(), entities: [ORDERS], synchronize: true };
  for (let round = 0; round < 2; round++) {
    const { messaging, sms } = await started(
      { dataSource: 'default' },
      { imports: [TypeOrmModule.forRoot(database)] },
    );
    await app!.get(DataSource).manager.insert(ORDERS, { id: 1 });
    const { id } = await sms.send(hello);
    await messaging.deliver(id);
    expect(messaging.sent()).toHaveLength(1);
    await app!.close();
  }
});

it.each([
  ['dataSource.transaction()', DataSource],
  ['messaging.transaction()', MessagingService],
] as const)(
  'a matcher right after %s with inMemoryDatabase() names the step that the test left out',
  async (_, token) => {
    const { messaging, sms } = await started(
      { dataSource: 'default' },
      { imports: [TypeOrmModule.forRoot(inMemoryDatabase())] },
    );
    const source: Pick<MessagingService, 'transaction'> = app!.get(token);
    await source.transaction((manager) => sms.send(hello, { manager }));
    expect(() => expect(messaging).toHaveSent(hello)).toThrow('await messaging.idle()');
    expect(() => expect(messaging).toHaveSentNothing()).toThrow('await messaging.idle()');
    await messaging.idle();
    expect(messaging).toHaveSent(hello);
  },
);

it('an app that a failed test leaves open keeps no timer that the runner waits for', async () => {
  const timers = () =>
    process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
  const before = timers();
  const { messaging, sms } = await started();
  await sms.send({ ...hello, sendAt: new Date(Date.now() + 3_600_000) });
  await sms.send(hello);
  await messaging.idle();
  await eventually(async () => expect(timers()).toBeLessThanOrEqual(before));
});

it('a message without a sender has that of the options', async () => {
  const { app, messaging, sms } = await started({
    sms: { from: 'ACME' },
    email: { from: 'Shop <orders@shop.test>' },
  });
  await sms.send({ to: TO, body: 'Hello' });
  await sms.send({ from: 'OTHER', to: TO, body: 'Hello' });
  await app.get(EmailService).send({ to: 'ada@example.com', subject: 'Hello', text: 'Hello' });
  await messaging.idle();
  expect(messaging.sent().map(({ from }) => from)).toEqual(['ACME', 'OTHER', 'orders@shop.test']);
});

it.each([
  ['sms', 'Too long a sender', /^sms\.from: must be 1 to 11 letters/],
  ['email', 'no address', /^email\.from: must be an e-mail address/],
])(
  'a sender of the option %s.from that no message may have fails the boot',
  async (channel, from, message) => {
    await expect(started({ [channel]: { from } })).rejects.toThrow(message);
    app = undefined;
  },
);

it('policy.optIn: a channel that needs no opt-in by itself takes messages after one alone', async () => {
  const { messaging, sms, contacts } = await started({ policy: { optIn: ['sms'] } });
  await expect(sms.send(hello)).rejects.toMatchObject({ code: 'opt_in_required' });
  await contacts.optIn(TO, { channel: 'sms', source: 'web form' });
  await sms.send(hello);
  await messaging.idle();
  expect(messaging).toHaveSent({ channel: 'sms', to: TO });
});

it('a template whose variables are named at the platform leaves with their names, another without', async () => {
  const templates = defineTemplates({
    named: { language: 'en', category: 'utility', params: ['name', 'order'], named: true },
    placed: { language: 'en', category: 'utility', params: ['name', 'order'] },
  });
  const from = '2348000000001';
  const { messaging, whatsapp, contacts } = await started({ whatsapp: { from, templates } });
  await contacts.optIn(TO, { channel: 'whatsapp', source: 'web form' });
  const params = { order: '17', name: 'Ada' };
  await whatsapp.sendTemplate({ to: TO, template: templates.named, params });
  await whatsapp.sendTemplate({ to: TO, template: templates.placed, params });
  await messaging.idle();
  const [named, placed] = messaging.sent().map(({ content }) => content);
  expect(named).toMatchObject({ params: ['Ada', '17'], paramNames: ['name', 'order'] });
  expect(placed).not.toHaveProperty('paramNames');
});
