import { tmpdir } from 'node:os';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { BillingService } from '../../../src/billing/ledger/billing.service.js';
import { amountText } from '../../../src/billing/money.js';
import { RateCards } from '../../../src/billing/rate-cards/rate-cards.service.js';
import { RateImports } from '../../../src/billing/rate-cards/rate-imports.service.js';
import { EnvironmentError, readEnvironment } from '../../../src/config/environment.js';
import { WebhookEndpointsService } from '../../../src/webhooks/webhook-endpoints.service.js';
import { Receiver } from '../../integration/webhooks/receiver.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { WhatsAppCloudServer } from '../../support/whatsapp-cloud-server.js';
import { commandLine } from './command-line.js';
import { type Answered, TestGateway } from './test-gateway.js';

const HOOK = '/messaging/delivery-reports/whatsapp-cloud';
const OURS = '2348000000001';
const PERSON = '2348012345678';

describeOneDatabase('a gateway whose WhatsApp messages go through Meta', (database) => {
  let cloud: WhatsAppCloudServer;
  let gateway: TestGateway;
  let receiver: Receiver;
  let account: CreatedAccount;

  beforeAll(async () => {
    cloud = await WhatsAppCloudServer.start();
    cloud.templates.push(
      templateOf('order_update', 'UTILITY', 'Hi {{1}}, order {{2}} is on its way to {{1}}.'),
      {
        ...templateOf('receipt', 'UTILITY', 'Hi {{name}}, you paid {{amount}}.'),
        parameter_format: 'NAMED',
      },
      templateOf('sale', 'MARKETING', 'Today only.'),
    );
    gateway = await new TestGateway({
      DATABASE_URL: database.url,
      WHATSAPP_CARRIER: 'whatsapp-cloud',
      WHATSAPP_CLOUD_TOKEN: cloud.token,
      WHATSAPP_CLOUD_APP_SECRET: cloud.appSecret,
      WHATSAPP_CLOUD_VERIFY_TOKEN: cloud.verifyToken,
      WHATSAPP_CLOUD_URL: cloud.url,
      WEBHOOK_ALLOW_PRIVATE: 'true',
    }).start();
    account = await gateway.account();
    receiver = await Receiver.start();
    const webhooks = gateway.running.app.get(WebhookEndpointsService, { strict: false });
    await webhooks.set(account.accountId, receiver.url);
    await ask('POST', '/contacts', { phone: PERSON, opt_in: true });
  });
  afterAll(async () => {
    await gateway?.destroy();
    await receiver?.close();
    await cloud.close();
  });

  const ask = (method: string, path: string, body?: object) =>
    gateway.call(method, `/whatsapp/ng/v1${path}`, {
      token: account.apiKey,
      ...(body && { body }),
    });
  const send = (name = 'order_update', params = ['Ada', '17']) => {
    const template = { template_name: name, language: 'en', params };
    return ask('POST', '/sendwhatsapp', { to: PERSON, message_type: 'template', ...template });
  };
  const webhook = async (value: object, field?: string) =>
    (await fetch(gateway.url + HOOK, { method: 'POST', ...cloud.webhook(value, field) })).status;
  const seconds = () => String(Math.floor(Date.now() / 1_000));
  /** Callbacks to the customer. */
  const told = (kind: string) =>
    receiver.received
      .map(({ body }) => JSON.parse(body) as { type: string; data: Record<string, unknown> })
      .filter(({ type }) => type === `whatsapp.${kind}`)
      .map(({ data }) => data);
  const dundun = async (...args: string[]) => {
    const settings = { NODE_ENV: 'test', DATABASE_URL: gateway.databaseUrl };
    const of = ['--account', account.accountId, '--json'];
    const ended = await commandLine([...args, ...of], settings, tmpdir());
    return JSON.parse(ended.code === 0 ? ended.stdout : ended.stderr) as Record<string, unknown>;
  };

  it('an account sends once its number is bound to Meta, whose templates it then has', async () => {
    expect(await send()).toMatchObject({ body: { error: { code: 'sender_not_registered' } } });
    const add = (...meta: string[]) => dundun('number', 'add', '--number', OURS, ...meta);
    const ids = ['--phone-number-id', cloud.phoneNumberId, '--waba', cloud.wabaId];
    const refused = (message: string) => ({
      error: { code: 'invalid_field', message: expect.stringMatching(message) },
    });
    expect(await add('--phone-number-id', '12345')).toMatchObject(refused('^waba: must be'));
    expect(await add()).toEqual({ account_id: account.accountId, number: OURS });
    await eventually(async () =>
      expect(await send()).toMatchObject({ body: { error: { code: 'sender_not_registered' } } }),
    );
    expect(await add(...ids)).toMatchObject({ phone_number_id: cloud.phoneNumberId });
    const other = await dundun('number', 'add', '--number', '2348000000002', ...ids);
    expect(other).toMatchObject(refused('^phone-number-id: belongs to another number'));
    await eventually(async () =>
      expect((await ask('GET', '/templates')).body['data']).toEqual([
        row('order_update', 'utility', 2),
        row('receipt', 'utility', 2),
        row('sale', 'marketing', 0),
      ]),
    );
    // The gateway caches its reads for a second.
    await eventually(async () =>
      expect(await send('hello')).toMatchObject({
        body: { error: { code: 'template_not_approved' } },
      }),
    );
  });

  it('a template leaves for Meta, and signed statuses bring its price and the callbacks', async () => {
    const sent = await send();
    expect(sent).toMatchObject({
      status: 200,
      body: { status: 'sent', category: 'utility', cost: null, sender: OURS },
    });
    const id = String(sent.body['message_id']);
    const message = cloud.taken.at(-1);
    expect(message).toMatchObject({ to: PERSON, template: { name: 'order_update' } });
    const status = (word: string) => ({
      statuses: [
        {
          id,
          status: word,
          timestamp: seconds(),
          recipient_id: PERSON,
          biz_opaque_callback_data: message?.biz_opaque_callback_data,
          pricing: { billable: true, pricing_model: 'PMP', category: 'utility' },
        },
      ],
    });
    const { body, headers } = cloud.webhook(status('read'));
    const forged = { ...headers, 'x-hub-signature-256': 'sha256=00' };
    const refused = await fetch(gateway.url + HOOK, { method: 'POST', body, headers: forged });
    expect(refused.status).toBe(401);
    for (const word of ['delivered', 'sent', 'delivered', 'read'])
      expect(await webhook(status(word))).toBe(204);
    expect((await ask('GET', `/messages/${id}`)).body).toMatchObject({
      status: 'read',
      cost: 0.01,
      currency: 'USD',
      category: 'utility',
    });
    await eventually(async () =>
      expect(told('message_status').map((data) => data['status'])).toEqual([
        'sent',
        'delivered',
        'read',
      ]),
    );
  });

  it('an account that pays is settled at the category that Meta reports, and free where Meta says so', async () => {
    const { app } = gateway.running;
    const { accountId } = account;
    const billing = app.get(BillingService, { strict: false });
    const cards = app.get(RateCards, { strict: false });
    const nothing = () => Promise.resolve();
    const rows = ['whatsapp,*,utility,6.7', 'whatsapp,234,marketing,50'];
    const csv = ['channel,prefix,category,price', ...rows].join('\n');
    const version = { card: 'ngn', currency: 'NGN' };
    await app.get(RateImports, { strict: false }).import(csv, version, nothing);
    await cards.reread();
    await billing.setMode(accountId, { mode: 'prepaid', card: 'ngn' }, nothing);
    await billing.topUp(accountId, { amount: '100', reference: 'T', userId: null }, nothing);
    await cards.reread();
    const money = async () => {
      const { balance = 0n, reserved = 0n } = (await billing.account(accountId)) ?? {};
      return [amountText(balance), amountText(reserved)];
    };
    const report = (sent: Answered, word: string, pricing: object) =>
      webhook({
        statuses: [
          {
            id: sent.body['message_id'],
            status: word,
            timestamp: seconds(),
            recipient_id: PERSON,
            pricing: { pricing_model: 'PMP', ...pricing },
          },
        ],
      });
    const costOf = async (sent: Answered) =>
      (await ask('GET', `/messages/${String(sent.body['message_id'])}`)).body['cost'];
    const dear = await send();
    expect(dear.body).toMatchObject({ status: 'sent', cost: 6.7, currency: 'NGN' });
    expect(await money()).toEqual(['93.30', '0.00']);
    const billed = { billable: true, category: 'marketing' };
    // It raises no status: the answer to the submit came first.
    await report(dear, 'sent', billed);
    expect([await costOf(dear), await money()]).toEqual([50, ['50.00', '0.00']]);
    await report(dear, 'delivered', billed);
    await report(dear, 'sent', billed);
    await report(dear, 'read', { billable: false, category: 'utility' });
    expect([await costOf(dear), await money()]).toEqual([50, ['50.00', '0.00']]);
    const free = await send();
    await report(free, 'delivered', { billable: false, category: 'utility' });
    expect([await costOf(free), await money()]).toEqual([0, ['50.00', '0.00']]);
    await eventually(async () =>
      expect(told('message_status').at(-1)).toMatchObject({ cost: 0, currency: 'NGN' }),
    );
    expect(await billing.differences()).toEqual([]);
    await billing.setMode(accountId, { mode: 'off' }, nothing);
    await cards.reread();
  });

  it('params of a template with variables by name leave under their names', async () => {
    expect(await send('receipt', ['Ada', '10 USD'])).toMatchObject({ body: { status: 'sent' } });
    const names = ['name', 'amount'].map((name) => ({ parameter_name: name }));
    expect(cloud.taken.at(-1)).toMatchObject({ template: { components: [{ parameters: names }] } });
  });

  it('params that make the body of a listed template too long are refused', async () => {
    const long = await send('receipt', ['Ada', 'x'.repeat(1_020)]);
    const code = 'template_params_mismatch';
    expect(long).toMatchObject({ status: 422, body: { error: { code } } });
    expect(JSON.stringify(long.body)).toMatch(/makes the body 10\d\d characters long/);
  });

  it('a text from a customer opens the window and calls the webhook of the account', async () => {
    const text = () =>
      ask('POST', '/sendwhatsapp', { to: PERSON, message_type: 'text', text: 'Hi' });
    expect(await text()).toMatchObject({ body: { error: { code: 'window_closed' } } });
    const message = {
      id: 'wamid.in',
      timestamp: seconds(),
      type: 'text',
      text: { body: 'Where?' },
    };
    const metadata = { display_phone_number: `+${OURS}`, phone_number_id: cloud.phoneNumberId };
    const inGroup = { ...message, from: PERSON, id: 'wamid.group', group_id: 'G1' };
    expect(await webhook({ metadata, messages: [inGroup] })).toBe(204);
    await eventually(async () =>
      expect(told('message_received')).toEqual([
        expect.objectContaining({ message_id: 'wamid.group', opens_window: false }),
      ]),
    );
    expect(await text()).toMatchObject({ status: 422, body: { error: { code: 'window_closed' } } });
    const messages = [{ from: PERSON, from_user_id: 'NG.1', ...message }];
    expect(await webhook({ metadata, messages })).toBe(204);
    await eventually(async () =>
      expect(told('message_received').slice(1)).toEqual([
        expect.objectContaining({ from: PERSON, bsuid: 'NG.1', to: OURS, text: 'Where?' }),
      ]),
    );
    expect(await text()).toMatchObject({ status: 200, body: { status: 'sent' } });
    expect(cloud.taken.at(-1)).toMatchObject({ text: { body: 'Hi' } });
  });

  it('a template that Meta pauses is refused until Meta takes it up again', async () => {
    const change = (event: string) => ({
      event,
      message_template_id: 1_689_556_908_129_832,
      message_template_name: 'sale',
      message_template_language: 'en',
    });
    const code = async () => (await send('sale', [])).body['error'];
    cloud.templates[2]!.status = 'PAUSED';
    expect(await webhook(change('PAUSED'), 'message_template_status_update')).toBe(204);
    expect(await code()).toMatchObject({ code: 'template_not_approved' });
    cloud.templates[2]!.status = 'APPROVED';
    expect(await webhook(change('APPROVED'), 'message_template_status_update')).toBe(204);
    await eventually(async () => expect(await code()).toBeUndefined());
  });

  it('Meta verifies the address of the webhook with the token', async () => {
    const verify = (token: string) =>
      fetch(`${gateway.url}${HOOK}?hub.mode=subscribe&hub.challenge=42&hub.verify_token=${token}`);
    const answer = await verify(cloud.verifyToken);
    expect([answer.status, await answer.text()]).toEqual([200, '42']);
    expect((await verify('another-token-of-16')).status).toBe(401);
  });
});

