import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import {
  type Clock,
  ContactsService,
  MESSAGING_CLOCK,
  MessagingService,
  PolicyService,
} from '@dundun/messaging';
import {
  RecipientFactsReader,
  factsFor,
} from '../../../libs/messaging/src/contacts/recipient-facts.js';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import { describeEachDatabase } from '../../support/databases.js';
import { untilTransactionsWait } from '../../support/lock-waits.js';
import { bootApp } from './policy-app.js';

const LETTER = {
  name: 'letter',
  addressKinds: ['email'],
  statuses: { sent: { rank: 40, reported: true } },
  accepted: 'sent',
  content: {},
  consent: { categories: ['digest'] },
} as const;

describeEachDatabase('contacts with addresses of every kind', (database) => {
  let app: TestingModule;
  let contacts: ContactsService;
  let next = 0;
  const number = () => `23480${50_000_000 + next++ * 10}`;
  const email = () => `ada.${next++}@example.com`;
  const platform = () => `NG.${next++}`;
  const source = 'test';

  /** Facts that policies get about a recipient of a message in this category. */
  const factsOf = async (recipient: string, category: string, channel = 'letter') => {
    const message = { tenant: '', channel, sender: 'ACME' };
    const question = { messages: [message], recipients: [recipient] };
    const reader = app.get(RecipientFactsReader);
    const [all, refused] = [
      await reader.read(question, 'known'),
      await reader.read(question, 'refused'),
    ];
    const [one, other] = [all.get(0), refused.get(0)].map(
      (known) => known && factsFor(known, category),
    );
    const refuses = one?.suppressed === true || one?.consent === 'opted_out';
    // The short form for those who refused comes to the same.
    expect(other?.suppressed === true || other?.consent === 'opted_out').toBe(refuses);
    return { consent: one?.consent ?? null, suppressed: one?.suppressed ?? false };
  };
  const allowed = async (recipient: string, category: string) => {
    const { consent, suppressed } = await factsOf(recipient, category);
    return consent !== 'opted_out' && !suppressed;
  };

  beforeAll(async () => {
    app = await bootApp(database.options(), { channels: [LETTER] });
    contacts = app.get(ContactsService);
  });
  afterAll(() => app.close());

  it('a contact is found by each of its addresses, and the one upserted last comes first', async () => {
    const [phone, later, mail, id] = [number(), number(), email(), platform()];
    const [first] = await contacts.upsert({ phone, email: mail, name: 'Ada' });
    const [second] = await contacts.upsert({ email: mail, phone: later, platform: id });
    expect(second).toMatchObject({ id: first?.id, phone: later, email: mail, platform: id });
    expect(second?.addresses.filter(({ kind }) => kind === 'phone')).toEqual([
      { kind: 'phone', value: later },
      { kind: 'phone', value: phone },
    ]);
    for (const person of [
      phone,
      later,
      mail,
      `platform:${id}`,
      { kind: 'email', value: mail },
    ] as const)
      expect((await contacts.find(person))?.id).toBe(first?.id);
    expect((await contacts.upsert({ phone }))[0]).toMatchObject({ phone, name: 'Ada' });
  });

  it('contacts of one person are merged into the oldest, with all their data', async () => {
    const [phone, mail, id] = [number(), email(), platform()];
    const [oldest] = await contacts.upsert({ phone });
    await contacts.upsert([{ email: mail, name: 'Ada' }, { platform: id }]);
    const [one, other] = [
      await contacts.groups.create('One'),
      await contacts.groups.create('Other'),
    ];
    await contacts.groups.add(one.id, [phone, mail]);
    await contacts.groups.add(other.id, [mail]);
    const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));
    await contacts.optOut(phone, { channel: 'sms', source: 'older', at: at(1) });
    await contacts.optIn(mail, { channel: 'sms', source: 'younger', at: at(2) });
    await contacts.optOut(mail, { channel: 'letter', category: 'marketing', source, at: at(3) });
    await contacts.recordInbound(phone, { sender: '2348000000001', at: at(1) });
    await contacts.recordInbound({ platform: id }, { sender: '2348000000001', at: at(2) });
    const [merged] = await contacts.upsert({ phone, email: mail, platform: id });
    expect(merged).toMatchObject({
      id: oldest?.id,
      phone,
      email: mail,
      platform: id,
      name: 'Ada',
      consents: {
        sms: { state: 'opted_in', source: 'younger' },
        'letter:marketing': { state: 'opted_out' },
      },
      lastInbound: { '2348000000001': at(2) },
      groups: [one.id, other.id].sort(),
    });
    expect((await contacts.consentHistory(`platform:${id}`)).map((e) => e.source)).toEqual([
      'older',
      'younger',
      source,
    ]);
    expect((await contacts.groups.find(one.id)).size).toBe(1);
    for (const table of ['contact_address', 'consent', 'group_member', 'last_inbound']) {
      const left = await app
        .get(DataSource)
        .query(
          `SELECT contact FROM messaging_${table} WHERE contact NOT IN (SELECT id FROM messaging_contact)`,
        );
      expect(left).toEqual([]);
    }
  });

  it('two concurrent upserts that merge the same contacts return the same contact', async () => {
    const people = Array.from({ length: 10 }, () => ({ phone: number(), email: email() }));
    for (const { phone, email: mail } of people)
      await contacts.upsert([{ phone }, { email: mail }]);
    const made = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        contacts.upsert(n % 2 === 0 ? people : people.toReversed()),
      ),
    );
    expect(new Set(made.flat().map(({ id }) => id)).size).toBe(people.length);
  });

  it('people who share addresses through others are one contact, also where all of them are new', async () => {
    const [a, b, c] = [email(), number(), platform()];
    const made = await contacts.upsert([
      { phone: b },
      { platform: c },
      { email: a, phone: b },
      { email: a, platform: c },
    ]);
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    expect(made[0]?.addresses).toHaveLength(3);
  });

  it('an unsubscribe from marketing leaves transactional messages alone', async () => {
    const mail = email();
    await contacts.optOut(mail, { channel: 'letter', category: 'marketing', source: 'link' });
    expect(await allowed(mail, 'marketing')).toBe(false);
    expect(await allowed(mail, 'transactional')).toBe(true);
    expect(await allowed(mail, 'digest')).toBe(true);
    expect((await factsOf(mail, 'marketing', 'sms')).consent).toBeNull();
    expect((await contacts.find(mail))?.consents).toMatchObject({
      'letter:marketing': { state: 'opted_out', source: 'link' },
    });
  });

  it('policies see addresses and the category of the message, and deny by it', async () => {
    const mail = email();
    await contacts.optOut(mail, { channel: 'letter', category: 'marketing', source: 'link' });
    const decide = async (category: string) => {
      const content = { kind: 'email.html', html: '<p>Hi</p>', category } as const;
      const message = { channel: 'letter', from: 'ACME', to: mail, content };
      const [explained] = await app.get(PolicyService).explain(message);
      expect(explained?.recipient).toEqual({ kind: 'email', value: mail });
      return explained?.decisions.find(({ policy }) => policy === 'opted-out')?.decision;
    };
    expect([await decide('marketing'), await decide('transactional')]).toEqual(['deny', 'allow']);
  });

  it('a refusal of the whole channel covers every category until the whole channel is consented to', async () => {
    const mail = email();
    const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));
    await contacts.optOut(mail, { channel: 'letter', source, at: at(1) });
    await contacts.optIn(mail, { channel: 'letter', category: 'digest', source, at: at(2) });
    expect(await allowed(mail, 'digest')).toBe(false);
    await contacts.optIn(mail, { channel: 'letter', source, at: at(3) });
    expect(await allowed(mail, 'digest')).toBe(true);
  });

  it.each([
    ['in order', [0, 1, 2, 3]],
    ['in reverse', [3, 2, 1, 0]],
    ['mixed', [2, 0, 3, 1]],
  ])('consent for a channel ends older refusals of its categories, told %s', async (_, order) => {
    const mail = email();
    const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));
    const marketing = { channel: 'letter', category: 'marketing', source } as const;
    const digest = { ...marketing, category: 'digest' };
    const told = [
      () => contacts.optIn(mail, { ...marketing, at: at(1) }),
      () => contacts.optOut(mail, { ...marketing, at: at(2) }),
      () => contacts.optIn(mail, { channel: 'letter', source, at: at(3) }),
      () => contacts.optOut(mail, { ...digest, at: at(4) }),
    ];
    for (const n of order) await told[n]!();
    expect(await allowed(mail, 'marketing')).toBe(true);
    expect(await allowed(mail, 'digest')).toBe(false);
    expect(await contacts.consentHistory(mail)).toHaveLength(4);
  });

  it('a category or channel that is not registered is refused by name', async () => {
    const wrong = [
      contacts.optOut(email(), { channel: 'letter', category: 'weather', source }),
      contacts.optOut(email(), { channel: 'pigeon', source }),
      contacts.suppress(email(), { channel: 'sms', category: 'digest', reason: 'r' }),
    ];
    await expect(wrong[0]).rejects.toThrow(
      'category: must be * or one of transactional, marketing, digest',
    );
    await expect(wrong[1]).rejects.toThrow('channel: must be one of sms, whatsapp, email, voice');
    await expect(wrong[2]).rejects.toThrow('category');
  });

  it('an address of any kind is suppressed for all, a channel or a category, page by page', async () => {
    const tenant = 'suppressed';
    const [mail, id] = [email(), platform()];
    await contacts.suppress([mail, { kind: 'platform', value: id }], { reason: 'bounce', tenant });
    await contacts.suppress(mail, {
      reason: 'link',
      channel: 'letter',
      category: 'digest',
      tenant,
    });
    const pages = [];
    let cursor: string | null | undefined;
    while (cursor !== null) {
      const page = await contacts.suppressions({ tenant, limit: 1, ...(cursor && { cursor }) });
      pages.push(...page.data);
      cursor = page.nextCursor;
    }
    const all = { channel: '*', category: '*', reason: 'bounce' };
    expect(pages).toMatchObject([
      { address: { kind: 'email', value: mail }, ...all },
      {
        address: { kind: 'email', value: mail },
        channel: 'letter',
        category: 'digest',
        reason: 'link',
      },
      { address: { kind: 'platform', value: id }, ...all },
    ]);
    const other = email();
    await contacts.suppress(other, { reason: 'link', channel: 'letter', category: 'digest' });
    expect([await allowed(other, 'digest'), await allowed(other, 'marketing')]).toEqual([
      false,
      true,
    ]);
    await contacts.unsuppress(other, { channel: 'letter', category: 'digest' });
    expect(await allowed(other, 'digest')).toBe(true);
  });

  it('of two numbers given in one millisecond, or before and after the clock was set back, the later comes first', async () => {
    const [mail, first, second, third] = [email(), number(), number(), number()];
    const now = jest.spyOn(app.get<Clock>(MESSAGING_CLOCK), 'now');
    try {
      const time = Date.now();
      now.mockReturnValue(time);
      await contacts.upsert({ email: mail, phone: first });
      const [same] = await contacts.upsert({ email: mail, phone: second });
      now.mockReturnValue(time - 60_000);
      const [before] = await contacts.upsert({ email: mail, phone: third });
      expect([same?.phone, before?.phone]).toEqual([second, third]);
    } finally {
      now.mockRestore();
    }
  });

  it('a group expands to one address of each member that the channel reaches', async () => {
    const { id } = await contacts.groups.create('Mixed');
    const [phone, later, mail, only, user] = [number(), number(), email(), email(), platform()];
    await contacts.upsert({ phone, email: mail });
    await contacts.upsert({ email: mail, phone: later });
    await contacts.groups.add(id, [phone, only, { platform: user }]);
    const paths = new Map([[id, 'to[0]']]);
    const expand = async (...kinds: ('phone' | 'email' | 'platform')[]) =>
      (await contacts.groups.expand(app.get(MessageStore).database, '', paths, 100, kinds))
        .get(id)
        ?.toSorted();
    expect(await expand('phone')).toEqual([later]);
    expect(await expand('email')).toEqual([mail, only].sort());
    expect(await expand('platform', 'email')).toEqual([mail, only, `platform:${user}`].sort());
    const { data } = await contacts.groups.members(id);
    expect(data.map((one) => [one.phone, one.email, one.platform])).toEqual([
      [later, mail, null],
      [null, only, null],
      [null, null, user],
    ]);
    expect(await contacts.groups.remove(id, [{ platform: user }, mail])).toBe(2);
  });

  it('an erased contact is deleted with all its addresses, and its refusals stay at each address', async () => {
    const [phone, mail, id] = [number(), email(), platform()];
    await contacts.upsert({ phone, email: mail, platform: id, name: 'Ngozi Secret' });
    await contacts.optOut(mail, {
      channel: 'letter',
      category: 'marketing',
      source: 'Ngozi said so',
    });
    await contacts.optOut(mail, { channel: 'sms', source });
    await contacts.suppress(mail, { channel: 'letter', category: 'digest', reason: 'bounce' });
    expect(await contacts.erase({ kind: 'platform', value: id })).toEqual({
      messages: 0,
      remaining: 0,
    });
    for (const table of ['contact', 'contact_address', 'consent', 'consent_history']) {
      const rows = JSON.stringify(
        await app.get(DataSource).query(`SELECT * FROM messaging_${table}`),
      );
      for (const known of [phone, mail, id, 'Ngozi']) expect(rows).not.toContain(`"${known}`);
    }
    const { data } = await contacts.suppressions({ limit: 1_000 });
    expect(
      data
        .filter(({ address }) => address === null)
        .map(({ channel, category, reason }) => [channel, category, reason].join(' '))
        .sort(),
    ).toEqual(['letter digest bounce', 'letter marketing opted_out', 'sms * opted_out']);
    expect([await allowed(mail, 'marketing'), await allowed(mail, 'transactional')]).toEqual([
      false,
      true,
    ]);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await contacts.optIn(mail, { channel: 'letter', source });
    expect([await allowed(mail, 'marketing'), await allowed(mail, 'digest')]).toEqual([
      true,
      false,
    ]);
  });

  it('CSV carries every address, and consent for channels and categories', async () => {
    const [from, to] = ['csv from', 'csv to'];
    const at = new Date('2026-01-02T03:04:05.678Z');
    const [phone, later, mail, id] = [number(), number(), email(), platform()];
    await contacts.upsert({ phone, email: mail, platform: id, name: 'Ada' }, { tenant: from });
    await contacts.upsert({ email: mail, phone: later }, { tenant: from });
    await contacts.upsert({ email: email() }, { tenant: from });
    await contacts.optIn(mail, { channel: 'letter', source: 'form', at, tenant: from });
    await contacts.optOut(mail, {
      channel: 'letter',
      category: 'digest',
      source: 'link',
      at,
      tenant: from,
    });
    const csv = await text(contacts.exportCsv({ tenant: from }));
    expect(csv.split('\n')[0]).toMatch(
      /^phone,email,platform,name,sms,sms_at,sms_source,sms_transactional,.*,email_consent,.*,letter,.*,letter_digest,/,
    );
    expect(await contacts.importCsv(Readable.from([csv]), { tenant: to })).toEqual({
      imported: 2,
      failed: 0,
      errors: [],
    });
    const [exported, imported] = await Promise.all(
      [from, to].map(async (tenant) =>
        (await contacts.list({ tenant })).data.map(({ addresses, name, consents }) => ({
          phones: addresses.filter(({ kind }) => kind === 'phone'),
          mails: addresses.filter(({ kind }) => kind === 'email'),
          name,
          consents,
        })),
      ),
    );
    expect(imported).toEqual(exported);
    expect(imported?.[0]?.phones.map(({ value }) => value)).toEqual([later, phone]);
    const old = `phone,bsuid,whatsapp\n${number()},${platform()},opted_in\n`;
    expect(await contacts.importCsv([old], { tenant: to })).toMatchObject({ imported: 1 });
  });

  it('an opt-in to a channel in a CSV row without a time ends no refusal of a category', async () => {
    const [tenant, mail] = ['untimed', email()];
    await contacts.optOut(mail, { channel: 'letter', category: 'digest', source, tenant });
    await contacts.importCsv([`email,email_consent\n${mail},opted_in\n`], { tenant });
    expect((await contacts.find(mail, { tenant }))?.consents).toMatchObject({
      'letter:digest': { state: 'opted_out' },
    });
  });

  if (database.kind !== 'sqlite')
    it('a contact that is merged while another transaction waits for it is found as the merged one', async () => {
      const [phone, mail, user] = [number(), email(), platform()];
      const [oldest] = await contacts.upsert({ phone });
      await contacts.upsert({ email: mail });
      let waiting: Promise<unknown> | undefined;
      await app.get(MessagingService).transaction(async (manager) => {
        await contacts.upsert({ phone, email: mail }, { manager });
        waiting = contacts.upsert({ email: mail, platform: user });
        await untilTransactionsWait(database.kind, app.get(DataSource));
      });
      await waiting;
      expect(await contacts.find({ platform: user })).toMatchObject({
        id: oldest?.id,
        phone,
        email: mail,
      });
    });
});
