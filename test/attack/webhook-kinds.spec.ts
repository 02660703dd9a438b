import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { WebhookOutbox } from '../../src/webhooks/webhook-outbox.js';
import { WebhookEndpointsService } from '../../src/webhooks/webhook-endpoints.service.js';
import { WebhookEndpointEntity } from '../../src/webhooks/webhooks.tables.js';
import type { CreatedAccount } from '../../src/accounts/accounts.service.js';
import type { Scope } from '../../src/channel.js';
import { TestGateway } from '../e2e/gateway/test-gateway.js';
import { describeEachDatabase } from '../support/databases.js';

const TOKEN_PATH = '/ng/v1/webhooks';
const KEY_PATH = '/email/ng/v1/webhooks';

describeEachDatabase('a credential that reaches for the callbacks of other products', (db) => {
  let gateway: TestGateway;
  let account: CreatedAccount;
  /** Of a key with `email:webhooks` alone, and of one with `whatsapp:read`, too. */
  let keys: { readonly email: string; readonly both: string };
  let count = 0;
  const url = () => `https://example.com/${count++}`;

  beforeAll(async () => {
    gateway = await new TestGateway({ DATABASE_URL: db.url }).start();
    account = await gateway.account();
    const key = async (...scopes: Scope[]) =>
      (await gateway.accounts.createKey(account.accountId, scopes)).apiKey;
    keys = {
      email: await key('email:webhooks'),
      both: await key('email:webhooks', 'whatsapp:read'),
    };
  });
  afterAll(() => gateway.destroy());

  const endpoints = () => gateway.running.app.get(WebhookEndpointsService, { strict: false });
  const callers = () => [
    { path: TOKEN_PATH, token: account.apiToken },
    { path: KEY_PATH, token: keys.email },
    { path: KEY_PATH, token: keys.both },
  ];
  const add = async (caller: number, events?: readonly string[] | null) => {
    const { path, token } = callers()[caller]!;
    const body = { url: url(), ...(events !== undefined && { events }) };
    return gateway.call('POST', path, { token, body });
  };
  const made = async (caller: number, events?: readonly string[] | null) =>
    String((await add(caller, events)).body['webhook_id']);
  const removeAll = async () => {
    for (const { id } of await endpoints().list(account.accountId))
      await endpoints().remove(account.accountId, id);
  };
  /** Whether the token, the key, and the key for both see the webhook. */
  const seenBy = (id: string) =>
    Promise.all(
      callers().map(async ({ path, token }) => {
        const { status } = await gateway.call('GET', `${path}/${id}`, { token });
        const list = await gateway.call('GET', path, { token });
        const ids = (list.body['data'] as { webhook_id: string }[]).map((one) => one.webhook_id);
        expect([status, ids.includes(id)]).toEqual(status === 200 ? [200, true] : [404, false]);
        return status === 200;
      }),
    );

  it('a webhook without events gets all kinds of the credential that made it', async () => {
    const ids = [await made(0), await made(1), await made(2, null)];
    const portals = (await endpoints().add(account.accountId, url())).id;
    const database = gateway.running.app.get(DataSource, { strict: false });
    const kinds = [
      'sms.delivery_report',
      'voice.call_status',
      'vas.order_status',
      'notification.ended',
      'whatsapp.message_received',
      'email.bounced',
      'email.domain_failed',
    ];
    const outbox = gateway.running.app.get(WebhookOutbox, { strict: false });
    await database.transaction((manager) =>
      outbox.record(
        kinds.map((type) => ({ account: account.accountId, subject: type, type, data: {} })),
        manager,
      ),
    );
    const rows: { endpoint_id: string; message_id: string }[] = await database.query(
      'SELECT endpoint_id, message_id FROM gateway_webhook_delivery ORDER BY position',
    );
    const of = (id: string) =>
      rows.filter((row) => row.endpoint_id === id).map((row) => row.message_id);
    expect([...ids, portals].map(of)).toEqual([
      kinds.slice(0, 5),
      kinds.slice(5),
      kinds.slice(4),
      kinds,
    ]);
    await removeAll();
  });

  it('a kind that the credential may not have is refused by name', async () => {
    const refused = [
      await add(0, ['sms.delivery_report', 'email.bounced']),
      await add(1, ['email.bounced', 'whatsapp.message_received']),
      await add(2, ['whatsapp.message_received', 'vas.order_status']),
    ];
    expect(refused.map(({ status, body }) => [status, body['error']])).toEqual(
      refused.map(() => [
        422,
        expect.objectContaining({
          code: 'invalid_field',
          details: [{ path: 'events[1]', message: expect.any(String) }],
        }),
      ]),
    );
    const id = await made(1);
    const change = { events: ['sms.delivery_report'] };
    const changed = await gateway.call('PATCH', `${KEY_PATH}/${id}`, {
      token: keys.email,
      body: change,
    });
    expect(changed.status).toBe(422);
    await removeAll();
  });

  it('a webhook with a kind that the credential may not have is 404 for it', async () => {
    const { accountId } = account;
    const ids = [
      await made(0),
      await made(0, ['sms.delivery_report']),
      await made(1),
      await made(2),
      await made(2, ['whatsapp.message_received']),
      (await endpoints().add(accountId, url())).id,
      (await endpoints().add(accountId, url(), ['email.bounced', 'sms.delivery_report'])).id,
    ];
    expect(await Promise.all(ids.map(seenBy))).toEqual([
      [true, false, false],
      [true, false, false],
      [false, true, true],
      [false, false, true],
      [true, false, true],
      [false, false, false],
      [false, false, false],
    ]);
    const others = `${KEY_PATH}/${ids[0]}`;
    const before = await endpoints().get(accountId, ids[0]!);
    const answers = await Promise.all([
      gateway.call('PATCH', others, { token: keys.both, body: { enabled: false } }),
      gateway.call('POST', `${others}/rotate-secret`, { token: keys.both }),
      gateway.call('GET', `${others}/attempts`, { token: keys.both }),
      gateway.call('POST', `${others}/redeliver`, { token: keys.both, body: {} }),
      gateway.call('DELETE', others, { token: keys.both }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    expect(await endpoints().get(accountId, ids[0]!)).toEqual(before);
    await removeAll();
  });

  it('a webhook from before makers were recorded gets every kind, and the token manages it', async () => {
    const { id } = await endpoints().add(account.accountId, url());
    const database = gateway.running.app.get(DataSource, { strict: false });
    await database.getRepository(WebhookEndpointEntity).update({ id }, { madeFor: 'kept' });
    expect(await seenBy(id)).toEqual([true, false, false]);
    const outbox = gateway.running.app.get(WebhookOutbox, { strict: false });
    const event = { account: account.accountId, subject: 'm', type: 'email.bounced', data: {} };
    await database.transaction((manager) => outbox.record([event], manager));
    const again = await endpoints().redeliver(account.accountId, id);
    expect(again).toBe(1);
    await removeAll();
  });

  it('older callbacks of a webhook that was narrowed are not sent again by its new credential', async () => {
    const { accountId } = account;
    const { id } = await endpoints().add(accountId, url());
    const database = gateway.running.app.get(DataSource, { strict: false });
    const outbox = gateway.running.app.get(WebhookOutbox, { strict: false });
    const event = { account: accountId, subject: 'm', data: {} };
    await database.transaction((manager) =>
      outbox.record(
        ['sms.delivery_report', 'email.bounced'].map((type) => ({ ...event, type })),
        manager,
      ),
    );
    await endpoints().update(accountId, id, { events: ['email.bounced'] });
    const again = await gateway.call('POST', `${KEY_PATH}/${id}/redeliver`, {
      token: keys.email,
      body: { since: '2020-01-01T00:00:00Z' },
    });
    expect(again).toMatchObject({ status: 202, body: { redelivered: 1 } });
    await removeAll();
  });
});
