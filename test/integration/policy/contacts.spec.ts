import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import {
  ContactsService,
  GroupNotFoundError,
  MESSAGING_ENTITIES,
  MessageValidationError,
  MessagingService,
  SmsService,
} from '@dundun/messaging';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import {
  MESSAGE_TRANSPORTS,
  type MessageTransport,
} from '../../../libs/messaging/src/ports/message-transport.js';
import { reconcileJob } from '../../../libs/messaging/src/jobs/reconcile.job.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { StatementLog } from '../../support/statement-log.js';
import { bootApp } from './policy-app.js';

describeEachDatabase('contacts', (database) => {
  let app: TestingModule;
  let contacts: ContactsService;
  const statements = new StatementLog();
  let next = 0;
  const number = () => `23480${20_000_000 + next++ * 10}`;

  beforeAll(async () => {
    const options = database.options({ logging: true, logger: statements });
    app = await bootApp(options, { reports: { pollAfter: 1, giveUpAfter: 1 } });
    contacts = app.get(ContactsService);
  });
  afterAll(() => app.close());

  it('a contact is found by each of its addresses', async () => {
    const phone = number();
    const [first] = await contacts.upsert({ platform: 'NG.1', name: 'Ade' });
    const [both] = await contacts.upsert({ phone: `+${phone}`, name: 'Ade B.' });
    expect(both?.id).not.toBe(first?.id);
    const [second] = await contacts.upsert({ platform: 'NG.1', phone: number() });
    expect(second).toMatchObject({ id: first?.id, platform: 'NG.1', name: 'Ade' });
    expect(await contacts.find({ phone })).toMatchObject({ id: both?.id, name: 'Ade B.' });
    expect(await contacts.find('2348099999999')).toBeUndefined();
  });

  it('an app reads every table of the library with its own repositories', async () => {
    const name = `Ada ${number()}`;
    const before = Date.now();
    const [contact] = await contacts.upsert({ phone: number(), name });
    const group = await contacts.groups.create(name);
    await contacts.groups.add(group.id, [contact?.phone ?? '']);
    const source = await database.open({ entities: MESSAGING_ENTITIES });
    for (const entity of MESSAGING_ENTITIES) await source.getRepository(entity).find({ take: 1 });
    const rows = (table: string, where: object) => source.getRepository(table).findBy(where);
    const [row] = await rows('messaging_contact', { name });
    expect(row).toMatchObject({ id: contact?.id, tenant: '', createdAt: expect.any(Number) });
    expect(row?.createdAt).toBeGreaterThanOrEqual(before * 1_000);
    const members = await rows('messaging_group_member', { groupId: group.id });
    expect(members).toEqual([{ groupId: group.id, contact: contact?.id }]);
  });

  it('50 concurrent upserts of one person create one contact', async () => {
    const phone = number();
    const made = await Promise.all(Array.from({ length: 50 }, () => contacts.upsert({ phone })));
    expect(new Set(made.map(([contact]) => contact?.id)).size).toBe(1);
  });

  it('contacts of one tenant are invisible to another', async () => {
    const phone = number();
    await contacts.upsert({ phone }, { tenant: 'a' });
    expect(await contacts.find(phone, { tenant: 'b' })).toBeUndefined();
    expect((await contacts.find(phone, { tenant: 'a' }))?.tenant).toBe('a');
  });

  it('the newest consent counts in any order of arrival and the history keeps all', async () => {
    const phone = number();
    const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));
    await contacts.optOut(phone, {
      channel: 'sms',
      source: 'keyword',
      evidence: 'STOP',
      at: at(5),
    });
    await contacts.optIn(phone, { channel: 'sms', source: 'web form', at: at(3) });
    const read = async () => (await contacts.find(phone))?.consents;
    expect((await read())?.sms).toEqual({
      state: 'opted_out',
      at: at(5),
      source: 'keyword',
      evidence: 'STOP',
    });
    await contacts.optIn(phone, { channel: 'sms', source: 'tie', at: at(5) });
    expect((await read())?.sms?.state).toBe('opted_out');
    await contacts.optIn(phone, { channel: 'sms', source: 'again', at: at(6) });
    expect((await read())?.sms).toMatchObject({ state: 'opted_in', source: 'again', at: at(6) });
    expect((await read())?.whatsapp).toBeUndefined();
    const history = await contacts.consentHistory(phone);
    expect(history.map(({ source }) => source)).toEqual(['keyword', 'web form', 'tie', 'again']);
  });

  it('the last inbound time never moves back or into the future', async () => {
    const phone = number();
    const inbound = async () => (await contacts.find(phone))?.lastInbound['2348000000001'];
    const hourAgo = new Date(Date.now() - 3_600_000);
    await contacts.recordInbound(phone, { sender: '2348000000001', at: hourAgo });
    await contacts.recordInbound(phone, { sender: '2348000000001', at: new Date(0) });
    expect(await inbound()).toEqual(hourAgo);
    await contacts.recordInbound(phone, {
      sender: '2348000000001',
      at: new Date(Date.now() + 86_400_000),
    });
    expect((await inbound())!.getTime()).toBeLessThanOrEqual(Date.now());
  });

  it('a group holds each contact of its tenant once and loses deleted ones', async () => {
    const people = [number(), number(), number()];
    const group = await contacts.groups.create('Friends');
    expect(group.id).toMatch(/^grp_[0-9A-Za-z]{10,}$/);
    await contacts.groups.add(group.id, [...people, people[0]!]);
    await contacts.groups.add(group.id, people);
    expect(await contacts.groups.find(group.id)).toMatchObject({ name: 'Friends', size: 3 });
    expect((await contacts.find(people[1]!))?.groups).toEqual([group.id]);
    expect(await contacts.groups.remove(group.id, [people[0]!, number()])).toBe(1);
    expect((await contacts.groups.find(group.id)).size).toBe(2);
    expect(await contacts.groups.rename(group.id, 'Best friends')).toMatchObject({
      id: group.id,
      name: 'Best friends',
      size: 2,
    });
    const other = contacts.groups.rename(group.id, 'Mine', { tenant: 'x' });
    await expect(other).rejects.toBeInstanceOf(GroupNotFoundError);
    await expect(contacts.groups.add(group.id, people, { tenant: 'x' })).rejects.toBeInstanceOf(
      GroupNotFoundError,
    );
    await contacts.groups.delete(group.id);
    await expect(contacts.groups.find(group.id)).rejects.toBeInstanceOf(GroupNotFoundError);
    expect((await contacts.find(people[1]!))?.groups).toEqual([]);
  });

  it('a statement counts the members of at most five groups of a page', async () => {
    const tenant = 'counted';
    const names = Array.from({ length: 12 }, (_, n) => `Group ${n}`);
    const sizes = new Map<string, number>();
    for (const [size, name] of names.entries()) {
      const { id } = await contacts.groups.create(name, { tenant });
      if (size > 0) await contacts.groups.add(id, Array.from({ length: size }, number), { tenant });
      sizes.set(id, size);
    }
    statements.clear();
    const { data } = await contacts.groups.list({ tenant });
    expect(statements.matching(/count\(\*\)[^]*messaging_group_member/)).toHaveLength(3);
    expect(new Map(data.map(({ id, size }) => [id, size]))).toEqual(sizes);
  });

  it('group members are listed in pages to their tenant only', async () => {
    const tenant = 'members';
    const group = await contacts.groups.create('Paged', { tenant });
    const people = [...Array.from({ length: 4 }, number), { platform: 'NG.1', name: 'Ada' }];
    await contacts.groups.add(group.id, people, { tenant });
    const first = await contacts.groups.members(group.id, { tenant, limit: 3 });
    const second = await contacts.groups.members(group.id, {
      tenant,
      limit: 3,
      cursor: first.nextCursor!,
    });
    expect([first.data.length, second.data.length, second.nextCursor]).toEqual([3, 2, null]);
    const all = [...first.data, ...second.data];
    expect(all.map(({ phone, platform }) => phone ?? platform)).toEqual([
      ...people.slice(0, 4),
      'NG.1',
    ]);
    const { id, name } = all.at(-1)!;
    expect(await contacts.get(id, { tenant })).toMatchObject({ id, name, groups: [group.id] });
    expect(await contacts.get(id)).toBeUndefined();
    expect(await contacts.get('no id')).toBeUndefined();
    await expect(contacts.groups.members(group.id)).rejects.toBeInstanceOf(GroupNotFoundError);
  });

  it('contacts are listed in pages', async () => {
    const tenant = 'paged';
    const phones = Array.from({ length: 5 }, number);
    await contacts.upsert(
      phones.map((phone) => ({ phone })),
      { tenant },
    );
    const first = await contacts.list({ tenant, limit: 3 });
    const second = await contacts.list({ tenant, limit: 3, cursor: first.nextCursor! });
    expect([...first.data, ...second.data].map(({ phone }) => phone)).toEqual(phones);
    expect(second.nextCursor).toBeNull();
    await contacts.suppress(phones, { tenant, reason: 'complaint' });
    const some = await contacts.suppressions({ tenant, limit: 4 });
    const rest = await contacts.suppressions({ tenant, limit: 4, cursor: some.nextCursor! });
    expect([...some.data, ...rest.data].map(({ address }) => address?.value)).toEqual(phones);
    await contacts.unsuppress(phones.slice(1), { tenant });
    expect((await contacts.suppressions({ tenant })).data).toMatchObject([
      { address: { kind: 'phone', value: phones[0] }, channel: '*', reason: 'complaint' },
    ]);
  });

  it('suppressions are listed by channel and by address', async () => {
    const tenant = 'by-channel';
    const [ada, ben] = ['ada@example.com', 'ben@example.com'];
    const add = (address: string, options: object) =>
      contacts.suppress(address, { tenant, reason: 'manual', ...options });
    await add(ada, { channel: 'email', category: 'marketing', messageId: 'm-1' });
    await add(ada, {});
    await add(ben, { channel: 'whatsapp' });
    await add(`platform:${ben}`, {});
    await add(number(), {});
    const listed = async (options: object) => {
      const { data } = await contacts.suppressions({ tenant, ...options });
      return data.map(({ address, channel, category, messageId }) => [
        address?.value,
        channel,
        category,
        messageId,
      ]);
    };
    const ofAda = [
      [ada, '*', '*', null],
      [ada, 'email', 'marketing', 'm-1'],
    ];
    expect(await listed({ channel: 'email' })).toEqual(ofAda);
    expect(await listed({ address: ada })).toEqual(ofAda);
    expect(await listed({ address: ben })).toEqual([[ben, 'whatsapp', '*', null]]);
    expect(await listed({ address: ben, channel: 'email' })).toEqual([]);
    const first = await contacts.suppressions({ tenant, channel: 'email', limit: 1 });
    expect(await listed({ channel: 'email', cursor: first.nextCursor })).toEqual(ofAda.slice(1));
  });

  it('contact changes roll back with their transaction', async () => {
    const phone = number();
    await expect(
      app.get(MessagingService).transaction(async (manager) => {
        await contacts.optOut(phone, { channel: 'sms', source: 'test', manager });
        expect(await contacts.find(phone, { manager })).toBeDefined();
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    expect(await contacts.find(phone)).toBeUndefined();
  });

  it('wrong input names its field and changes nothing', async () => {
    const phone = number();
    await expect(contacts.upsert([{ phone }, { phone: 'x' }, {}])).rejects.toThrow(
      /contacts\[1\]\.phone.*contacts\[2\]/,
    );
    expect(await contacts.find(phone)).toBeUndefined();
    await expect(contacts.optIn(phone, { channel: 'sms', source: '' })).rejects.toBeInstanceOf(
      MessageValidationError,
    );
  });

  it('an erased person remains in the suppression list only and the counts stay', async () => {
    const sms = app.get(SmsService);
    const [phone, other] = [number(), number()];
    await contacts.upsert({ phone, name: 'Ngozi Secret' });
    const { id } = await sms.send({ from: 'ACME', to: [phone, other], body: 'Hello' });
    await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ delivered: 2 }));
    await contacts.optOut(phone, {
      channel: 'sms',
      source: 'keyword',
      evidence: 'Ngozi said STOP',
    });
    await eventually(async () => {
      await reconcileJob(
        app.get(MessageStore),
        app.get<ReadonlyMap<string, MessageTransport>>(MESSAGE_TRANSPORTS),
      ).run(new AbortController().signal);
      expect((await contacts.erase(phone)).remaining).toBe(0);
    });
    expect((await sms.batch(id)).counts).toEqual({ delivered: 2 });
    expect((await sms.recipients(id)).data).toEqual(['', other]);
    const tables = [
      'contact',
      'contact_address',
      'consent_history',
      'message',
      'report',
      'batch_chunk',
    ];
    for (const table of tables) {
      const rows = await app.get(DataSource).query(`SELECT * FROM messaging_${table}`);
      expect(JSON.stringify(rows)).not.toContain(phone);
      expect(JSON.stringify(rows)).not.toContain('Ngozi');
    }
    await expect(sms.send({ from: 'ACME', to: phone, body: 'Hello' })).rejects.toMatchObject({
      code: 'opted_out',
    });
  });

  it.each([
    ['alone', 1],
    ['among others', 3],
  ])('a late report of an erased person, %s in the batch, stores no number', async (_, n) => {
    const sms = app.get(SmsService);
    const store = app.get(MessageStore);
    const [phone, ...others] = Array.from({ length: n }, number) as [string, ...string[]];
    const { id } = await sms.send({ from: 'ACME', to: [phone, ...others], body: 'Hello' });
    await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ delivered: n }));
    const [submission] = await store.database.all<{ reference: string }>(
      'SELECT reference FROM messaging_submission WHERE batch = ?',
      [id],
    );
    const reportOf = (recipient: string, rawStatus: string) => ({
      submissionId: undefined,
      reference: submission?.reference ?? null,
      messageId: null,
      recipient,
      status: 'read' as const,
      rawStatus,
      errorCode: null,
      providerTime: null,
    });
    const hear = (...reports: ReturnType<typeof reportOf>[]) =>
      store.reports.record(reports, { provider: 'simulator' });
    await hear(reportOf(phone, 'before'));
    await eventually(async () => {
      await reconcileJob(
        store,
        app.get<ReadonlyMap<string, MessageTransport>>(MESSAGE_TRANSPORTS),
      ).run(new AbortController().signal);
      expect(await contacts.erase(phone)).toMatchObject({ remaining: 0 });
    });
    // The state that two processes leave whose transactions missed each other.
    await hear({ ...reportOf(phone, 'waited'), reference: `missed-${id}` });
    await store.database.transaction((tx) =>
      tx.run('UPDATE messaging_report SET reference = ? WHERE reference = ?', [
        submission?.reference,
        `missed-${id}`,
      ]),
    );
    await store.reports.sweep(1_000);
    const late = reportOf(phone, 'late');
    await hear(late);
    await hear(late, reportOf(phone, 'before'), { ...late, submissionId: `${id}-s0` } as never);
    for (const other of others) await hear(reportOf(other, 'of another'));
    const rows = await app.get(DataSource).query('SELECT * FROM messaging_report');
    expect(JSON.stringify(rows)).not.toContain(phone);
    // The app's own job may hold the waiting report, which the sweep above then leaves to it.
    await eventually(async () => {
      const { data } = await sms.reports({ batchIds: [id] });
      const names = data.map(({ rawStatus }) => rawStatus);
      expect(names).toEqual(expect.arrayContaining(['before', 'waited', 'late']));
      expect(
        data.flatMap(({ rawStatus, recipient }) => (rawStatus === 'of another' ? [recipient] : [])),
      ).toEqual(others);
    });
  });

  it("an erased person's refusal holds until a new opt-in for that channel", async () => {
    const sms = app.get(SmsService);
    const [phone, other] = [number(), number()];
    const tenant = 'refusing';
    await contacts.optOut([phone, other], { channel: 'sms', source: 'keyword', tenant });
    await contacts.optOut(phone, { channel: 'whatsapp', source: 'keyword', tenant });
    const refused = new Date(Date.now() - 1);
    for (const person of [phone, other]) await contacts.erase(person, { tenant });
    await contacts.suppress(other, { reason: 'complaint', channel: 'sms', tenant });
    const listed = async () => {
      const { data } = await contacts.suppressions({ tenant, limit: 1_000 });
      return data.map(({ address, channel }) => `${address?.value ?? 'erased'} ${channel}`).sort();
    };
    expect(await listed()).toEqual([`${other} sms`, 'erased sms', 'erased sms', 'erased whatsapp']);
    // A repeated import of an old list is no new opt-in.
    await contacts.optIn(phone, { channel: 'sms', source: 'import', at: refused, tenant });
    await expect(
      sms.send({ from: 'ACME', to: phone, body: 'Hello' }, { tenant }),
    ).rejects.toMatchObject({
      code: 'opted_out',
    });
    const erased = Date.now();
    await eventually(async () => expect(Date.now()).toBeGreaterThan(erased));
    await contacts.optIn([phone, other], { channel: 'sms', source: 'web form', tenant });
    expect(await listed()).toEqual([`${other} sms`, 'erased whatsapp']);
    expect(
      (await sms.send({ from: 'ACME', to: phone, body: 'Hello' }, { tenant })).recipients,
    ).toBe(1);
  });

  it('a refusal before a second erasure overrules an opt-in in between', async () => {
    const phone = number();
    const later = async () => {
      const before = Date.now();
      await eventually(async () => expect(Date.now()).toBeGreaterThan(before));
      return new Date();
    };
    const refusal = { channel: 'sms', source: 'keyword' } as const;
    await contacts.optOut(phone, refusal);
    await contacts.erase(phone);
    const between = await later();
    await later();
    await contacts.optOut(phone, refusal);
    await contacts.erase(phone);
    await contacts.optIn(phone, { channel: 'sms', source: 'import', at: between });
    await expect(
      app.get(SmsService).send({ from: 'ACME', to: phone, body: 'Hello' }),
    ).rejects.toMatchObject({ code: 'opted_out' });
  });
});
