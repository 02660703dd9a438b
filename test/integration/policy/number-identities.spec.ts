import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import { ContactsService, PolicyError, SmsService, WhatsAppService } from '@dundun/messaging';
import { MESSAGING_MIGRATIONS } from '@dundun/messaging/migrations';
import { MessageHistory } from '@dundun/messaging/operations';
import { whatsappCloudParser } from '@dundun/messaging/whatsapp-cloud';
import { InboundRecorder } from '../../../libs/messaging/src/contacts/inbound.js';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { bootApp } from './policy-app.js';

const OURS = '2348000000001';

/** Two forms of one number. */
const PAIRS = [
  ['Mexico', '525512345678', '5215512345678'],
  ['Brazil', '5511987654321', '551187654321'],
  ['Argentina', '541123456789', '5491123456789'],
  ['Argentina with 15', '5491123456780', '54111523456780'],
  ['Benin', '2290197123456', '22997123456'],
  ['Ivory Coast', '2250707123456', '22507123456'],
] as const;

const BOTH = PAIRS.flatMap(([country, one, other]) => [
  [country, one, other],
  [country, other, one],
]);

describeEachDatabase('one person under two numbers', (database) => {
  let app: TestingModule;
  let contacts: ContactsService;
  let sms: SmsService;
  let whatsApp: WhatsAppService;
  let next = 0;

  beforeAll(async () => {
    app = await bootApp(database.options(), {
      policy: { frequencyCap: { sms: { max: 1, per: '24h' } } },
      whatsapp: { templates: 'open', from: OURS },
      inbound: { tenant: () => String(next) },
    });
    contacts = app.get(ContactsService);
    sms = app.get(SmsService);
    whatsApp = app.get(WhatsAppService);
  });
  afterAll(() => app.close());

  const tenant = () => String(next);
  const received = (from: string, text: string) =>
    app.get(InboundRecorder).record(
      [
        {
          messageId: `wamid.${from}.${next}.${text}`,
          channel: 'whatsapp',
          from,
          bsuid: null,
          to: OURS,
          text,
          sentAt: null,
        },
      ],
      { transport: 'simulator' },
    );
  const delivered = (id: string) =>
    eventually(async () => {
      const [message] = (await sms.messages(id, { tenant: tenant() })).data;
      expect(message?.status).toBe('delivered');
    });
  const text = (to: string) => whatsApp.sendText({ to, text: 'Hi' }, { tenant: tenant() });

  it.each(BOTH)('%s: a STOP from %s stops %s', async (_country, one, other) => {
    next++;
    const optIn = { channel: 'whatsapp', source: 'web form', tenant: tenant() } as const;
    await contacts.optIn(other, { ...optIn, at: new Date(Date.now() - 60_000) });
    await received(one, 'Hello');
    await expect(text(other)).resolves.toMatchObject({ recipients: 1 });
    await received(one, 'STOP');
    await expect(text(other)).rejects.toMatchObject({ code: 'opted_out' });
    expect(await contacts.find(one, { tenant: tenant() })).toMatchObject({
      phone: other,
      addresses: [{ kind: 'phone', value: other }],
      consents: { whatsapp: { state: 'opted_out' } },
    });
  });

  it('a STOP that Meta reports from 5215512345678 opens the window of 525512345678 and stops it', async () => {
    next++;
    const options = { tenant: tenant() };
    const at = new Date(Date.now() - 60_000);
    await contacts.optIn('525512345678', {
      ...options,
      channel: 'whatsapp',
      source: 'web form',
      at,
    });
    const message = { from: '5215512345678', id: 'wamid.1', type: 'text', text: { body: 'STOP' } };
    const body = {
      object: 'whatsapp_business_account',
      entry: [
        {
          id: '1',
          changes: [
            {
              field: 'messages',
              value: {
                messaging_product: 'whatsapp',
                metadata: { display_phone_number: OURS, phone_number_id: '1' },
                messages: [{ ...message, timestamp: String(Math.floor(Date.now() / 1_000)) }],
              },
            },
          ],
        },
      ],
    };
    const request = {
      method: 'POST',
      url: '/',
      pathSecret: undefined,
      ip: '127.0.0.1',
      headers: {},
      query: {},
      body,
    } as const;
    const raw = Buffer.from(JSON.stringify(body));
    const parsed = whatsappCloudParser().parse({
      ...request,
      rawBody: raw,
      receivedAt: Date.now(),
    });
    const messages = parsed.messages ?? [];
    await app.get(InboundRecorder).record(messages, { transport: 'meta' });
    const contact = await contacts.find('525512345678', options);
    expect(contact).toMatchObject({
      phone: '525512345678',
      consents: { whatsapp: { state: 'opted_out', source: 'keyword' } },
    });
    expect(contact?.lastInbound[OURS]?.getTime()).toBeGreaterThan(at.getTime());
    await expect(text('525512345678')).rejects.toThrow(PolicyError);
  });

  it.each(BOTH)('%s: a suppression of %s counts for %s', async (_country, one, other) => {
    next++;
    const options = { tenant: tenant() };
    await contacts.suppress(one, { ...options, reason: 'complaint' });
    const send = () => sms.send({ from: 'ACME', to: other, body: 'Hi' }, options);
    await expect(send()).rejects.toThrow(PolicyError);
    expect((await contacts.suppressions({ ...options, address: other })).data).toMatchObject([
      { address: { value: one } },
    ]);
    await contacts.unsuppress(other, options);
    await delivered((await send()).id);
    await expect(sms.send({ from: 'ACME', to: one, body: 'Hi' }, options)).rejects.toMatchObject({
      code: 'frequency_capped',
    });
  });

  it('a message goes to the number as the app wrote it last, also through a group', async () => {
    next++;
    const options = { tenant: tenant() };
    await received('5215512345678', 'Hello');
    await contacts.upsert({ phone: '525512345678', name: 'Ana' }, options);
    await received('5215512345678', 'Hello again');
    const group = await contacts.groups.create('Friends', options);
    await contacts.groups.add(group.id, ['525512345678'], options);
    const { id } = await sms.send({ from: 'ACME', to: group.id, body: 'Hi' }, options);
    expect((await sms.recipients(id, options)).data).toEqual(['525512345678']);
    expect(await contacts.groups.remove(group.id, ['5215512345678'], options)).toBe(1);
    await contacts.groups.add(group.id, ['5215512345678'], options);
    const members = await contacts.groups.members(group.id, options);
    expect(members.data).toMatchObject([{ phone: '5215512345678', name: 'Ana' }]);
  });

  it.each(BOTH)(
    '%s: a send to %s and %s is one message, to the form that was given first',
    async (_country, one, other) => {
      for (const form of ['list', 'group', 'personal']) {
        next++;
        const options = { tenant: tenant() };
        const group = await contacts.groups.create('Friends', options);
        await contacts.groups.add(group.id, [other], options);
        const first = form === 'personal' ? { to: one, variables: { name: 'Ana' } } : one;
        const to = [first, form === 'group' ? group.id : other];
        const { id, recipients } = await sms.send({ from: 'ACME', to, body: 'Hi' }, options);
        expect(recipients).toBe(1);
        expect((await sms.recipients(id, options)).data).toEqual([one]);
      }
    },
  );

  it.each([...BOTH, ['the United Kingdom', '442079460958', '4402079460958']])(
    '%s: lists of messages and reports find those to %s by %s',
    async (_country, one, other) => {
      next++;
      const options = { tenant: tenant() };
      const history = app.get(MessageHistory);
      await contacts.optIn(one, { ...options, channel: 'whatsapp', source: 'web form' });
      const { id } = await sms.send({ from: 'ACME', to: one, body: 'Hi' }, options);
      const sendAt = new Date(Date.now() + 3_600_000);
      const later = await whatsApp.sendTemplate(
        { to: one, template: 'hello', language: 'en', params: [], sendAt },
        options,
      );
      await delivered(id);
      const of = async (filter: { to: string; reference?: string }) =>
        (await history.messages({ ...filter, tenants: [tenant()] })).data.map(
          ({ batchId }) => batchId,
        );
      expect(await of({ to: other })).toEqual([later.id, id]);
      expect(await of({ to: other, reference: id })).toEqual([id]);
      const { data } = await sms.reports({ ...options, to: other });
      expect(data).toContainEqual(expect.objectContaining({ recipient: one, status: 'delivered' }));
    },
  );

  it('erasing one form erases the messages to both, and the refusal stays for both', async () => {
    next++;
    const options = { tenant: tenant() };
    const one = await sms.send({ from: 'ACME', to: '5215587654321', body: 'Hi' }, options);
    await delivered(one.id);
    await contacts.optOut('525587654321', { ...options, channel: 'sms', source: 'call' });
    expect(await contacts.erase('525587654321', options)).toMatchObject({ messages: 1 });
    expect((await sms.recipients(one.id, options)).data).toEqual(['']);
    await expect(
      sms.send({ from: 'ACME', to: '5215587654321', body: 'Hi' }, options),
    ).rejects.toMatchObject({ code: 'opted_out' });
  });

  it.each([
    ['442079460958', '4402079460958'],
    ['36201234567', '3606201234567'],
    ['37061234567', '370861234567'],
    ['12125550123', '112125550123'],
  ])('erasing %s or %s erases messages from before its prefix was removed', async (to, stored) => {
    for (const erased of [to, stored]) {
      next++;
      const options = { tenant: tenant() };
      const { id } = await sms.send({ from: 'ACME', to, body: 'Hi' }, options);
      await delivered(id);
      await app
        .get(MessageStore)
        .database.transaction((tx) =>
          tx.run('UPDATE messaging_batch_chunk SET recipients = ? WHERE batch = ?', [stored, id]),
        );
      expect(await contacts.erase(erased, options)).toMatchObject({ messages: 1 });
      expect((await sms.recipients(id, options)).data).toEqual(['']);
    }
  });

  it('a message from a number with a trunk zero is its person’s', async () => {
    next++;
    const options = { tenant: tenant() };
    const optIn = { channel: 'whatsapp', source: 'web form', tenant: tenant() } as const;
    await contacts.optIn('442079460958', { ...optIn, at: new Date(Date.now() - 60_000) });
    await received('4402079460958', 'Hello');
    await expect(text('442079460958')).resolves.toMatchObject({ recipients: 1 });
    await received('4402079460958', 'STOP');
    await expect(text('442079460958')).rejects.toMatchObject({ code: 'opted_out' });
    expect(await contacts.find('4402079460958', options)).toMatchObject({ phone: '442079460958' });
  });

  it('a report that names the other form is applied', async () => {
    next++;
    const options = { tenant: tenant() };
    const { id } = await sms.send(
      { from: 'ACME', to: ['5215500009906', '525500019906'], body: 'Hi' },
      options,
    );
    const messages = async () => (await sms.messages(id, options)).data;
    await eventually(async () =>
      expect(await messages()).toMatchObject([{ status: 'sent' }, { status: 'sent' }]),
    );
    const { reports } = app.get(MessageStore);
    const report = {
      submissionId: `${id}-s0`,
      reference: null,
      messageId: null,
      recipient: '525500009906',
      status: 'undelivered',
      rawStatus: 'UNDELIV',
      errorCode: null,
      providerTime: null,
    };
    await reports.record([report], { provider: 'simulator' });
    expect(await messages()).toMatchObject([
      { recipient: '5215500009906', status: 'undelivered' },
      { status: 'sent' },
    ]);
  });

  it('the migration gives rows their identity, merges contacts and keeps refusals', async () => {
    const source = await database.open();
    const runner = source.createQueryRunner();
    const [migration] = MESSAGING_MIGRATIONS.map((Migration) => new Migration()).filter(
      ({ name }) => name === 'NumberIdentities1790000001000',
    );
    await migration?.down(runner);
    const id = (n: number) => `0199aaaa-0000-7000-8000-${String(n).padStart(12, '0')}`;
    const insert = async (table: string, row: Record<string, unknown>) => {
      const names = Object.keys(row);
      const mark = (at: number) => (database.kind === 'postgres' ? `$${at + 1}` : '?');
      await runner.query(
        `INSERT INTO messaging_${table} (${names.join(', ')}) VALUES (${names.map((_, at) => mark(at)).join(', ')})`,
        Object.values(row),
      );
    };
    const person = async (n: number, address: string, name: string | null, of = 'old') => {
      await insert('contact', { id: id(n), tenant: of, name, created_at: n });
      const kind = 'phone';
      await insert('contact_address', { tenant: of, address, kind, contact: id(n), given_at: n });
    };
    const consent = (n: number, state: string, at: number) =>
      insert('consent', {
        contact: id(n),
        channel: 'sms',
        category: '*',
        state,
        at,
        source: 'test',
      });
    // The older one refused, the younger one consented later; each has a window and a group.
    await person(1, '5215500000001', null);
    await person(2, '525500000001', 'Ana');
    await consent(1, 'opted_out', 1_000);
    await consent(2, 'opted_in', 2_000);
    await insert('last_inbound', { contact: id(1), sender: OURS, last_at: 5_000 });
    await insert('last_inbound', { contact: id(2), sender: OURS, last_at: 9_000 });
    for (const [group, n] of [
      ['grp_a', 1],
      ['grp_a', 2],
      ['grp_b', 2],
    ] as const)
      await insert('group_member', { group_id: group, contact: id(n) });
    // Alone, in two forms of one contact, in another country, and with a trunk zero.
    await person(3, '22997000003', null);
    await person(4, '551187654324', null);
    const kind = 'phone';
    const second = { tenant: 'old', address: '5511987654324', kind, contact: id(4), given_at: 5 };
    await insert('contact_address', second);
    await person(5, '2348012345678', null);
    await person(6, '4402079460958', null);
    const many = Array.from({ length: 1_200 }, (_, n) => 10 + n);
    for (const n of many) await person(n, `52155${10_000_000 + n}`, null, 'many');
    for (const [address, reason, at] of [
      ['5215500000001', 'opted_out', 1],
      ['525500000001', 'complaint', 2],
      ['22507123450', 'complaint', 3],
    ] as const)
      await insert('suppression', {
        tenant: 'old',
        address,
        channel: '*',
        category: '*',
        reason,
        at,
      });
    await migration?.up(runner);
    await migration?.up(runner);
    await runner.release();

    const of = (person: string, from = 'old') => contacts.find(person, { tenant: from });
    expect(await of('5215500000001')).toMatchObject({
      id: id(1),
      name: 'Ana',
      phone: '525500000001',
      consents: { sms: { state: 'opted_out' } },
      lastInbound: { [OURS]: new Date(9) },
      groups: ['grp_a', 'grp_b'],
    });
    expect(await contacts.get(id(2), { tenant: 'old' })).toBeUndefined();
    expect(await of('2290197000003')).toMatchObject({ id: id(3), phone: '22997000003' });
    expect(await of('551187654324')).toMatchObject({ id: id(4), phone: '5511987654324' });
    expect((await of('5511987654324'))?.addresses).toHaveLength(1);
    expect(await of('2348012345678')).toMatchObject({ id: id(5) });
    expect(await of('442079460958')).toMatchObject({ id: id(6), phone: '4402079460958' });
    for (const n of [10, 700, 1_209])
      expect(await of(`5255${10_000_000 + n}`, 'many')).toMatchObject({ id: id(n) });
    const { data } = await contacts.suppressions({ tenant: 'old' });
    expect(data).toMatchObject([
      { address: { value: '22507123450' }, reason: 'complaint' },
      { address: { value: '525500000001' }, reason: 'complaint' },
    ]);
    for (const to of ['2250707123450', '5215500000001'])
      await expect(
        sms.send({ from: 'ACME', to, body: 'Hi' }, { tenant: 'old' }),
      ).rejects.toMatchObject({ code: 'opted_out' });
  });
});
