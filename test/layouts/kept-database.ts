import { ContactsService, NotificationService } from '@dundun/messaging';
import { MessagingOperations } from '@dundun/messaging/operations';
import { Webhook } from 'standardwebhooks';
import { writeFile } from 'node:fs/promises';
import { SmppCredentials } from '../../src/smpp/smpp-credentials.service.js';
import { TestGateway } from '../e2e/gateway/test-gateway.js';
import { fillAccount } from '../e2e/portal/filled-account.js';
import { eventually } from '../support/eventually.js';
import { InterfaceServer } from '../support/interface-server.js';

type AccountName = 'demo' | 'acme';

/** An answer of the gateway's interface about stored work. */
export interface KeptAnswer {
  readonly account: AccountName;
  readonly path: string;
  readonly body: unknown;
}

/** What is known of a database with work in every state. */
export interface Kept {
  readonly accounts: Readonly<Record<AccountName, Credentials>>;
  readonly ids: Readonly<Record<'groupId' | 'contactId', string>>;
  /** The body of a report of the carrier that was recorded. */
  readonly report: string;
  /** References of what waits behind pauses of lanes. */
  readonly queued: {
    readonly sms: readonly string[];
    readonly email: string;
    readonly notification: string;
  };
  /** Reference of the message whose request had no answer yet. */
  readonly inFlight: string;
}

interface Credentials {
  readonly accountId: string;
  readonly apiToken: string;
  readonly apiKey: string;
}

const SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;

/** A gateway whose numbers in Ghana go to the server, and all others to the simulated carrier. */
export async function keptGateway(
  upstream: InterfaceServer,
  file: string,
  settings: Readonly<Record<string, string>>,
): Promise<TestGateway> {
  await writeFile(
    file,
    JSON.stringify({
      carriers: {
        sim: { type: 'simulator' },
        up: {
          type: 'http',
          url: upstream.url,
          token: upstream.apiToken,
          callback_secret: SECRET,
        },
      },
      routes: [{ channel: 'sms', to: ['233'], use: 'up' }, { use: 'sim' }],
    }),
  );
  return new TestGateway({
    WEBHOOK_ALLOW_PRIVATE: 'true',
    SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
    CARRIERS_FILE: file,
    RETENTION_CONTENT: 'off',
    RETENTION_MESSAGES: 'off',
    ...settings,
  });
}

/** Posts a report as the carrier does. @returns the status of the answer */
export async function postReport(gateway: TestGateway, body: string): Promise<number> {
  const at = new Date();
  const { status } = await fetch(`${gateway.url}/callbacks/up`, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(SECRET).sign('msg_1', at, body),
    },
  });
  return status;
}

/**
 * Brings messages, reports, callbacks and contacts into every state, by the gateway's own requests.
 * At its end one request of the carrier `up` has no answer yet.
 */
export async function fillDatabase(gateway: TestGateway, upstream: InterfaceServer): Promise<Kept> {
  const filled = await fillAccount(gateway);
  const demo = credentialsOf(filled.account);
  const acme = credentialsOf(await gateway.account('acme'));
  const { app } = gateway.running;
  const operations = app.get(MessagingOperations, { strict: false });
  const sms = async (of: Credentials, to: string, more: object = {}): Promise<string> => {
    const { body } = await gateway.call('POST', '/ng/v1/sendsms', {
      token: of.apiToken,
      body: { from: 'ACME', to: [to], body: 'Hello', delivery_report: 'yes', ...more },
    });
    return String(body['reference_id']);
  };
  const statusIs = (of: Credentials, id: string, status: string) =>
    eventually(async () => {
      const { body } = await gateway.call('GET', `/ng/v1/sms/${id}`, { token: of.apiToken });
      if (JSON.stringify(body['counts']) !== `{"${status}":1}`)
        throw new Error(`${id} is not ${status}: ${JSON.stringify(body['counts'])}`);
    });

  upstream.hasReports = false;
  const reported = await sms(demo, '233201234501');
  const unreported = await sms(demo, '233201234502');
  for (const id of [reported, unreported]) await statusIs(demo, id, 'sent');
  const taken = [...upstream.accepted.values()].find(({ body }) => body.includes('233201234501'));
  const report = reportOf(String(taken?.answer['reference_id']), '233201234501');
  await postReport(gateway, report);
  await statusIs(demo, reported, 'delivered');
  await postReport(gateway, reportOf('0190aaaa-0000-7000-8000-000000000000', '233201234503'));

  const cancelled = await sms(demo, '2348012345601', { send_at: '2150-01-01T00:00:00Z' });
  await gateway.call('DELETE', `/ng/v1/sms/${cancelled}`, { token: demo.apiToken });
  // Its answer is always lost: it is in doubt.
  await sms(demo, '2348012349909');
  const mail = async (to: readonly string[], more: object = {}): Promise<string> => {
    const { body } = await gateway.call('POST', '/email/ng/v1/messages', {
      token: demo.apiKey,
      body: { from: 'Acme <hello@demo.test>', to, subject: 'Order', text: 'Packed.', ...more },
    });
    return String(body['reference_id']);
  };
  await mail(['lost@example.com']);
  const [failed] = (await operations.messages({ tenants: [demo.accountId], status: 'rejected' }))
    .data;
  if (failed) await operations.resend(failed.id, { by: 'ada' });
  await app.get(SmppCredentials, { strict: false }).add(demo.accountId);
  await app
    .get(ContactsService, { strict: false })
    .suppress(['2348012345677'], { tenant: demo.accountId, reason: 'opted out' });

  for (const lanes of [`${acme.accountId}:sms`, `${demo.accountId}:email`])
    await operations.drain({ lanes, reason: 'the fixture keeps it queued' });
  const queued = [
    await sms(acme, '2348012345678'),
    await sms(acme, '233201234504', { delivery_report: 'none' }),
    await sms(acme, '2348012349901'),
  ];
  const email = await mail(['ada@example.com', 'bo@example.com'], {
    tags: ['orders', 'fixture'],
    attachments: [{ filename: 'a.txt', content_type: 'text/plain', content: 'SGVsbG8=' }],
  });

  const { id: notification } = await app.get(NotificationService, { strict: false }).send(
    {
      via: ['email', 'sms'],
      email: { from: 'Acme <hello@demo.test>', subject: 'Order', text: 'Packed.' },
      sms: { from: 'ACME', body: 'Packed.' },
      fallback: { after: '30d', unless: 'delivered' },
    },
    { phone: '2348012345601', email: 'cy@example.com' },
    { tenant: demo.accountId },
  );

  upstream.answer(({ body }) => body.includes('233201234505'));
  const inFlight = await sms(demo, '233201234505');
  await eventually(async () => {
    if (!upstream.requests.some(({ body }) => body.includes('233201234505')))
      throw new Error('the carrier has no request');
  });
  await filled.receiver.close();
  const { groupId, contactId } = filled;
  return {
    accounts: { demo, acme },
    ids: { groupId, contactId },
    report,
    queued: { sms: queued, email, notification },
    inFlight,
  };
}

