import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { ContactsService } from '@dundun/messaging';
import { DataSource } from 'typeorm';
import { describeEachEncoding } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { type Answered, TestGateway } from './test-gateway.js';

const TEXT = 'Café 👍 年 عربي';

describeEachEncoding('texts through the gateway', (db) => {
  let gateway: TestGateway;
  let account: CreatedAccount;

  beforeAll(async () => {
    gateway = await new TestGateway({ DATABASE_URL: db.url }).start();
    account = gateway.running.demo as CreatedAccount;
    await gateway.senders.add({ accountId: account.accountId, channel: 'sms', sender: 'ACME' });
  });
  afterAll(() => gateway.destroy());

  const ask = async (path: string, body?: object, token = account.apiToken): Promise<Answered> => {
    const answer = await gateway.call(body ? 'POST' : 'GET', path, {
      token,
      ...(body && { body }),
    });
    expect({ path, ...answer, ok: answer.status < 300 }).toMatchObject({ ok: true });
    return answer;
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
  });
});
