import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { DataSource } from 'typeorm';
import { ContactsService } from '@dundun/messaging';
import { InboundRecorder } from '../../../libs/messaging/src/contacts/inbound.js';
import { AccountSenders } from '../../../src/senders/account-senders.js';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { WebhookEndpointsService } from '../../../src/webhooks/webhook-endpoints.service.js';
import { Receiver } from '../../integration/webhooks/receiver.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { TestGateway } from './test-gateway.js';

const WRITER = '2348012349910';
const HOOK = '/messaging/delivery-reports';

/** A chain of the sender's phone, the carrier's gateway, the tested gateway, and a customer's webhook. */
describeOneDatabase('inbound messages through a gateway’s carrier', (database) => {
  const carrier = new TestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
  let gateway: TestGateway;
  let receiver: Receiver;
  let account: CreatedAccount;
  let number: string;
  let secret: string;
  let written = 0;

  beforeAll(async () => {
    carrier.databaseUrl = await database.another();
    await carrier.start();
    const ours = await carrier.account('gateway');
    const upstream = carrier.running.app.get(WebhookEndpointsService, { strict: false });
    // The secret is known before our address is; it stays when the URL is set.
    ({ secret } = await upstream.set(ours.accountId, 'http://127.0.0.1:65535/'));
    gateway = new TestGateway({
      DATABASE_URL: database.url,
      CARRIER: 'http',
      CARRIER_URL: carrier.url,
      CARRIER_TOKEN: ours.apiToken,
      CARRIER_KEY: ours.apiKey,
      CARRIER_CALLBACK_SECRET: secret,
      WEBHOOK_ALLOW_PRIVATE: 'true',
    });
    await gateway.start();
    await upstream.set(ours.accountId, gateway.url + HOOK);
    number = String(
      await carrier.running.app
        .get(AccountSenders, { strict: false })
        .firstOf(ours.accountId, 'whatsapp'),
    );
    account = await gateway.account();
    receiver = await Receiver.start();
    const its = gateway.running.app;
    await gateway.senders.addNumber(account.accountId, number);
    await gateway.accounts.putTemplate(account.accountId, {
      name: 'order_update',
      language: 'en',
      category: 'utility',
      status: 'approved',
      params_count: 2,
    });
    await its.get(WebhookEndpointsService, { strict: false }).set(account.accountId, receiver.url);
    await carrier.call('POST', '/whatsapp/ng/v1/contacts', {
      token: ours.apiKey,
      body: { phone: WRITER, opt_in: true },
    });
  });
  afterAll(async () => {
    await gateway.destroy();
    await carrier.destroy();
    await receiver.close();
  });

  const ask = (method: string, path: string, body?: object, of = account) =>
    gateway.call(method, `/whatsapp/ng/v1${path}`, { token: of.apiKey, ...(body && { body }) });
  const sendText = () =>
    ask('POST', '/sendwhatsapp', { to: WRITER, message_type: 'text', text: 'On its way' });
  /** Callbacks to our customer. */
  const told = (kind = 'whatsapp.message_received') =>
    receiver.received
      .map(({ body }) => JSON.parse(body) as { type: string; data: Record<string, unknown> })
      .filter(({ type }) => type === kind)
      .map(({ data }) => data);
  /** As the carrier would have it. */
  const write = async (
    to: string,
    id = `wamid.${written++}`,
    { type = 'whatsapp.message_received', from = '2348012345601', text = 'Hi' } = {},
  ) => {
    const body = JSON.stringify({
      type,
      timestamp: new Date().toISOString(),
      data: { message_id: id, from, to, text },
    });
    const at = new Date();
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(secret).sign('msg_1', at, body),
    };
    return (
      await gateway.call('POST', HOOK, {
        raw: body,
        headers: { 'content-type': 'application/json', ...headers },
      })
    ).status;
  };
  const isKnown = async (of: CreatedAccount) =>
    (await ask('GET', '/contacts/2348012345601', undefined, of)).status === 200;

  it("an inbound message opens the account's window, calls its webhook and lets a text pass", async () => {
    await ask('POST', '/contacts', { phone: WRITER, opt_in: true });
    expect(await sendText()).toMatchObject({
      status: 422,
      body: { error: { code: 'window_closed' } },
    });
    const template = await ask('POST', '/sendwhatsapp', {
      to: WRITER,
      message_type: 'template',
      template_name: 'order_update',
      language: 'en',
      params: ['Ada', '1001'],
    });
    expect(template).toMatchObject({
      status: 200,
      body: { status: 'sent', cost: 0.01, sender: number },
    });
    await eventually(async () =>
      expect(told()).toEqual([
        expect.objectContaining({ from: WRITER, to: number, text: 'Hello', bsuid: null }),
      ]),
    );
    const contact = await ask('GET', `/contacts/${WRITER}`);
    expect(contact.body['window_expires_at']).toEqual(expect.any(String));
    expect(await sendText()).toMatchObject({
      status: 200,
      body: { status: 'sent', category: 'service' },
    });
  });

  it("status callbacks carry the platform's id and our former id", async () => {
    const answer = await ask('POST', '/sendwhatsapp', {
      to: WRITER,
      message_type: 'text',
      text: 'Still there?',
    });
    const { message_id } = answer.body;
    const { body } = await ask('GET', `/messages/${String(message_id)}`);
    const events = () =>
      told('whatsapp.message_status').filter((one) => one['message_id'] === message_id);
    await eventually(async () => expect(events().at(-1)?.['status']).toBe('read'));
    expect(events()[0]).toMatchObject({
      reference_id: body['reference_id'],
      to: WRITER,
      from: number,
      status: 'sent',
      sequence: 1,
    });
    // A status that was overtaken is no change.
    const inOrder = ['sent', 'delivered', 'read'];
    const statuses = events().map(({ status }) => String(status));
    expect(statuses).toEqual(inOrder.filter((status) => statuses.includes(status)));
    expect(events().map(({ sequence }) => sequence)).toEqual(statuses.map((_, n) => n + 1));
    const others = told('whatsapp.message_status').filter(
      (one) => one['message_id'] === one['reference_id'],
    );
    expect(others).toEqual([]);
  });

  it("an inbound SMS calls the account's webhook once, and STOP opts out of its SMS", async () => {
    const sms = { type: 'sms.message_received', from: '2348012345602', text: 'STOP' };
    expect(await write(number, 'sms-1', sms)).toBe(204);
    expect(await write(number, 'sms-1', sms)).toBe(204);
    await eventually(async () =>
      expect(told('sms.message_received')).toEqual([
        {
          reference_id: expect.any(String),
          message_id: 'sms-1',
          from: '2348012345602',
          bsuid: null,
          to: number,
          text: 'STOP',
          content: { type: 'text' },
          profile_name: null,
          replies_to: null,
          received_at: expect.any(String),
        },
      ]),
    );
    const contacts = gateway.running.app.get(ContactsService, { strict: false });
    const found = await contacts.find('2348012345602', { tenant: account.accountId });
    expect(found?.consents['sms']?.state).toBe('opted_out');
  });

  it('contents pass through both gateways, and a file is fetched through both', async () => {
    const bytes = Buffer.from('the bytes of a file');
    const source = `data:image/png;base64,${bytes.toString('base64')}`;
    const file = { type: 'image', contentType: 'image/png', filename: 'a.png', size: 19 } as const;
    const message = {
      messageId: 'wamid.photo',
      channel: 'whatsapp',
      from: WRITER,
      bsuid: null,
      to: number,
      text: 'The meter',
      content: { kind: 'media', caption: 'The meter', files: [{ ...file, source }] },
      profileName: 'Ada',
      repliesTo: 'wamid.sent',
      sentAt: null,
    } as const;
    const recorder = carrier.running.app.get(InboundRecorder, { strict: false });
    await recorder.record([message], { transport: 'simulator' });
    const found = () => told().find((data) => data['message_id'] === 'wamid.photo');
    await eventually(async () => expect(found()).toBeDefined());
    expect(found()).toMatchObject({
      text: 'The meter',
      profile_name: 'Ada',
      replies_to: 'wamid.sent',
      content: { type: 'media', media: [{ content_type: 'image/png', filename: 'a.png' }] },
    });
    const path = `/whatsapp/ng/v1/inbound/${String(found()?.['reference_id'])}/media/0`;
    const headers = { authorization: `Bearer ${account.apiKey}` };
    const answer = await fetch(gateway.url + path, { headers });
    expect([answer.status, Buffer.from(await answer.arrayBuffer())]).toEqual([200, bytes]);
    expect(answer.headers.get('content-disposition')).toContain('filename="a.png"');
  });

  it('an inbound message to an unknown number is skipped and taken once the number is added', async () => {
    const late = await gateway.accounts.create('late');
    const theirs = '2348000000077';
    expect(await write(theirs, 'wamid.late')).toBe(204);
    expect([await isKnown(account), await isKnown(late)]).toEqual([false, false]);
    expect(gateway.log.join('')).toContain('1 inbound messages were left out');
    await gateway.senders.addNumber(late.accountId, theirs);
    expect(await write(theirs, 'wamid.late')).toBe(204);
    expect([await isKnown(account), await isKnown(late)]).toEqual([false, true]);
    expect(told().filter(({ to }) => to === theirs)).toEqual([]);
  });

  it('the callback is answered 503 when the account of the number cannot be looked up', async () => {
    const database = gateway.running.app.get(DataSource, { strict: false });
    await database.query('ALTER TABLE gateway_account_sender RENAME TO gateway_sender_elsewhere');
    expect(await write('2348000000078')).toBe(503);
    await database.query('ALTER TABLE gateway_sender_elsewhere RENAME TO gateway_account_sender');
    await eventually(async () => expect(await write('2348000000078')).toBe(204));
  });
});
