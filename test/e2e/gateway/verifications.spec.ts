import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { InterfaceServer } from '../../support/interface-server.js';
import { type Answered, TestGateway } from './test-gateway.js';

describeOneDatabase('one-time codes through the gateway', (db) => {
  let gateway: TestGateway;
  let account: CreatedAccount;
  let carrier: InterfaceServer;

  beforeAll(async () => {
    carrier = await InterfaceServer.start();
    gateway = await new TestGateway({
      DATABASE_URL: db.url,
      VERIFY_COUNTRIES: 'NG',
      CARRIER: 'http',
      CARRIER_URL: carrier.url,
      CARRIER_TOKEN: carrier.apiToken,
      CARRIER_KEY: carrier.apiKey,
      VOICE_CARRIER: 'http',
    }).start();
    account = gateway.running.demo as CreatedAccount;
    await gateway.senders.addNumber(account.accountId, '2348000000001');
    await gateway.accounts.putTemplate(account.accountId, {
      name: 'login_code',
      language: 'en',
      category: 'authentication',
      status: 'approved',
      params_count: 1,
    });
  });
  afterAll(async () => {
    await gateway.destroy();
    await carrier.close();
  });

  let numbers = 0;
  const number = (): string => `23480${String(++numbers).padStart(4, '0')}1234`;
  const ask = (method: string, path: string, body?: object): Promise<Answered> =>
    gateway.call(method, path, { token: account.apiToken, ...(body && { body }) });
  const start = (body: object) => ask('POST', '/ng/v1/vas/verifications', body);
  const check = async (id: unknown, code: string) =>
    (await ask('POST', `/ng/v1/vas/verifications/${String(id)}/check`, { code })).body;
  /** Requests to the carrier that name this recipient. */
  const sentTo = (to: string): string[] =>
    [carrier.accepted, carrier.acceptedWhatsApp, carrier.acceptedEmails, carrier.acceptedCalls]
      .flatMap((requests) => [...requests.values()].map(({ body }) => body))
      .filter((body) => body.includes(`"${to}"`));
  const codeTo = async (to: string) => {
    await eventually(async () => expect(sentTo(to)).toHaveLength(1));
    return /(?<![\d.])\d{4,8}(?![\d.])/.exec(sentTo(to).join())?.[0] ?? '';
  };

  it('a code by SMS verifies once, and is in no list, read-back, log or portal answer', async () => {
    const to = number();
    const started = await start({ to, channel: 'sms', length: 8 });
    expect(started).toMatchObject({
      status: 200,
      body: { status: 'pending', channel: 'sms', expires_at: expect.any(String) },
    });
    const { id } = started.body;
    const code = await codeTo(to);
    expect(code).toMatch(/^\d{8}$/);
    const listed = await ask('GET', '/ng/v1/sms');
    const [{ reference_id: reference } = {}] = listed.body['data'] as { reference_id?: string }[];
    const read = await ask('GET', `/ng/v1/sms/${reference}`);
    expect(read.body).toMatchObject({ to: [to], body: null });
    const answers = [
      read,
      listed,
      await ask('GET', `/ng/v1/sms/${reference}/reports`),
      await ask('GET', `/ng/v1/vas/verifications/${String(id)}`),
      started,
    ];
    expect(JSON.stringify(answers.map(({ body }) => body))).not.toContain(code);
    expect(await check(id, '0'.repeat(8))).toEqual({ id, status: 'pending' });
    expect(await check(id, code)).toEqual({ id, status: 'verified' });
    expect(await check(id, code)).toEqual({ id, status: 'expired' });
    expect(gateway.log.join('')).not.toContain(code);
  });

  it('a code goes out on WhatsApp, by email and by a call, too', async () => {
    const phone = number();
    await gateway.call('POST', '/whatsapp/ng/v1/contacts', {
      token: account.apiKey,
      body: { phone, opt_in: true },
    });
    const onWhatsApp = await start({ to: phone, channel: 'whatsapp' });
    expect(await check(onWhatsApp.body['id'], await codeTo(phone))).toMatchObject({
      status: 'verified',
    });
    expect(sentTo(phone).join()).toContain('login_code');

    const byEmail = await start({ to: 'ada@example.com', channel: 'email' });
    expect(await check(byEmail.body['id'], await codeTo('ada@example.com'))).toMatchObject({
      status: 'verified',
    });
    expect(sentTo('ada@example.com').join()).toContain('codes@demo.test');

    const called = number();
    const byCall = await start({ to: called, channel: 'voice' });
    expect(await check(byCall.body['id'], await codeTo(called))).toMatchObject({
      status: 'verified',
    });
    expect([...carrier.acceptedCalls.values()].map(({ body }) => body)).toEqual(sentTo(called));
    const calls = await ask('GET', '/ng/v1/voice/calls');
    expect(JSON.stringify(calls.body)).not.toContain(await codeTo(called));
  });

  it.each<[string, object, number, string]>([
    ['a plus', { to: '+2348012345678', channel: 'sms' }, 422, 'invalid_field'],
    ['a country that is not listed', { to: '447400123456', channel: 'sms' }, 422, 'invalid_field'],
    ['an unknown channel', { to: '2348012345678', channel: 'vas' }, 422, 'invalid_field'],
    ['nine digits', { to: '2348012345678', channel: 'sms', length: 9 }, 422, 'invalid_field'],
    ['a ttl of a second', { to: '2348012345678', channel: 'sms', ttl: '1s' }, 422, 'invalid_field'],
  ])('%s is refused', async (_, body, status, code) => {
    expect(await start(body)).toMatchObject({ status, body: { error: { code } } });
  });

  it('an Idempotency-Key sends one code, and is for one verification', async () => {
    const to = number();
    const keyed = (body: object) =>
      gateway.call('POST', '/ng/v1/vas/verifications', {
        token: account.apiToken,
        headers: { 'idempotency-key': `code-${to}` },
        body,
      });
    const answers = await Promise.all([1, 2, 3].map(() => keyed({ to, channel: 'sms' })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    const replayed = answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true');
    expect(replayed).toHaveLength(2);
    await codeTo(to);
    expect(await keyed({ to, channel: 'sms', length: 8 })).toMatchObject({
      status: 422,
      body: { error: { code: 'idempotency_key_reused' } },
    });
    expect(
      await gateway.call('POST', '/ng/v1/vas/verifications', {
        token: account.apiToken,
        headers: { 'idempotency-key': 'a b' },
        body: { to, channel: 'sms' },
      }),
    ).toMatchObject({ status: 400, body: { error: { code: 'idempotency_key_invalid' } } });
  });

  it('a second code to a recipient has to wait', async () => {
    const to = number();
    expect((await start({ to, channel: 'sms' })).status).toBe(200);
    const again = await start({ to, channel: 'sms' });
    expect(again).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } });
    expect(Number(again.headers.get('retry-after'))).toBeGreaterThan(20);
  });
});
