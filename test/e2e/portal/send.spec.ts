import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ContactsService, WhatsAppService } from '@dundun/messaging';
import { MessageHistory } from '@dundun/messaging/operations';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { TemplateEntity } from '../../../src/accounts/accounts.tables.js';
import type {
  AuditEntry,
  Group,
  Listed,
  Senders,
  Template,
} from '../../../src/portal/portal-api.js';
import { TestGateway } from '../gateway/test-gateway.js';
import { type PortalClient, signedIn } from './portal-client.js';

const TO = ['2348012345678'];
const TEXT = { kind: 'text', text: 'Hello' };

describe('a send from the portal', () => {
  const gateway = new TestGateway();
  let sender: PortalClient;
  let admin: PortalClient;
  let numbers: readonly string[];
  let theirs: readonly string[];

  beforeAll(async () => {
    await gateway.start();
    const demo = gateway.running.demo!.accountId;
    const other = (await gateway.account('other')).accountId;
    sender = await signedIn(gateway, 'sender', demo);
    admin = await signedIn(gateway, 'admin', demo);
    const stranger = await signedIn(gateway, 'viewer', other);
    numbers = (await sender.ok<Senders>('GET', 'senders')).ofChannels['whatsapp']!;
    theirs = (await stranger.ok<Senders>('GET', 'senders')).ofChannels['whatsapp']!;
    await gateway.senders.add({ accountId: other, channel: 'sms', sender: 'THEIRS' });
    await gateway.senders.request({ accountId: demo, channel: 'sms', sender: 'WAITING' });
  });
  afterAll(() => gateway.destroy());

  const send = (body: object, path = 'messages') => sender.call('POST', path, { body });
  const refused = (code: string, path: string) => ({
    status: 422,
    body: { error: { code, message: expect.stringContaining(`${path}: `), fields: [{ path }] } },
  });

  it('an SMS leaves only from an approved sender ID of the account, also in an estimate', async () => {
    for (const from of ['THEIRS', 'WAITING', 'UNKNOWN', '2348012345678', undefined])
      for (const path of ['messages', 'messages/estimate'])
        expect(await send({ channel: 'sms', from, to: TO, content: TEXT }, path)).toMatchObject(
          refused('sender_not_registered', 'from'),
        );
    const sent = await send({ channel: 'sms', from: 'ACME', to: TO, content: TEXT });
    expect(sent).toMatchObject({ status: expect.any(Number), body: { recipients: 1 } });
    const { data } = await admin.ok<Listed<AuditEntry>>('GET', 'audit');
    expect(data[0]).toMatchObject({
      action: 'message.sent',
      title: 'Sent a message',
      userEmail: expect.stringMatching(/^sender-/),
    });
  });

  it('a WhatsApp template leaves only from a number of the account, approved and with its category', async () => {
    const content = {
      kind: 'template',
      template: 'order_update',
      language: 'en',
      params: ['Ada', '1001'],
      category: 'utility',
    };
    const [from] = numbers;
    const message = { channel: 'whatsapp', from, to: TO, content };
    for (const wrong of [undefined, theirs[0], '2348099999999'])
      expect(await send({ ...message, from: wrong })).toMatchObject(
        refused('sender_not_registered', 'from'),
      );
    const changed = (change: object) => send({ ...message, content: { ...content, ...change } });
    expect(await changed({ template: 'unknown' })).toMatchObject(
      refused('template_not_approved', 'template'),
    );
    expect(await changed({ params: [] })).toMatchObject(
      refused('template_params_mismatch', 'params'),
    );
    expect(await changed({ params: ['Ada\nObi', '1001'] })).toMatchObject(
      refused('invalid_field', 'params[0]'),
    );
    expect(await changed({ params: ['x'.repeat(1_022), '1001'] })).toMatchObject(
      refused('template_params_mismatch', 'params[0]'),
    );
    expect(await changed({ category: 'service' })).toMatchObject(
      refused('invalid_field', 'category'),
    );
  });

  it('a template with named values is listed with the names, and leaves only with them', async () => {
    const accountId = gateway.running.demo!.accountId;
    const names = ['order', 'day'];
    const named = { accountId, name: 'named', language: 'en', category: 'utility' } as const;
    await gateway.running.app
      .get<DataSource>(getDataSourceToken(), { strict: false })
      .manager.insert(TemplateEntity, {
        ...named,
        status: 'approved',
        params_count: 2,
        paramNames: names,
        waba: '102290129340398',
      });
    const { data } = await sender.ok<Listed<Template>>('GET', 'templates?limit=100');
    expect(data.map(({ name, paramNames }) => [name, paramNames])).toEqual(
      expect.arrayContaining([
        ['named', names],
        ['order_update', null],
      ]),
    );
    const content = {
      kind: 'template',
      template: 'named',
      language: 'en',
      category: 'utility',
      params: ['1001', 'Friday'],
    };
    const message = { channel: 'whatsapp', from: numbers[0], to: TO };
    for (const paramNames of [undefined, ['day', 'order']])
      expect(await send({ ...message, content: { ...content, paramNames } })).toMatchObject(
        refused('invalid_field', 'paramNames'),
      );
    const contacts = gateway.running.app.get(ContactsService, { strict: false });
    await contacts.optIn(TO[0]!, { tenant: accountId, channel: 'whatsapp', source: 'test' });
    const sent = await send({ ...message, content: { ...content, paramNames: names } });
    const whatsApp = gateway.running.app.get(WhatsAppService, { strict: false });
    const batch = await whatsApp.batch(String(sent.body['batchId']), { tenant: accountId });
    expect(batch.content).toMatchObject({ params: ['1001', 'Friday'], paramNames: names });
  });

  it('an e-mail leaves only from a verified domain of the account', async () => {
    const content = { kind: 'email', subject: 'Hello', text: 'Hello' };
    const message = { channel: 'email', to: ['ada@example.com'], content };
    for (const from of ['hello@example.com', 'hello@sub.demo.test', 'hello', undefined])
      expect(await send({ ...message, from })).toMatchObject(
        refused('domain_not_verified', 'from'),
      );
    expect(await send({ ...message, from: 'hello@demo.test' })).toMatchObject({
      body: { recipients: 1 },
    });
  });

  it('a message to a number as a person writes it goes to the number, and lists and senders name it', async () => {
    const { accountId: tenant } = gateway.running.demo!;
    const [written, stored, number] = ['+44 (0)20 7946 0958', '4402079460958', '442079460958'];
    const message = { channel: 'sms', from: 'ACME', content: TEXT };
    expect(await send({ ...message, to: [written, stored] })).toMatchObject({
      body: { recipients: 1 },
    });
    const history = gateway.running.app.get(MessageHistory, { strict: false });
    const { data } = await history.messages({ tenants: [tenant], to: number });
    expect(data.map(({ recipient }) => recipient)).toEqual([number]);
    const group = await sender.ok<Group>('POST', 'groups', { name: 'Friends' });
    for (const [path, body] of [
      ['do-not-call', { phone: stored }],
      [`groups/${group.id}/members`, { members: [stored] }],
      ['senders', { channel: 'voice', sender: stored }],
    ] as const)
      expect(await admin.call('POST', path, { body })).toMatchObject({
        status: 422,
        body: { error: { fields: [{ message: expect.stringContaining(`must be ${number}:`) }] } },
      });
  });

  it('a viewer, and an operator without a chosen account, send nothing', async () => {
    const body = { channel: 'sms', from: 'ACME', to: TO, content: TEXT };
    const viewer = await signedIn(gateway, 'viewer', gateway.running.demo!.accountId);
    const operator = await signedIn(gateway, 'operator');
    for (const client of [viewer, operator])
      expect((await client.call('POST', 'messages', { body })).status).toBe(403);
  });
});
