import { afterAll, beforeAll } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { Page } from 'playwright-core';
import { Browser } from '../../support/browser.js';
import { buildPages } from '../../support/builds.js';
import { eventually } from '../../support/eventually.js';
import { sendThousands } from '../../support/many-messages.js';
import { shown } from '../../support/page-check.js';
import { describeWithServer } from '../../support/servers.js';
import { TestGateway } from '../gateway/test-gateway.js';
import { type PortalClient, signedIn } from './portal-client.js';

/** An account with something on each page, its operator, and the receiver of its callbacks. */
export interface FilledAccount {
  readonly account: Readonly<Record<'accountId' | 'apiToken' | 'apiKey' | 'setup', string>>;
  readonly operator: PortalClient;
  readonly webhookId: string;
  readonly groupId: string;
  readonly batchId: string;
  readonly contactId: string;
  readonly domainId: string;
  readonly failedId: string;
  readonly scheduledId: string;
  readonly callId: string;
  readonly orderId: string;
  /** Message with a one-time code. */
  readonly codeId: string;
  /** Status of the receiver's answers. */
  readonly receiver: { status: number; close(): Promise<void> };
}

/** The portal of a filled account, in a browser that its operator is signed in to. */
export class FilledPortal {
  readonly gateway = new TestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
  #filled: FilledAccount | undefined;
  #browser: Browser | undefined;
  #page: Page | undefined;

  async start(): Promise<void> {
    await buildPages();
    await this.gateway.start();
    if (process.env['SCREENSHOTS'])
      await sendThousands(this.gateway.running.app, this.gateway.running.demo?.accountId ?? '');
    this.#filled = await fillAccount(this.gateway);
    this.#browser = await Browser.open(this.gateway.url, this.#filled.operator.cookie);
    this.#page = await this.#browser.page();
  }

  async close(): Promise<void> {
    await this.#browser?.close();
    await this.#filled?.receiver.close();
    await this.gateway.destroy();
  }

