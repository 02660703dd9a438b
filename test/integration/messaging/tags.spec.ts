import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import {
  ContactsService,
  MESSAGE_STATUS_CHANGED,
  MESSAGING_STATUS_LISTENER,
  MessageValidationError,
  type MessageStatusChanged,
  MessagingModule,
  simulator,
  SmsService,
  type StatusListener,
  VasService,
  VoiceService,
  WhatsAppService,
} from '@dundun/messaging';
import { MessageHistory, MessagingOperations } from '@dundun/messaging/operations';
import { Module } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';

const TO = '2348012345678';
const labels = { tags: ['order', 'vip'], metadata: { order: '1001' } };

class Heard implements StatusListener {
  readonly after: MessageStatusChanged[] = [];
  readonly within: MessageStatusChanged[] = [];

  @OnEvent(MESSAGE_STATUS_CHANGED)
  onChange(change: MessageStatusChanged): void {
    this.after.push(change);
  }

  async onStatusChanged(changes: readonly MessageStatusChanged[]): Promise<void> {
    this.within.push(...changes);
  }
}

@Module({
  providers: [Heard, { provide: MESSAGING_STATUS_LISTENER, useExisting: Heard }],
})
class ListenerModule {}

describeEachDatabase('tags and metadata', (database) => {
  let app: TestingModule;
  let heard: Heard;
  beforeAll(async () => {
    app = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot({ ...database.options(), entities: [], migrations: [] }),
        ListenerModule,
        MessagingModule.forRoot({
          transport: simulator({ reportDelay: 5 }),
          whatsapp: { templates: 'open' },
          callbackPath: false,
        }),
      ],
    }).compile();
    await app.init();
    await app.get(ContactsService).optIn(TO, { channel: 'whatsapp', source: 'test' });
    await app.get(VasService).allow({ currency: 'NGN', daily: '50000', perNumber: '50000' });
    heard = app.get(Heard, { strict: false });
  });
  beforeEach(() => {
    heard.after.length = 0;
    heard.within.length = 0;
  });
  afterEach(async () => {
    await app.get(DataSource).query('DELETE FROM messaging_batch_label');
  });
  afterAll(() => app.close());

  const later = () => new Date(Date.now() + 3_600_000);
  const sms = () => app.get(SmsService);

  it.each([
    ['an SMS', () => sms().send({ from: 'ACME', to: TO, body: 'Hello', ...labels })],
    [
      'a WhatsApp template',
      () =>
        app
          .get(WhatsAppService)
          .sendTemplate({ to: TO, template: 'order_update', language: 'en', ...labels }),
    ],
    [
      'a call',
      () => app.get(VoiceService).send({ from: '2348000000001', to: TO, code: '4821', ...labels }),
    ],
    [
      'an order of airtime',
      () =>
        app.get(VasService).order({
          to: TO,
          product: 'airtime-ng',
          amount: '100',
          clientReference: `shop-${database.kind}`,
          ...labels,
        }),
    ],
  ])('tags and metadata of %s are in its events, in its reads and in lists', async (_, send) => {
    const { id } = await send();
    // A message that is read may never show `delivered`: both reports can come in one statement.
    const lastOf = (events: readonly MessageStatusChanged[]) =>
      events.findLast(({ batchId }) => batchId === id)?.status;
    await eventually(async () => {
      expect(lastOf(heard.after)).toMatch(/^(delivered|read|completed)$/);
      expect(lastOf(heard.within)).toMatch(/^(delivered|read|completed)$/);
    });
    const own = [...heard.after, ...heard.within].filter(({ batchId }) => batchId === id);
    for (const event of own) expect(event).toMatchObject(labels);
    const history = app.get(MessageHistory);
    expect(await history.batch(id)).toMatchObject(labels);
    expect(await history.message(`${id}-0`)).toMatchObject(labels);
    const found = await app.get(MessagingOperations).messages({ tag: 'vip' });
    expect(found.data).toMatchObject([{ batchId: id, ...labels }]);
    expect((await app.get(MessagingOperations).messages({ tag: 'none' })).data).toEqual([]);
  });

  it('events of a denied recipient and of a cancelled message have tags and metadata', async () => {
    await app.get(ContactsService).optOut('2348012345600', { channel: 'sms', source: 'test' });
    const to = ['2348012345600', TO];
    const { id } = await sms().send({
      from: 'ACME',
      to,
      body: 'Hello',
      sendAt: later(),
      ...labels,
    });
    await sms().cancel(id);
    await eventually(async () => expect(heard.after).toHaveLength(2));
    expect(heard.after).toMatchObject([
      { status: 'rejected', ...labels },
      { status: 'cancelled', ...labels },
    ]);
  });

  it('events of a send without tags and metadata have none', async () => {
    const { id } = await sms().send({ from: 'ACME', to: TO, body: 'Hello', tags: [] });
    await eventually(async () => expect(heard.after).toHaveLength(2));
    for (const event of heard.after) expect(Object.keys(event)).not.toContain('tags');
    expect(await sms().batch(id)).toMatchObject({ tags: [], metadata: {} });
  });

  it.each([
    [{ tags: ['a b'] }, 'tags[0]'],
    [{ tags: 'a' }, 'tags'],
    [{ metadata: { order: 7 } }, 'metadata.order'],
  ])('wrong tags and metadata are refused with their path: %j', async (wrong, path) => {
    const sends = [
      () => sms().send({ from: 'ACME', to: TO, body: 'Hello', ...wrong } as never),
      () => app.get(VoiceService).send({ from: TO, to: TO, code: '4821', ...wrong } as never),
      () => app.get(VasService).order({ to: TO, clientReference: 'r', ...wrong } as never),
    ];
    for (const send of sends) {
      const error = await send().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(MessageValidationError);
      expect((error as MessageValidationError).fields.map((field) => field.path)).toContain(path);
    }
  });

  it('a second send under one idempotency key with other tags is refused', async () => {
    const message = { from: 'ACME', to: TO, body: 'Hello', sendAt: later() };
    const options = { idempotencyKey: `key-${database.kind}` };
    const first = await sms().send({ ...message, tags: ['a'] }, options);
    const again = await sms().send({ ...message, tags: ['a'] }, options);
    expect(again).toMatchObject({ id: first.id, replayed: true });
    await expect(sms().send({ ...message, tags: ['b'] }, options)).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
    await sms().cancel(first.id);
  });
});

