import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import {
  BatchNotFoundError,
  type Contact,
  ContactsService,
  type ListedMessage,
  MessageNotFoundError,
  type Page,
  SmsService,
  WhatsAppService,
} from '@dundun/messaging';
import {
  type ConversationMessage,
  HoldsService,
  MessageHistory,
} from '@dundun/messaging/operations';
import { InboundRecorder } from '../../../libs/messaging/src/contacts/inbound.js';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { bootApp } from '../policy/policy-app.js';

const HOUR = 3_600_000;

describeEachDatabase('the history of all channels', (database) => {
  let app: TestingModule;
  let history: MessageHistory;
  let sms: SmsService;
  let whatsApp: WhatsAppService;
  const ids: Record<string, string> = {};
  const countsOf = async (name: string) => (await history.batch(ids[name] ?? '')).counts;
  const settled = () =>
    eventually(async () => {
      expect(await countsOf('sms')).toEqual({ delivered: 2, undelivered: 1 });
      expect(await countsOf('other')).toEqual({ delivered: 1 });
      expect(await countsOf('whatsapp')).toEqual({ read: 1 });
    });

  beforeAll(async () => {
    app = await bootApp(database.options(), {
      store: { recipientIndex: true },
      whatsapp: { templates: 'open' },
    });
    history = app.get(MessageHistory);
    sms = app.get(SmsService);
    whatsApp = app.get(WhatsAppService);
    const send = async (name: string, sent: Promise<{ readonly id: string }>) => {
      ids[name] = (await sent).id;
    };
    const to = ['2348010000001', '2348010000002', '2348010009901'];
    await send('sms', sms.send({ from: 'ACME', to, body: 'Hello' }, { tenant: 'acme' }));
    await send('other', sms.send({ from: 'GLOBEX', to: to[0]!, body: 'Hi' }, { tenant: 'globex' }));
    await app.get(ContactsService).optIn('2348010000001', {
      tenant: 'acme',
      channel: 'whatsapp',
      source: 'test',
    });
    await send(
      'whatsapp',
      whatsApp.sendTemplate(
        { to: to[0]!, template: 'hello', language: 'en', params: [] },
        { tenant: 'acme' },
      ),
    );
    const sendAt = new Date(Date.now() + HOUR);
    await send(
      'later',
      sms.send(
        { from: 'ACME', to: ['2348010000003', '2348010000001'], body: 'x', sendAt },
        { tenant: 'acme' },
      ),
    );
    await settled();
  });
  afterAll(() => app.close());

  const namesOf = ({ data }: Page<ListedMessage>) =>
    data.map(({ batchId, position }) => {
      const [name] = Object.entries(ids).find(([, id]) => id === batchId) ?? [];
      return `${name}-${position}`;
    });

  it('a list has the messages of every channel and tenant, the newest batch first', async () => {
    expect(namesOf(await history.messages())).toEqual([
      'later-0',
      'later-1',
      'whatsapp-0',
      'other-0',
      'sms-0',
      'sms-1',
      'sms-2',
    ]);
    const [first] = (await history.messages({ reference: ids['whatsapp'] })).data;
    expect(first).toMatchObject({ tenant: 'acme', channel: 'whatsapp', provider: 'simulator' });
  });

  it.each([
    ['no tenant', { tenants: [] }, []],
    ['one tenant', { tenants: ['globex'] }, ['other-0']],
    [
      'two tenants',
      { tenants: ['globex', 'acme'], channel: 'sms' },
      ['later-0', 'later-1', 'other-0', 'sms-0', 'sms-1', 'sms-2'],
    ],
    ['a status', { status: 'undelivered' }, ['sms-2']],
    [
      'a provider',
      { provider: 'simulator', channel: 'sms' },
      ['other-0', 'sms-0', 'sms-1', 'sms-2'],
    ],
    ['a provider without messages', { provider: 'kannel' }, []],
    ['a sender', { from: 'GLOBEX' }, ['other-0']],
    [
      'an address in another form',
      { to: '+234 801 000 0001' },
      ['later-1', 'whatsapp-0', 'other-0', 'sms-0'],
    ],
    [
      'an address of one tenant',
      { to: '2348010000001', tenants: ['acme'], status: 'delivered' },
      ['sms-0'],
    ],
    ['a queued address', { to: '2348010000003' }, ['later-0']],
    ['a time', { until: new Date(0) }, []],
    ['a part of a number', { toPart: '0009901' }, ['sms-2']],
    ['a part that is shown', { toPart: '9901', toPartOf: 'shown' as const }, ['sms-2']],
    ['a part that is hidden', { toPart: '0009901', toPartOf: 'shown' as const }, []],
    ['a part of queued numbers', { toPart: '000003', tenants: ['acme'] }, ['later-0']],
    ['a part that no number has', { toPart: '999999' }, []],
    [
      'a country',
      { country: 'NG' },
      ['later-0', 'later-1', 'whatsapp-0', 'other-0', 'sms-0', 'sms-1', 'sms-2'],
    ],
    ['a country without messages', { country: 'DE' }, []],
    ['a country and an address', { country: 'NG', to: '2348010000003' }, ['later-0']],
    ['a subject that no message has', { subject: 'Hello' }, []],
    ['an error code and a country', { errorCode: 'none', country: 'NG' }, []],
  ])('a list finds by %s', async (_filter, filter, expected) => {
    expect(namesOf(await history.messages(filter))).toEqual(expected);
    expect(await history.total(filter)).toEqual({ messages: expected.length, more: false });
  });

  it('a message of a list has its country, kind, template and parts', async () => {
    const [sent] = (await history.messages({ reference: ids['sms'] })).data;
    expect(sent).toMatchObject({ country: 'NG', kind: 'text', template: null, parts: 1 });
    const [templated] = (await history.messages({ reference: ids['whatsapp'] })).data;
    expect(templated).toMatchObject({ country: 'NG', kind: 'template', template: 'hello' });
  });

  it('the total of an unknown reference is 0, and that of one message 1', async () => {
    expect(await history.total({ reference: 'unknown' })).toEqual({ messages: 0, more: false });
    const one = { reference: `${ids['sms']}-1` };
    expect(await history.total(one)).toEqual({ messages: 1, more: false });
  });

  it.each([
    ['toPart', { toPart: '12' }],
    ['toPart', { toPart: '12a' }],
    ['country', { country: 'ng' }],
    ['subject', { subject: 'x' }],
  ])('a wrong %s is refused with its name', async (path, filter) => {
    await expect(history.messages(filter)).rejects.toThrow(`${path}: must be`);
    await expect(history.total(filter)).rejects.toThrow(`${path}: must be`);
  });

  it('pages of a list follow each other without gaps', async () => {
    for (const filter of [
      {},
      { to: '2348010000001' },
      { status: 'delivered' },
      { tenants: ['acme', 'globex'] },
    ]) {
      const all = namesOf(await history.messages(filter));
      const paged: string[] = [];
      for (let cursor: string | null | undefined; cursor !== null;) {
        const page = await history.messages({ ...filter, limit: 1, ...(cursor && { cursor }) });
        paged.push(...namesOf(page));
        cursor = page.nextCursor;
      }
      expect(paged).toEqual(all);
    }
  });

  it('a reference may be the id of a batch, of a message, or of the provider', async () => {
    expect(namesOf(await history.messages({ reference: ids['sms'] }))).toEqual([
      'sms-0',
      'sms-1',
      'sms-2',
    ]);
    expect(namesOf(await history.messages({ reference: `${ids['sms']}-1` }))).toEqual(['sms-1']);
    const { providerId } = await history.message(`${ids['whatsapp']}-0`);
    expect(providerId).toMatch(/^wamid\./);
    expect(namesOf(await history.messages({ reference: providerId! }))).toEqual(['whatsapp-0']);
    expect(namesOf(await history.messages({ reference: 'none' }))).toEqual([]);
    const foreign = { reference: ids['sms'], tenants: ['globex'] };
    expect(namesOf(await history.messages(foreign))).toEqual([]);
  });

  it('a message has its requests, its reports and the time it waits for', async () => {
    const sent = await history.message(`${ids['sms']}-2`, { tenants: ['acme'] });
    expect(sent).toMatchObject({
      tenant: 'acme',
      channel: 'sms',
      status: 'undelivered',
      provider: 'simulator',
      lane: 'acme:sms',
      submissionId: `${ids['sms']}-s0`,
      waitsUntil: null,
      submissions: [{ provider: 'simulator', attempt: 1, outcome: 'accepted', errorCode: null }],
    });
    expect(new Set(sent.reports.map(({ status }) => status))).toEqual(
      new Set(['sent', 'undelivered']),
    );
    const later = await history.message(`${ids['later']}-0`);
    expect(later).toMatchObject({
      status: 'queued',
      provider: null,
      submissions: [],
      submissionId: null,
    });
    expect(later.waitsUntil).toEqual(later.sendAt);
  });

  it('a message or batch of another tenant is unknown', async () => {
    const id = `${ids['sms']}-0`;
    await expect(history.message(id, { tenants: ['globex'] })).rejects.toThrow(
      MessageNotFoundError,
    );
    await expect(history.message('x')).rejects.toThrow(MessageNotFoundError);
    await expect(history.message(`${ids['sms']}-3`)).rejects.toThrow(MessageNotFoundError);
    await expect(history.batch(ids['sms']!, { tenants: ['globex'] })).rejects.toThrow(
      BatchNotFoundError,
    );
  });

  it('batches are listed by channel and status', async () => {
    const idsOf = async (filter = {}) => (await history.batches(filter)).data.map(({ id }) => id);
    expect(await idsOf()).toEqual([ids['later'], ids['whatsapp'], ids['other'], ids['sms']]);
    expect(await idsOf({ status: 'scheduled' })).toEqual([ids['later']]);
    expect(await idsOf({ channel: 'whatsapp' })).toEqual([ids['whatsapp']]);
    expect(await idsOf({ status: 'completed', tenants: ['acme', 'globex'], limit: 2 })).toEqual([
      ids['whatsapp'],
      ids['other'],
    ]);
  });

  it('counts and times cover the channels and tenants that are named', async () => {
    const now = Date.now();
    const period = {
      since: new Date(now - HOUR),
      until: new Date(now + HOUR),
      interval: 'day',
    } as const;
    const sum = async (filter = {}) => {
      const { slots, countedSince } = await history.stats({ ...period, ...filter });
      expect(countedSince).toBeNull();
      return slots.reduce((total, { accepted }) => total + accepted, 0);
    };
    expect(await sum()).toBe(7);
    expect(await sum({ tenants: ['globex'] })).toBe(1);
    expect(await sum({ channel: 'whatsapp' })).toBe(1);
    expect(await history.latency({ ...period, channel: 'sms' })).toMatchObject({
      messages: 4,
      toSent: { p50: expect.any(Number) },
      toDelivered: { p95: expect.any(Number) },
    });
    expect(await history.latency({ ...period, tenants: ['none'] })).toEqual({
      messages: 0,
      toSent: null,
      toDelivered: null,
    });
  });

  it('counts name the messages that were cancelled with their batch', async () => {
    const tenant = 'cancelling';
    const sendAt = new Date(Date.now() + HOUR);
    const to = ['2348010000001', '2348010000002'];
    const { id } = await sms.send({ from: 'ACME', to, body: 'x', sendAt }, { tenant });
    await sms.cancel(id, { tenant });
    // Without `until` the period ends now.
    const period = { since: new Date(Date.now() - HOUR), interval: 'day' } as const;
    const { slots } = await history.stats({ ...period, tenants: [tenant] });
    expect(slots.filter(({ accepted }) => accepted > 0)).toMatchObject([
      { accepted: 2, counts: { cancelled: 2 } },
    ]);
  });

  it('a bounded read of counts covers the newest batches, and says since when', async () => {
    const [since, until] = [new Date(Date.now() - HOUR), new Date(Date.now() + HOUR)];
    const period = { since, until, interval: 'day', tenants: ['acme'] } as const;
    const { slots, countedSince } = await history.stats({ ...period, atMost: 1 });
    const newest = (await history.batches({ tenants: ['acme'], limit: 1 })).data[0]!;
    expect(countedSince).toEqual(newest.createdAt);
    expect(slots.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(newest.recipients);
    expect(await history.stats({ ...period, atMost: 100 })).toEqual({
      ...(await history.stats(period)),
      countedSince: null,
    });
  });

  it('a read of changes names the batches and messages of the tenants since the previous read', async () => {
    // No other case sends for these tenants, so no late report is a change.
    const tenants = ['hooli'];
    const { cursor } = await history.changes({ tenants });
    const all = await history.changes();
    expect(await history.changes({ tenants, since: cursor })).toMatchObject({ changed: false });
    await sms.send({ from: 'X', to: '2348010000009', body: 'x' }, { tenant: 'initech' });
    expect(await history.changes({ tenants, since: cursor })).toMatchObject({ changed: false });
    expect(await history.changes({ since: all.cursor })).toMatchObject({ changed: true });
    const { id } = await sms.send(
      { from: 'X', to: '2348010000009', body: 'x' },
      { tenant: 'hooli' },
    );
    const accepted = await history.changes({ tenants, since: cursor });
    expect(accepted).toMatchObject({ changed: true, batches: expect.arrayContaining([id]) });
    // Both reports may have come before the look above.
    await eventually(async () => {
      const reported = await history.changes({ tenants, since: cursor });
      expect(reported.messages).toContain(`${id}-0`);
    });
  });

  it('texts of inbound messages are kept with their contact, and erased with it', async () => {
    const contacts = app.get(ContactsService);
    const inbound = app.get(InboundRecorder, { strict: false });
    const message = {
      channel: 'whatsapp',
      from: '2348010000077',
      bsuid: null,
      to: '2348000000001',
      sentAt: null,
      tenant: 'acme',
    };
    const looks = await Promise.all(
      (['all', ['acme'], ['stark']] as const).map(async (tenants) => {
        const { cursor: since } = await history.changes({ tenants });
        return { tenants, since };
      }),
    );
    for (const text of ['first', 'second'])
      await inbound.record([{ ...message, text, messageId: text }], { transport: 'simulator' });
    const changed = looks.map(async (look) => (await history.changes(look)).changed);
    expect(await Promise.all(changed)).toEqual([true, true, false]);
    const contact = await contacts.find(message.from, { tenant: 'acme' });
    const { data: texts } = await history.conversation(contact!);
    expect(texts).toMatchObject([
      { direction: 'in', message: { text: 'second', to: message.to, channel: 'whatsapp' } },
      { direction: 'in', message: { text: 'first', from: message.from } },
    ]);
    expect(
      (await history.inbound({ tenants: ['acme'], limit: 1 })).map(({ text }) => text),
    ).toEqual(['second']);
    expect(await history.inbound({ tenants: ['globex'] })).toEqual([]);
    expect(await inbound.forgetTexts(HOUR, 100)).toBe(0);
    // Both texts belong to one person: a merge takes them along.
    await contacts.upsert({ phone: message.from, email: 'ada@example.com' }, { tenant: 'acme' });
    const merged = await contacts.find('ada@example.com', { tenant: 'acme' });
    expect((await history.conversation(merged!)).data).toHaveLength(2);
    await contacts.erase(message.from, { tenant: 'acme' });
    expect(await history.inbound()).toEqual([]);
  });

  /** All pages. */
  async function conversation(of: MessageHistory, contact: Contact, limit: number) {
    const pages: (readonly ConversationMessage[])[] = [];
    let cursor: string | undefined;
    do {
      const page = await of.conversation(contact, { limit, cursor });
      pages.push(page.data);
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    return pages;
  }

  it('the pages of a conversation have each message to and from the contact once, also those of one millisecond', async () => {
    const options = { tenant: 'chat' };
    const [one, other] = ['2348010000081', '2348010000082'];
    const contacts = app.get(ContactsService);
    const inbound = app.get(InboundRecorder, { strict: false });
    const [contact] = await contacts.upsert({ phone: one, email: 'chat@example.com' }, options);
    const sentAt = new Date();
    const said = Array.from({ length: 7 }, (_, n) => `said ${n}`);
    const message = { channel: 'sms', from: one, bsuid: null, to: 'ACME', sentAt, ...options };
    const send = (to: string[]) => sms.send({ from: 'ACME', to, body: 'x' }, options);
    const batches = [await send([one, other])];
    await inbound.record(
      said.map((text) => ({ ...message, text, messageId: text })),
      { transport: 'simulator' },
    );
    batches.push(...(await Promise.all(Array.from({ length: 6 }, () => send([one])))));
    for (const limit of [1, 2, 3, 13, 14, 100]) {
      const pages = await conversation(history, contact, limit);
      const all = pages.flat();
      expect(pages.filter((page) => page.length > limit)).toEqual([]);
      const [sent, received] = ['out', 'in'].map((direction) =>
        all.flatMap((entry) => {
          if (entry.direction !== direction) return [];
          return entry.direction === 'in' ? [entry.message.text] : [entry.message.batchId];
        }),
      );
      expect(received!.map(String).toSorted()).toEqual(said);
      expect(sent).toEqual(
        batches
          .map(({ id }) => id)
          .toSorted()
          .toReversed(),
      );
      expect(all.at(-1)).toMatchObject({ message: { id: `${batches[0]!.id}-0` } });
    }
    await expect(history.conversation(contact, { cursor: 'x' })).rejects.toThrow(/cursor/);
    await contacts.erase(one, options);
  });

  it('a message that starts between two statements of a list by its address stands in the list', async () => {
    const options = { tenant: 'starts' };
    const [holds, { database: store }] = [
      app.get(HoldsService),
      app.get(MessageStore, { strict: false }),
    ];
    const lane = { lanes: 'starts:sms', reason: 'test' };
    await holds.hold(lane);
    const to = '2348010000085';
    const { id } = await sms.send({ from: 'ACME', to, body: 'x' }, options);
    const all = store.all.bind(store);
    let hasStarted = false;
    // After the first of the two: that of the messages that have started, and that of those that wait.
    const read = jest.spyOn(store, 'all').mockImplementation(async (sql, params) => {
      const rows = await all(sql, params);
      if (hasStarted || !/m\.recipient = |c\.recipients LIKE /.test(sql)) return rows as never;
      hasStarted = true;
      await holds.release(lane);
      await eventually(async () => expect((await history.batch(id)).status).toBe('completed'));
      return rows as never;
    });
    const { data } = await history.messages({ tenants: ['starts'], to });
    read.mockRestore();
    expect(hasStarted).toBe(true);
    expect(data).toMatchObject([{ batchId: id }]);
  });

  it('a conversation goes on beyond the newest messages to other people that a page looks at', async () => {
    const options = { tenant: 'busy' };
    const unindexed = await bootApp(database.options());
    try {
      const [contact] = await unindexed
        .get(ContactsService)
        .upsert({ phone: '2348010000083' }, options);
      const send = (to: string) =>
        unindexed.get(SmsService).send({ from: 'ACME', to, body: 'x' }, options);
      const { id } = await send('2348010000083');
      for (let sent = 0; sent < 1_050; sent += 150)
        await Promise.all(Array.from({ length: 150 }, () => send('2348010000084')));
      const pages = await conversation(unindexed.get(MessageHistory), contact, 50);
      expect(pages).toMatchObject([[], [{ direction: 'out', message: { id: `${id}-0` } }]]);
    } finally {
      await unindexed.close();
    }
  });

  it('texts older than the retention are forgotten', async () => {
    const inbound = app.get(InboundRecorder, { strict: false });
    const sentAt = new Date(Date.now() - 2 * HOUR);
    const message = { channel: 'sms', from: '2348010000078', bsuid: null, to: 'ACME', text: 'old' };
    await inbound.record([{ ...message, sentAt, messageId: 'old' }], { transport: 'simulator' });
    await inbound.record([{ ...message, sentAt: null, messageId: 'new' }], {
      transport: 'simulator',
    });
    expect(await inbound.forgetTexts(HOUR, 100)).toBe(1);
    expect(await history.inbound()).toHaveLength(1);
  });
});
