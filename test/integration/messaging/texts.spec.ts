import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  ContactsService,
  EmailService,
  MESSAGING_ENTITIES,
  MessagingModule,
  NotificationService,
  simulator,
  SmsService,
  VasService,
  VerificationService,
} from '@dundun/messaging';
import { MessageHistory } from '@dundun/messaging/operations';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { InboundRecorder } from '../../../libs/messaging/src/contacts/inbound.js';
import { VAS } from '../../../libs/messaging/src/providers/simulator/outcomes/vas.js';
import { PRIMARY_KEYS } from '../../../libs/messaging/src/store/schema/tables.js';
import { describeEachEncoding } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { columnsWith } from '../../support/stored-text.js';

const TEXT = 'Café 👍 年 عربي';
const tenant = 'demo';
const products = VAS.products!.map((one) => ({ ...one, id: `${one.id} ${TEXT}`, network: TEXT }));

/** Text columns beside those of the store, whose contract has its own: the words that callers write. */
const WRITTEN = [
  'consent.evidence',
  'consent.source',
  'consent_history.evidence',
  'consent_history.source',
  'contact.name',
  'contact_address.address',
  'contact_group.name',
  'erased_suppression.reason',
  'inbound_text.answers',
  'inbound_text.content',
  'inbound_text.profile',
  'inbound_text.recipient',
  'inbound_text.sender',
  'inbound_text.text',
  'last_inbound.sender',
  'suppression.address',
  'suppression.reason',
  'vas_order.network',
  'vas_order.product',
  'vas_order.settled_by',
  'vas_order.settled_note',
];

/** Columns with ids, digests, digits or words of the library, and copies of columns of the store. */
const OWN =
  /\.(tenant|channel|category|state|kind|status|currency|type|scope|country|code|message|provider|digest|number_digest|idempotency_key|fingerprint|subject|settled_as|reference|written|person|seen)$|^learnt_number\.|^outcome_(change|hour|total)\.|^contact_group\.id$|\.group_id$/;