describeEachDatabase('a cancel of a tag', (database) => {
  let app: TestingModule;
  let heard: Heard;
  beforeAll(async () => {
    app = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot({ ...database.options(), entities: [], migrations: [] }),
        ListenerModule,
        MessagingModule.forRoot({ transport: simulator({ reportDelay: 5 }), callbackPath: false }),
      ],
    }).compile();
    await app.init();
    heard = app.get(Heard, { strict: false });
  });
  beforeEach(() => {
    heard.after.length = 0;
  });
  afterAll(() => app.close());

  const later = () => new Date(Date.now() + 3_600_000);
  const sms = () => app.get(SmsService);
  const send = (tags: string[], tenant: string, to: string | string[] = TO, sendAt = later()) =>
    sms().send({ from: 'ACME', to, body: 'Sale', tags, sendAt }, { tenant });

  it('a cancel of a tag stops the messages of all its batches that have not started, and counts them', async () => {
    const tenant = 'seller';
    const done = await send(['sale'], tenant, TO, new Date(0));
    await eventually(async () =>
      expect((await sms().batch(done.id, { tenant })).counts).toEqual({ delivered: 1 }),
    );
    const ids: string[] = [];
    for (let n = 0; n < 120; n++)
      ids.push((await send(['x', 'sale'], tenant, [TO, `23480${10_000_000 + n}`])).id);
    const other = await send(['other'], tenant);
    const [before] = ids;
    await sms().cancel(before!, { tenant });
    await eventually(async () =>
      expect(heard.after.filter(({ batchId }) => batchId === before)).toHaveLength(2),
    );
    heard.after.length = 0;
    expect(await sms().cancel({ tag: 'sale' }, { tenant })).toEqual({
      batches: 119,
      messages: 238,
    });
    for (const id of ids)
      expect((await sms().batch(id, { tenant })).counts).toEqual({ cancelled: 2 });
    expect((await sms().batch(done.id, { tenant })).counts).toEqual({ delivered: 1 });
    expect((await sms().batch(other.id, { tenant })).counts).toEqual({ queued: 1 });
    await eventually(async () => expect(heard.after).toHaveLength(238));
    for (const event of heard.after)
      expect(event).toMatchObject({ tenant, status: 'cancelled', tags: ['x', 'sale'] });
    expect(await sms().cancel({ tag: 'sale' }, { tenant })).toEqual({ batches: 0, messages: 0 });
  });

  it('a cancel of a tag leaves the batches of other tenants and channels', async () => {
    const [own, foreign] = [await send(['both'], 'one'), await send(['both'], 'two')];
    const call = await app
      .get(VoiceService)
      .send(
        { from: '2348000000001', to: TO, code: '4821', tags: ['both'], sendAt: later() },
        { tenant: 'one' },
      );
    expect(await sms().cancel({ tag: 'both' }, { tenant: 'one' })).toMatchObject({ batches: 1 });
    expect((await sms().batch(own.id, { tenant: 'one' })).status).toBe('cancelled');
    expect((await sms().batch(foreign.id, { tenant: 'two' })).status).toBe('scheduled');
    expect((await app.get(VoiceService).batch(call.id, { tenant: 'one' })).status).toBe(
      'scheduled',
    );
  });

  it.each([[{ tag: 'a b' }], [{ tag: '' }], [{}]])('a cancel of a tag refuses %j', async (of) => {
    await expect(sms().cancel(of as never)).rejects.toMatchObject({ fields: [{ path: 'tag' }] });
  });
});
