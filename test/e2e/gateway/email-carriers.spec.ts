import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { ContactsService } from '@dundun/messaging';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import {
  EMAIL_PROVIDERS,
  type EmailCallback,
} from '../../integration/providers/email-provider-cases.js';
import { Receiver } from '../../integration/webhooks/receiver.js';
import { eventually } from '../../support/eventually.js';
import { TestGateway } from './test-gateway.js';

/** All of them in one file, each for the addresses that begin with its name. */
describe('a gateway whose email leaves by providers over HTTP', () => {
  const providers = EMAIL_PROVIDERS.map(([name, make]) => ({ name, ...make() }));
  let directory: string;
  let gateway: TestGateway;
  let account: CreatedAccount;
  let receiver: Receiver;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dundun-email-'));
    await Promise.all(providers.map(({ server }) => server.listen()));
    const carriers = Object.fromEntries(
      providers.map(({ name, carrier }) => [name, { type: name, ...carrier() }]),
    );
    const routes = providers.map(({ name }) => ({
      channel: 'email',
      to: [`${name}-`],
      use: name,
    }));
    const file = join(directory, 'carriers.json');
    await writeFile(file, JSON.stringify({ carriers, routes }));
    receiver = await Receiver.start();
    gateway = await new TestGateway({
      CARRIERS_FILE: file,
      WEBHOOK_ALLOW_PRIVATE: 'true',
      PUBLIC_URL: 'https://mail.example.com',
    }).start();
    account = gateway.running.demo as CreatedAccount;
    await ask('POST', 'webhooks', { url: receiver.url });
    serveCertificate();
  });
  afterAll(async () => {
    jest.restoreAllMocks();
    await gateway?.destroy();
    await receiver?.close();
    await Promise.all(providers.map(({ server }) => server.close()));
    await rm(directory, { recursive: true });
  });

  /** As SNS does, which no test reaches. */
  function serveCertificate(): void {
    const { fetch: real } = globalThis;
    jest.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      const url = String(input);
      if (!url.startsWith('https://sns.')) return real(input, init);
      const certificate = providers.find((one) => one.certificate)?.certificate;
      return new Response(await certificate?.());
    });
  }

  const ask = (method: string, path: string, body?: object) =>
    gateway.call(method, `/email/ng/v1/${path}`, { token: account.apiKey, body });
  const send = (to: string, fields: object = {}) =>
    ask('POST', 'messages', {
      from: 'Shop <hello@demo.test>',
      to: [to],
      subject: 'Hello',
      html: '<p>Hi</p>',
      ...fields,
    });
  const sent = async (to: string, fields?: object): Promise<string> => {
    const { status, body } = await send(to, fields);
    expect([status, body]).toEqual([200, expect.anything()]);
    const id = String(body['reference_id']);
    await eventually(async () => expect(await counts(id)).toEqual({ sent: 1 }));
    return id;
  };
  const counts = async (id: string) => (await ask('GET', `messages/${id}`)).body['counts'];
  const post = async (name: string, { body, headers }: EmailCallback) => {
    const answer = await fetch(`${gateway.url}/callbacks/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
    return answer.status;
  };

  it.each(providers)(
    'an email leaves by $name, and is delivered by the callback at its path',
    async ({ name, server, callback }) => {
      const to = `${name}-ada@example.org`;
      const id = await sent(to);
      expect(server.taken).toHaveLength(1);
      const delivered = await callback('delivered', { submission: `${id}-s0`, to });
      const body = delivered.body.replace('Signature', 'Signed');
      expect(await post(name, { body, headers: {} })).toBe(401);
      expect(await post(name, delivered)).toBe(204);
      expect(await counts(id)).toEqual({ delivered: 1 });
      await eventually(async () =>
        expect(
          receiver.received.map(({ body: told }) => JSON.parse(told) as object),
        ).toContainEqual(
          expect.objectContaining({
            type: 'email.delivered',
            data: expect.objectContaining({ reference_id: id, to, from: 'hello@demo.test' }),
          }),
        ),
      );
    },
  );

  it.each(providers)(
    'an address that bounces by $name is suppressed',
    async ({ name, callback }) => {
      const to = `${name}-gone@example.org`;
      const id = await sent(to);
      expect(await post(name, await callback('bounced', { submission: `${id}-s0`, to }))).toBe(204);
      expect(await counts(id)).toEqual({ bounced: 1 });
      expect(await send(to)).toMatchObject({
        status: 422,
        body: { error: { code: 'suppressed' } },
      });
    },
  );

  it.each(providers)(
    'a marketing email by $name has the one-click page of the gateway',
    async ({ name, server }) => {
      const to = `${name}-bea@example.org`;
      const contacts = gateway.running.app.get(ContactsService, { strict: false });
      await contacts.optIn(to, {
        channel: 'email',
        category: 'marketing',
        source: 'test',
        tenant: account.accountId,
      });
      await sent(to, { category: 'marketing' });
      const taken = JSON.stringify(server.taken.at(-1));
      const [, raw = ''] = /"Data":"([^"]+)"/.exec(taken) ?? [];
      const whole = taken + Buffer.from(raw, 'base64').toString().replaceAll(/\r\n /g, '');
      expect(whole).toContain('<https://mail.example.com/email/unsubscribe/');
      expect(whole).toMatch(/List-Unsubscribe=One-Click/);
    },
  );

  it('a domain needs its DKIM record, and no return path', async () => {
    const { body } = await ask('POST', 'domains', { name: 'mail.shop.example' });
    const records = body['records'] as { readonly purpose: string; readonly required: boolean }[];
    expect(records.filter(({ required }) => required).map(({ purpose }) => purpose)).toEqual([
      'dkim',
    ]);
    expect(records.map(({ purpose }) => purpose)).toContain('return_path');
  });

  it('no line of the log has a secret of a carrier', () => {
    const log = gateway.log.join('');
    const secrets = providers.flatMap(({ carrier }) =>
      Object.entries(carrier()).filter(([key]) => /secret|token|api_key$/.test(key)),
    );
    expect(secrets.length).toBeGreaterThan(4);
    for (const [, secret] of secrets) expect(log).not.toContain(secret);
  });
});