  get filled(): FilledAccount {
    return started(this.#filled);
  }

  get browser(): Browser {
    return started(this.#browser);
  }

  get page(): Page {
    return started(this.#page);
  }

  /** Goes to an address below the account, and waits for its data. */
  async open(address: string): Promise<void> {
    // A test that failed may have left another page in front, which takes the keys.
    await this.page.bringToFront();
    const { accountId } = this.filled.account;
    await this.page.goto(`${this.gateway.url}/portal/a/${accountId}/${address}`);
    await shown(this.page);
  }
}

function started<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('the portal is there in hooks and tests');
  return part;
}

/** Describes what people see in the portal of an account with something on each page. */
export function describeFilledPortal(title: string, body: (portal: FilledPortal) => void): void {
  describeWithServer('chromium', title, () => {
    const portal = new FilledPortal();
    // The messages of the pictures take longer.
    beforeAll(() => portal.start(), 300_000);
    afterAll(() => portal.close());
    body(portal);
  });
}

async function startReceiver() {
  const receiver = { status: 500 };
  const server: Server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(receiver.status).end('not today'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { port, receiver: Object.assign(receiver, { close }) };
}

export async function fillAccount(gateway: TestGateway): Promise<FilledAccount> {
  const account = gateway.running.demo;
  if (!account) throw new Error('the first start made no account');
  const operator = await signedIn(gateway, 'operator', account.accountId);
  const { port, receiver } = await startReceiver();
  const hook = await operator.ok<{ webhook: { id: string } }>('POST', 'webhooks', {
    url: `http://127.0.0.1:${port}/hooks`,
  });
  const { id: groupId } = await operator.ok<{ id: string }>('POST', 'groups', {
    name: 'Spring customers',
  });
  await operator.ok('POST', `groups/${groupId}/members`, {
    members: ['2348012345601', '2348012345602', '2348012345603'],
  });
  await operator.ok('POST', 'suppressions', { email: 'left@example.com' });
  await operator.ok('POST', 'senders', { channel: 'sms', sender: 'ACMENEWS' });
  const { id: domainId } = await operator.ok<{ id: string }>('POST', 'domains', {
    name: 'mail.acme.test',
  });

  const sms = async (to: readonly string[], body: string, more: object = {}): Promise<string> => {
    const { body: answer } = await gateway.call('POST', '/ng/v1/sendsms', {
      token: account.apiToken,
      body: { from: 'ACME', to, body, delivery_report: 'yes', ...more },
    });
    return String(answer['reference_id']);
  };
  const batchId = await sms(
    ['2348012345601', '2348012345602', '2348012345603', '2348012349901', '2348012349902'],
    'Your order 1001 is on its way. Track it at acme.test/1001',
  );
  const failed = await sms(['2348012349903'], 'Your code is 4711');
  const scheduledId = await sms(['2348012345601'], 'See you tomorrow', {
    send_at: '2150-01-01T09:00:00Z',
  });
  await sendWhatsApp(gateway, account.apiKey);
  const contacts = await operator.ok<{ data: { id: string }[] }>('GET', 'contacts?q=2348012349910');
  await sendEmails(gateway, account.apiKey);
  await eventually(async () => {
    const { data } = await operator.ok<{ data: { state: string }[] }>(
      'GET',
      `webhooks/${hook.webhook.id}/attempts`,
    );
    if (data.length < 3) throw new Error(`${data.length} attempts of callbacks`);
  });
  return {
    account,
    operator,
    webhookId: hook.webhook.id,
    groupId,
    domainId,
    contactId: contacts.data[0]?.id ?? '',
    batchId,
    failedId: `${failed}-0`,
    scheduledId,
    ...(await callAndOrder(gateway, account.apiToken, operator)),
    receiver,
  };
}

/** A template whose recipient writes back, which opens the window; and one that is read. */
async function sendWhatsApp(gateway: TestGateway, token: string): Promise<void> {
  for (const phone of ['2348012349910', '2348012345611']) {
    await gateway.call('POST', '/whatsapp/ng/v1/contacts', {
      token,
      body: { phone, opt_in: true },
    });
    await gateway.call('POST', '/whatsapp/ng/v1/sendwhatsapp', {
      token,
      body: {
        to: phone,
        message_type: 'template',
        template_name: 'order_update',
        language: 'en',
        params: ['Ada', '1001'],
      },
    });
  }
  await eventually(async () => {
    const { body } = await gateway.call('GET', '/whatsapp/ng/v1/contacts/2348012349910', { token });
    if (!body['window_expires_at']) throw new Error('the recipient has not written back');
  });
}

async function sendEmails(gateway: TestGateway, token: string): Promise<void> {
  const html = `<h1 style="color:#4338ca">Your order is on its way</h1>
<p style="font-family:sans-serif">Order <b>1001</b> left our warehouse this morning.</p>`;
  for (const to of ['ada@example.com', 'bounced@example.com'])
    await gateway.call('POST', '/email/ng/v1/messages', {
      token,
      body: {
        from: 'Acme <hello@demo.test>',
        to: [to],
        subject: 'Order 1001 is on its way',
        text: 'Order 1001 left our warehouse this morning.',
        html,
        tags: ['orders'],
      },
    });
}

/** A call with pressed digits, an order without an outcome, and one-time codes. */
async function callAndOrder(gateway: TestGateway, token: string, operator: PortalClient) {
  const post = async (path: string, body: object): Promise<Record<string, unknown>> =>
    (await gateway.call('POST', `/ng/v1/${path}`, { token, body })).body;
  await operator.ok('POST', 'do-not-call', { phone: '2348012345698' });
  const call = { from: '2348000000001', text: 'Press one', collect: { max_digits: 1 } };
  const { reference_id: callId } = await post('voice/calls', { ...call, to: ['2348012349912'] });
  await post('voice/calls', { ...call, to: ['2348012349901'] });
  const order = { product: 'airtime-ng', amount: '100' };
  await post('vas/orders', { ...order, to: '2348012345621', client_reference: 'shop-1' });
  const lost = { ...order, to: '2348012349909', client_reference: 'shop-2' };
  const { id: orderId } = await post('vas/orders', lost);
  await post('vas/verifications', { to: '2348012345631', channel: 'sms' });
  await post('vas/verifications', { to: '2348012345632', channel: 'voice' });
  await post('vas/verifications', { to: 'bo@example.com', channel: 'email' });
  let codeId = '';
  await eventually(async () => {
    const { data } = await operator.ok<{ data: { id: string; status: string; code: string }[] }>(
      'GET',
      'messages?to=2348012345631',
    );
    const called = await operator.ok<{ status: string }>('GET', `messages/${String(callId)}-0`);
    const ordered = await operator.ok<{ status: string }>('GET', `messages/${String(orderId)}-0`);
    const statuses = [data[0]?.status, called.status, ordered.status];
    if (statuses.join(' ') !== 'delivered completed unknown') throw new Error(statuses.join(' '));
    codeId = data[0]?.id ?? '';
  });
  return { callId: `${String(callId)}-0`, orderId: String(orderId), codeId };
}
