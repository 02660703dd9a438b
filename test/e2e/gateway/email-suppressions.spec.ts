import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ContactsService, EmailService } from '@dundun/messaging';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { SigningKeys } from '../../../src/channels/email/domains/domain-keys.js';
import { UnsubscribeLinks } from '../../../src/channels/email/unsubscribe/unsubscribe-links.js';
import { Receiver } from '../../integration/webhooks/receiver.js';
import { eventually } from '../../support/eventually.js';
import { commandLine } from './command-line.js';
import { type Answered, TestGateway } from './test-gateway.js';

const PATH = '/email/ng/v1/suppressions';
const OLD_KEY = Buffer.alloc(32, 4).toString('base64');
const NEW_KEY = Buffer.alloc(32, 5).toString('base64');

describe('the suppressed addresses of an account', () => {
  const settings = {
    PUBLIC_URL: 'https://mail.gateway.example/',
    WEBHOOK_ALLOW_PRIVATE: 'true',
    SECRETS_KEY: OLD_KEY,
    AUTH_FAILURE_LIMIT: '5/h',
  };
  const gateway = new TestGateway(settings);
  let customer: Receiver;
  let acme: CreatedAccount;

  beforeAll(async () => {
    customer = await Receiver.start();
    await gateway.start();
    acme = await gateway.account();
    const { apiKey: token } = acme;
    await gateway.call('POST', '/email/ng/v1/webhooks', { token, body: { url: customer.url } });
  });
  afterAll(async () => {
    await gateway.destroy();
    await customer.close();
  });

  const call = (method: string, path = '', body?: object, as = acme): Promise<Answered> =>
    gateway.call(method, PATH + path, { token: as.apiKey, ...(body && { body }) });
  const service = <T>(type: abstract new (...given: never[]) => T): T =>
    gateway.running.app.get(type, { strict: false });

  /** A marketing message that was sent to a recipient with an opt-in. */
  async function subscribed(recipient: string): Promise<{ id: string; token: string }> {
    const tenant = acme.accountId;
    await service(ContactsService).optIn(recipient, {
      tenant,
      channel: 'email',
      category: 'marketing',
      source: 'form',
    });
    const id = await sent(recipient, 'marketing');
    return { id, token: service(UnsubscribeLinks).tokenOf({ tenant, recipient, id }) };
  }

  async function sent(recipient: string, category: 'marketing' | 'transactional'): Promise<string> {
    const tenant = acme.accountId;
    const message = { from: 'news@demo.test', recipients: [{ email: recipient }], category };
    const texts = { subject: 'News', text: 'News', unsubscribeUrl: 'https://example.com/u' };
    const { unsubscribeUrl: _none, ...plain } = texts;
    const content = category === 'marketing' ? texts : plain;
    const { id } = await service(EmailService).send({ ...message, ...content }, { tenant });
    const outcome = await service(EmailService).outcome(`${id}-0`, { tenant });
    expect(outcome.status).not.toBe('queued');
    return outcome.id;
  }

  const page = (token: string, request: RequestInit = {}): Promise<Response> =>
    fetch(`${gateway.url}/email/unsubscribe/${token}`, request);
  const oneClick = (token: string): Promise<Response> =>
    page(token, {
      method: 'POST',
      body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
    });
  const entriesOf = async (email: string) =>
    (await call('GET', `?email=${encodeURIComponent(email)}`)).body['data'];
  const unsubscribes = () =>
    customer.received
      .map(({ body }) => JSON.parse(body) as { type: string; data: Record<string, unknown> })
      .filter(({ type }) => type === 'email.unsubscribed');

  it('addresses are added one by one and by import, listed in pages, and lifted', async () => {
    expect(await call('POST', '', { email: 'Ada@Example.com' })).toMatchObject({
      status: 200,
      body: { data: [{ email: 'Ada@example.com', reason: 'manual', category: null }] },
    });
    const suppressions = [
      { email: 'a@example.com', reason: 'complaint' },
      { email: 'b@example.com', category: 'marketing' },
      { email: 'a@example.com', reason: 'hard_bounce' },
    ];
    expect((await call('POST', '/import', { suppressions })).body).toEqual({ processed: 3 });
    const first = await call('GET', '?limit=2');
    const rest = await call('GET', `?cursor=${String(first.body['next_cursor'])}`);
    expect([first.body['data'], rest.body['data']].flat()).toMatchObject([
      { email: 'Ada@example.com' },
      { email: 'a@example.com', reason: 'complaint', message_id: null },
      { email: 'b@example.com', reason: 'manual', category: 'marketing' },
    ]);
    expect((await call('DELETE', '/a%40example.com')).status).toBe(204);
    expect(await entriesOf('a@example.com')).toEqual([]);
    expect((await call('DELETE', '/a@example.com')).status).toBe(404);
  });

  it('a wrong entry of an import is named, and nothing is stored', async () => {
    const suppressions = [
      { email: 'c@example.com' },
      { email: 'no address' },
      { email: 'd@example.com', reason: 'whim', note: 'x' },
      7,
    ];
    const { status, body } = await call('POST', '/import', { suppressions });
    expect([status, body]).toMatchObject([
      422,
      {
        error: {
          details: [
            { path: 'suppressions[1].email' },
            { path: 'suppressions[2].note' },
            { path: 'suppressions[2].reason' },
            { path: 'suppressions[3]' },
          ],
        },
      },
    ]);
    expect(await entriesOf('c@example.com')).toEqual([]);
    for (const wrong of [[], Array.from({ length: 1_001 }, () => ({ email: 'e@example.com' }))])
      expect((await call('POST', '/import', { suppressions: wrong })).status).toBe(422);
  });

  it('a one-click request ends marketing email to its recipient, once, and only the recipient takes it back', async () => {
    const email = 'click@example.com';
    const { id, token } = await subscribed(email);
    const shown = await page(token);
    expect([shown.status, shown.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=utf-8',
    ]);
    expect(shown.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; frame-ancestors 'none'/,
    );
    const html = await shown.text();
    expect(html).toMatch(/<html lang="en">.*<form method="post"><button type="submit">/);
    expect(html).not.toContain(email);
    expect(await entriesOf(email)).toEqual([]);
    for (let n = 0; n < 3; n++) {
      const done = await oneClick(token);
      expect([done.status, await done.text()]).toEqual([
        200,
        expect.stringContaining('You are unsubscribed'),
      ]);
    }
    expect(await entriesOf(email)).toMatchObject([
      { email, reason: 'unsubscribe', category: 'marketing', message_id: id },
    ]);
    await eventually(async () =>
      expect(unsubscribes()).toMatchObject([{ data: { message_id: id, to: email } }]),
    );
    const contact = await service(ContactsService).find(email, { tenant: acme.accountId });
    expect(contact?.consents['email:marketing']).toMatchObject({ state: 'opted_out' });
    await expect(sent(email, 'marketing')).rejects.toMatchObject({ code: expect.any(String) });
    await sent(email, 'transactional');
    expect(await call('DELETE', `/${email}`)).toMatchObject({
      status: 422,
      body: { error: { code: 'opted_out' } },
    });
    expect(await entriesOf(email)).toHaveLength(1);
    expect(unsubscribes()).toHaveLength(1);
  });

  it('a newer opt-in of the recipient takes an unsubscribe back, and nothing else', async () => {
    const email = 'back@example.com';
    const { token } = await subscribed(email);
    await oneClick(token);
    await call('POST', '', { email, reason: 'manual', category: 'transactional' });
    const tenant = acme.accountId;
    const optIn = (channel: string, category: string) =>
      service(ContactsService).optIn(email, { tenant, channel, category, source: 'form' });
    await optIn('whatsapp', 'marketing');
    await optIn('email', 'transactional');
    expect(await entriesOf(email)).toHaveLength(2);
    const consents = [{ channel: 'email', category: 'marketing', status: 'opted_in' }];
    const changed = await gateway.call('POST', '/email/ng/v1/contacts', {
      token: acme.apiKey,
      body: { email, consents },
    });
    expect(changed.status).toBe(200);
    expect(await entriesOf(email)).toMatchObject([{ reason: 'manual', category: 'transactional' }]);
    await sent(email, 'marketing');
    expect((await oneClick(token)).status).toBe(200);
    expect(await entriesOf(email)).toHaveLength(2);
  });

  it('forms of both encodings unsubscribe, and other routes still take JSON alone', async () => {
    const { token } = await subscribed('form@example.com');
    const body = new FormData();
    body.set('List-Unsubscribe', 'One-Click');
    expect((await page(token, { method: 'POST', body })).status).toBe(200);
    expect((await page(token, { method: 'POST' })).status).toBe(200);
    const refused = await fetch(`${gateway.url}/ng/v1/sendsms`, {
      method: 'POST',
      headers: { authorization: `Bearer ${acme.apiToken}` },
      body: new URLSearchParams({ from: 'ACME' }),
    });
    expect(refused.status).toBe(415);
  });

  it('a link shows no address, is the same for the same message, and outlives, like DKIM keys, a change of SECRETS_KEY', async () => {
    const email = 'rotate@example.com';
    const { id, token } = await subscribed(email);
    const message = { tenant: acme.accountId, recipient: email, id };
    expect(service(UnsubscribeLinks).urlOf(message)).toBe(
      `https://mail.gateway.example/email/unsubscribe/${token}`,
    );
    expect(service(UnsubscribeLinks).tokenOf({ ...message, id: `${id}1` })).not.toBe(token);
    expect(Buffer.from(token, 'base64url').toString('latin1')).not.toMatch(/rotate|acc_/);
    const changed = { SECRETS_KEY: NEW_KEY, SECRETS_KEY_PREVIOUS: OLD_KEY };
    const environment = { NODE_ENV: 'test', DATABASE_URL: gateway.databaseUrl, ...changed };
    await gateway.stop();
    const rotated = await commandLine(['secrets', 'rotate', '--json'], environment, process.cwd());
    expect([rotated.stderr, rotated.code]).toEqual(['', 0]);
    const later = new TestGateway({
      ...settings,
      SECRETS_KEY: NEW_KEY,
      DATABASE_URL: gateway.databaseUrl,
    });
    await later.start();
    try {
      const keys = later.running.app.get(SigningKeys, { strict: false });
      expect((await keys.identityOf('demo.test'))?.keys).toHaveLength(1);
      const done = await fetch(`${later.url}/email/unsubscribe/${token}`, { method: 'POST' });
      expect(done.status).toBe(200);
      const listed = ['suppression', 'list', '--account', acme.accountId, '--email', email];
      const newer = { ...environment, SECRETS_KEY: NEW_KEY };
      const { stdout } = await commandLine([...listed, '--json'], newer, process.cwd());
      expect(JSON.parse(stdout)).toMatchObject({
        suppressions: [{ email, reason: 'unsubscribe' }],
      });
      for (const [command, ...more] of [['add', '--reason', 'complaint'], ['remove']]) {
        const args = ['suppression', command ?? '', '--account', acme.accountId, ...more];
        const all = [...args, '--email', 'cli@example.com', '--json'];
        expect((await commandLine(all, newer, process.cwd())).code).toBe(0);
      }
      // Made up, cut off and changed tokens, which are limited per network; a valid one passes.
      const statuses: number[] = [];
      const wrong = [
        'x',
        `${token}A`,
        token.slice(1),
        token.slice(0, -2),
        `${token}AA`,
        '_'.repeat(99),
        'y',
      ];
      for (const one of wrong)
        statuses.push((await fetch(`${later.url}/email/unsubscribe/${one}`)).status);
      expect(statuses).toEqual([404, 404, 404, 404, 404, 429, 429]);
      expect((await fetch(`${later.url}/email/unsubscribe/${token}`)).status).toBe(200);
    } finally {
      await later.stop();
    }
  });
});