it('settings that WHATSAPP_CARRIER=whatsapp-cloud needs are named at boot', () => {
  const problems = (settings: Record<string, string>) => {
    try {
      readEnvironment({ WHATSAPP_CARRIER: 'whatsapp-cloud', ...settings });
      return [];
    } catch (error) {
      return (error as EnvironmentError).problems.map((problem) => problem.split(':')[0]);
    }
  };
  expect(problems({})).toEqual([
    'WHATSAPP_CLOUD_TOKEN',
    'WHATSAPP_CLOUD_APP_SECRET',
    'WHATSAPP_CLOUD_VERIFY_TOKEN',
  ]);
  const secret = 'a-secret-of-sixteen-or-more';
  const settings = {
    WHATSAPP_CLOUD_TOKEN: `Bearer ${secret}`,
    WHATSAPP_CLOUD_APP_SECRET: 'short',
    WHATSAPP_CLOUD_VERIFY_TOKEN: secret,
    WHATSAPP_CLOUD_URL: 'graph.facebook.com',
  };
  expect(problems(settings)).toEqual([
    'WHATSAPP_CLOUD_TOKEN',
    'WHATSAPP_CLOUD_APP_SECRET',
    'WHATSAPP_CLOUD_URL "graph.facebook.com"',
  ]);
  expect(problems({ WHATSAPP_CARRIER: 'meta' })).toEqual(['WHATSAPP_CARRIER "meta"']);
});

function templateOf(name: string, category: string, text: string) {
  return {
    name,
    language: 'en',
    category,
    status: 'APPROVED',
    components: [{ type: 'BODY', text }],
  };
}

function row(name: string, category: string, count: number): object {
  return { name, language: 'en', category, status: 'approved', params_count: count };
}