/** Every answer of the interface that tells of stored work and does not depend on the time. */
export async function answersOf(
  gateway: TestGateway,
  { accounts, ids: { groupId, contactId } }: Kept,
): Promise<KeptAnswer[]> {
  const answers: KeptAnswer[] = [];
  const ask = async (account: AccountName, path: string): Promise<string[]> => {
    const body = await read(gateway, accounts[account], path);
    const { data = [] } = body as { data?: Record<string, unknown>[] };
    // A later look at the receiver or the DNS may change the others.
    const kept = CHECKED.has(path)
      ? { data: data.map(({ id, url, name, created_at }) => ({ id, url, name, created_at })) }
      : body;
    answers.push({ account, path, body: kept });
    return [...new Set(data.map((one) => String(one['reference_id'] ?? one['message_id'])))];
  };
  for (const account of ['demo', 'acme'] as const) {
    for (const id of await ask(account, '/ng/v1/sms?limit=100'))
      for (const part of ['', '/recipients', '/reports'])
        await ask(account, `/ng/v1/sms/${id}${part}`);
    for (const id of await ask(account, '/email/ng/v1/messages?limit=100'))
      for (const part of ['', '/events']) await ask(account, `/email/ng/v1/messages/${id}${part}`);
    for (const path of LISTS) await ask(account, path);
  }
  await ask('demo', `/ng/v1/groups/${groupId}/members`);
  await ask('demo', `/whatsapp/ng/v1/contacts/${contactId}`);
  return answers;
}

const CHECKED = new Set(['/ng/v1/webhooks', '/email/ng/v1/domains']);

const LISTS = [
  '/ng/v1/deliveryreports?limit=100',
  '/ng/v1/voice/calls?limit=100',
  '/ng/v1/vas/orders?limit=100',
  '/ng/v1/groups',
  '/ng/v1/webhooks',
  '/email/ng/v1/domains',
  '/email/ng/v1/suppressions',
  '/whatsapp/ng/v1/templates',
  '/whatsapp/ng/v1/contacts',
];

export async function read(
  gateway: TestGateway,
  { apiToken, apiKey }: Credentials,
  path: string,
): Promise<unknown> {
  const token = path.startsWith('/ng/') ? apiToken : apiKey;
  const { status, body } = await gateway.call('GET', path, { token });
  if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`);
  return body;
}

function credentialsOf({ accountId, apiToken, apiKey }: Credentials): Credentials {
  return { accountId, apiToken, apiKey };
}

function reportOf(reference: string, to: string): string {
  return JSON.stringify({
    type: 'sms.delivery_report',
    timestamp: '2026-01-02T03:04:06.000Z',
    data: {
      reference_id: reference,
      message_id: `${reference}-0`,
      to,
      from: 'ACME',
      status: 'delivered',
      error_code: null,
      smsc_timestamp: '2026-01-02T03:04:05.678Z',
    },
  });
}
