import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { type Call, TestGateway } from './test-gateway.js';

const CONTACTS = '/whatsapp/ng/v1/contacts';
const PHONE = '2348012345678';

describe('the body of a request', () => {
  const gateway = new TestGateway();
  let account: CreatedAccount;
  let webhook: string;

  beforeAll(async () => {
    await gateway.start();
    account = await gateway.account();
    const made = await call('POST', '/ng/v1/webhooks', {
      body: { url: 'https://hooks.example.com/reports' },
    });
    webhook = `/ng/v1/webhooks/${String(made.body['webhook_id'])}`;
    await call('POST', CONTACTS, { body: { phone: PHONE } });
  });
  afterAll(() => gateway.destroy());

  const call = (method: string, path: string, more: Call): ReturnType<TestGateway['call']> =>
    gateway.call(method, path, {
      token: path.startsWith('/whatsapp') ? account.apiKey : account.apiToken,
      ...more,
    });
  const optional = (): [path: string, field: string][] => [
    [`${webhook}/redeliver`, 'since'],
    [`${CONTACTS}/${PHONE}/opt-in`, 'at'],
    [`${CONTACTS}/${PHONE}/opt-out`, 'at'],
  ];

  it('a body whose fields are all optional may be missing or null', async () => {
    for (const [path] of optional())
      for (const more of [{}, { body: {} }, { raw: 'null' }])
        expect((await call('POST', path, more)).status).toBeLessThan(300);
  });

  it('an optional body of another content type is refused with 415', async () => {
    for (const [path, field] of optional())
      for (const type of ['application/x-www-form-urlencoded', 'text/plain'])
        expect(
          await call('POST', path, {
            raw: `${field}=2026-01-31T09:00:00Z`,
            headers: { 'content-type': type },
          }),
        ).toMatchObject({ status: 415, body: { error: { code: 'unsupported_media_type' } } });
  });

  it('the content type of JSON is case-insensitive', async () => {
    const sent = await call('POST', '/ng/v1/sendsms', {
      raw: JSON.stringify({ from: 'ACME', to: [PHONE], body: 'Hello' }),
      headers: { 'content-type': 'Application/JSON; Charset=UTF-8' },
    });
    expect(sent.status).toBe(200);
  });

  it.each([
    ['since', null],
    ['since', '2026-06-30T23:59:60Z'],
    ['since', '2026-02-31T00:00:00Z'],
    ['delivery_id', null],
  ])('a redelivery by %s %j is refused and sends nothing', async (field, value) => {
    expect(await call('POST', `${webhook}/redeliver`, { body: { [field]: value } })).toMatchObject({
      status: 422,
      body: { error: { code: 'invalid_field', details: [{ path: field }] } },
    });
  });

  it('a body of 460,000 unknown fields gets a short error', async () => {
    const full = `{${Array.from({ length: 460_000 }, (_, n) => `"${n.toString(36)}":1`).join()}}`;
    for (const [method, path] of [
      ['POST', '/ng/v1/sendsms'],
      ['POST', '/ng/v1/groups'],
      ['PATCH', webhook],
      ['POST', CONTACTS],
    ] as const) {
      const { status, body } = await call(method, path, { raw: full });
      expect(status).toBe(422);
      expect(JSON.stringify(body).length).toBeLessThan(4_096);
    }
  });

  it('a body nested 30,000 levels deep is refused as a wrong value', async () => {
    const deep = `{"name":${'['.repeat(30_000)}${']'.repeat(30_000)}}`;
    expect(await call('POST', '/ng/v1/groups', { raw: deep })).toMatchObject({
      status: 422,
      body: { error: { details: [{ path: 'name' }] } },
    });
  });
});
