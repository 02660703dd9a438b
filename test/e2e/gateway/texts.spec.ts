import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { ContactsService } from '@dundun/messaging';
import { DataSource } from 'typeorm';
import { InboundRecorder } from '../../../libs/messaging/src/contacts/inbound.js';
import { SmppCredentials } from '../../../src/smpp/smpp-credentials.service.js';
import { answer, Receiver } from '../../integration/webhooks/receiver.js';
import { describeEachEncoding } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { columnsWith } from '../../support/stored-text.js';
import { type Answered, TestGateway } from './test-gateway.js';

const TEXT = 'Café 👍 年 عربي';
const OURS = '2348000000001';
const WRITER = '2348012345602';

/** Columns of the gateway with texts that others write. */
const WRITTEN = [
  'gateway_account.consent_words',
  'gateway_account.name',
  'gateway_smpp_delivery.text',
  'gateway_webhook_attempt.response',
  'gateway_webhook_delivery.payload',
];

describeEachEncoding('texts through the gateway', (db) => {
  let gateway: TestGateway;
  let account: CreatedAccount;
  let customer: Receiver;

  beforeAll(async () => {
    customer = await Receiver.start(answer(200, { 'content-type': 'text/plain' }, TEXT));
    gateway = await new TestGateway({
      DATABASE_URL: db.url,
      WEBHOOK_ALLOW_PRIVATE: 'true',
    }).start();
    account = gateway.running.demo as CreatedAccount;
    await gateway.senders.add({ accountId: account.accountId, channel: 'sms', sender: 'ACME' });
  });
  afterAll(async () => {
    await gateway.destroy();
    await customer.close();
  });

  const ask = async (path: string, body?: object, token = account.apiToken): Promise<Answered> => {
    const answered = await gateway.call(body ? 'POST' : 'GET', path, {
      token,
      ...(body && { body }),
    });
    expect({ path, ...answered, ok: answered.status < 300 }).toMatchObject({ ok: true });
    return answered;
  };
  const email = (path: string, body?: object) => ask(`/email/ng/v1${path}`, body, account.apiKey);

  it('an SMS and an email are stored, sent and shown with every letter of their texts, names and addresses', async () => {
    const sms = await ask('/ng/v1/sendsms', { from: 'ACME', to: ['2348012345678'], body: TEXT });
    const read = await ask(`/ng/v1/sms/${String(sms.body['reference_id'])}`);
    expect(read.body).toMatchObject({ body: TEXT });
    const sent = await email('/messages', {
      from: `${TEXT} <hello@demo.test>`,
      recipients: [{ email: '年ñ@example.com', name: TEXT, variables: { name: TEXT } }],
      subject: `${TEXT} {{name}}`,
      text: TEXT,
      tags: ['vip'],
      metadata: { note: TEXT },
    });
    const [message] = sent.body['messages'] as { to: string; message_id: string }[];
    expect(message?.to).toBe('年ñ@example.com');
    await eventually(async () => {
      const { body } = await email(`/messages/${message?.message_id}`);
      expect(body).toMatchObject({ to: '年ñ@example.com', status: 'delivered' });
    });
  });

  it('people, groups and suppressions keep every letter', async () => {
    const contacts = gateway.running.app.get(ContactsService, { strict: false });
    const options = { tenant: account.accountId };
    const person = { email: '年ñ👍@example.com' };
    await contacts.upsert({ ...person, name: TEXT }, options);
    const consent = { ...options, channel: 'email', source: TEXT, evidence: TEXT } as const;
    await contacts.optIn(person, consent);
    await contacts.suppress(person.email, { ...options, reason: TEXT });
    const group = await contacts.groups.create(TEXT, options);
    await contacts.groups.add(group.id, [person], options);
    const { data } = await contacts.groups.members(group.id, options);
    expect(data).toMatchObject([{ name: TEXT, addresses: [{ value: person.email }] }]);
    expect(await contacts.consentHistory(person, options)).toMatchObject([
      { source: TEXT, evidence: TEXT },
    ]);
    expect((await contacts.suppressions(options)).data).toMatchObject([{ reason: TEXT }]);
  });

  it('an inbound SMS, its callbacks and the answers to them keep every letter', async () => {
    const { accountId, apiToken: token } = account;
    await gateway.senders.addNumber(accountId, OURS);
    const url = customer.url.split('?')[0];
    const made = await gateway.call('POST', '/ng/v1/webhooks', { token, body: { url } });
    expect(made.status).toBe(201);
    const credentials = gateway.running.app.get(SmppCredentials, { strict: false });
    await credentials.add(accountId);
    const message = { messageId: 'in-1', channel: 'sms', from: WRITER, bsuid: null, to: OURS };
    const recorder = gateway.running.app.get(InboundRecorder, { strict: false });
    await recorder.record([{ ...message, text: TEXT, sentAt: null }], { transport: 'simulator' });
    const [first] = await customer.first(1);
    expect(JSON.parse(first!.body)).toMatchObject({ data: { from: WRITER, text: TEXT } });
  });

  it('the account’s name and words keep every letter', async () => {
    const stopReply = TEXT;
    const { accountId } = await gateway.accounts.create(TEXT);
    await gateway.accounts.change(accountId, { consentWords: { stop: [TEXT], stopReply } });
    expect(await gateway.accounts.find(accountId)).toMatchObject({
      name: TEXT,
      consentWords: { stop: [TEXT], stopReply },
    });
  });

  it('no column of any table lost a letter', async () => {
    const source = gateway.running.app.get(DataSource, { strict: false });
    const texts = source.entityMetadatas.flatMap(({ tableName, columns }) =>
      columns
        .filter(({ type }) => type === String || /char|text/.test(String(type)))
        .map(({ databaseName }) => [tableName, databaseName] as const),
    );
    expect(texts.length).toBeGreaterThan(100);
    for (const [table, column] of texts) {
      const rows = await source.query(`SELECT ${column} FROM ${table} WHERE ${column} LIKE '%?%'`);
      expect([table, column, rows]).toEqual([table, column, []]);
    }
    const written = () => columnsWith(source, [TEXT]);
    await eventually(async () => expect(await written()).toEqual(expect.arrayContaining(WRITTEN)));
  });
});