describeEachEncoding('texts of the library', (database) => {
  let app: TestingModule;

  beforeAll(async () => {
    app = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot(database.options()),
        MessagingModule.forRoot({
          transport: simulator({ outcomes: { vas: { ...VAS, products } } }),
          inbound: { tenant: () => tenant },
          erasure: { keys: [Buffer.alloc(32, 1).toString('base64')] },
          callbackPath: false,
        }),
      ],
    }).compile();
    app.useLogger(false);
    await app.init();
  });
  afterAll(() => app.close());

  it('an inbound text, its content and the name of its sender keep every letter', async () => {
    const content = { kind: 'button', title: TEXT, payload: TEXT } as const;
    const message = {
      messageId: 'in-1',
      channel: 'sms',
      from: TEXT,
      bsuid: null,
      to: TEXT,
      text: TEXT,
      content,
      profileName: TEXT,
      repliesTo: TEXT,
      sentAt: null,
    };
    const record = () => app.get(InboundRecorder).record([message], { transport: 'simulator' });
    await record();
    await record();
    const received = await app.get(MessageHistory).inbound({ tenants: [tenant] });
    expect(received).toMatchObject([
      { from: TEXT, to: TEXT, text: TEXT, profileName: TEXT, repliesTo: TEXT },
    ]);
    const contents = await app.get(MessageHistory).inboundContents(received);
    expect([...contents.values()]).toEqual([content]);
  });

  it('the texts of a notification keep every letter', async () => {
    const notifications = app.get(NotificationService);
    const { id } = await notifications.send(
      {
        via: ['sms', 'email'],
        sms: { from: 'ACME', body: TEXT },
        email: { from: 'a@example.com', subject: TEXT, text: TEXT },
        tags: ['vip'],
        metadata: { note: TEXT },
      },
      { phone: '2348012345678', email: 'ada@example.com' },
      { tenant },
    );
    await eventually(async () =>
      expect(await notifications.find(id, { tenant })).toMatchObject({ status: 'delivered' }),
    );
    const [message] = (await app.get(SmsService).list({ tenant })).data;
    expect(await app.get(SmsService).batch(message!.batchId, { tenant })).toMatchObject({
      content: { text: TEXT },
      metadata: { note: TEXT },
    });
  });

  it('an order keeps every letter of its network', async () => {
    const vas = app.get(VasService);
    await vas.allow({ currency: 'NGN', daily: '1000', perNumber: '500' }, { tenant });
    const order = {
      to: '2348012345678',
      product: `airtime-ng ${TEXT}`,
      amount: '100',
      clientReference: 'one',
      network: TEXT,
    };
    const { id } = await vas.order(order, { tenant });
    expect(await vas.find(id, { tenant })).toMatchObject({ network: TEXT });
    expect((await vas.order(order, { tenant })).replayed).toBe(true);
    const open = { ...order, to: '2348012349909', clientReference: 'two' };
    const { id: unknown } = await vas.order(open, { tenant });
    await eventually(async () =>
      expect(await vas.find(unknown, { tenant })).toMatchObject({ status: 'unknown' }),
    );
    await vas.settle(unknown, { as: 'failed', by: TEXT, note: TEXT, tenant });
    expect(await vas.find(unknown, { tenant })).toMatchObject({ status: 'failed' });
  });

  it('a one-time code goes to an address with every letter', async () => {
    const codes = app.get(VerificationService);
    const to = '年ñ👍@example.com';
    const from = `${TEXT} <a@example.com>`;
    const { id } = await codes.start({ to, channel: 'email', from }, { tenant });
    expect(await codes.find(id, { tenant })).toMatchObject({ id, status: 'pending' });
    const { data } = await app.get(EmailService).list({ tenant });
    expect(data.map(({ recipient }) => recipient)).toContain(to);
    await expect(codes.start({ to, channel: 'email', from }, { tenant })).rejects.toMatchObject({
      scope: 'recipient',
    });
  });

  it('people, groups, consents and suppressions keep every letter, also of an erased person', async () => {
    const contacts = app.get(ContactsService);
    const email = '年ñ👍@example.com';
    const header = 'email,name,email_consent,email_consent_source';
    const csv = [header, `${email},${TEXT},opted_in,${TEXT}`];
    await contacts.importCsv([csv.join('\n')], { tenant });
    expect(await contacts.find(email, { tenant })).toMatchObject({ name: TEXT, email });
    const consent = { tenant, channel: 'email', source: TEXT, evidence: TEXT } as const;
    await contacts.optIn(email, consent);
    expect(await contacts.consentHistory(email, { tenant })).toContainEqual(
      expect.objectContaining({ source: TEXT, evidence: TEXT }),
    );
    const group = await contacts.groups.create(TEXT, { tenant });
    await contacts.groups.add(group.id, [email], { tenant });
    expect((await contacts.groups.members(group.id, { tenant })).data).toMatchObject([
      { name: TEXT },
    ]);
    const erased = `2${email}`;
    for (const one of [email, erased])
      await contacts.suppress(one, { tenant, channel: 'email', reason: TEXT });
    expect((await contacts.suppressions({ tenant })).data).toMatchObject([
      { reason: TEXT },
      { reason: TEXT },
    ]);
    await contacts.erase(erased, { tenant });
    await expect(
      app
        .get(EmailService)
        .send({ from: 'a@example.com', to: erased, subject: 's', text: 't' }, { tenant }),
    ).rejects.toMatchObject({ code: 'suppressed' });
  });

  it('every text column beside those of the store has been written with every letter', async () => {
    const source = await database.open({ entities: MESSAGING_ENTITIES });
    const ofStore = Object.keys(PRIMARY_KEYS);
    const columns = source.entityMetadatas
      .map(({ tableName, columns: all }) => [tableName.replace('messaging_', ''), all] as const)
      .filter(([table]) => !ofStore.includes(table))
      .flatMap(([table, all]) =>
        all
          .filter(
            ({ type, length }) =>
              type !== 'int' && /char|text/.test(String(type)) && length !== '36',
          )
          .map(({ databaseName }) => `${table}.${databaseName}`),
      )
      .filter((column) => !OWN.test(column));
    expect(columns.toSorted()).toEqual(WRITTEN);
    const written = await columnsWith(source, [TEXT, '年ñ👍@example.com']);
    expect(written).toEqual(expect.arrayContaining(WRITTEN.map((one) => `messaging_${one}`)));
  });
});
