import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { CreatedAccount } from '../../src/accounts/accounts.service.js';
import { describeOneDatabase } from '../support/databases.js';
import { TestGateway } from '../e2e/gateway/test-gateway.js';

const PHONE = '2348012345678';
const CONTACTS = '/whatsapp/ng/v1/contacts';

describeOneDatabase('malformed input', (db) => {
  let gateway: TestGateway;
  let account: CreatedAccount;
  beforeAll(async () => {
    gateway = await new TestGateway({ DATABASE_URL: db.url }).start();
    account = await gateway.account();
  });
  afterAll(() => gateway.destroy());

  const tokenOf = (path: string): string =>
    path.startsWith('/whatsapp') ? account.apiKey : account.apiToken;

  const BODIES = [
    ['/ng/v1/sendsms', 'body', { from: 'ACME', to: [PHONE], body: '?' }],
    ['/ng/v1/sms/estimate', 'content', { content: '?' }],
    ['/ng/v1/groups', 'name', { name: '?' }],
    [CONTACTS, 'name', { phone: PHONE, name: '?' }],
    [CONTACTS, 'opt_in', { phone: PHONE, opt_in: { status: 'opted_in', source: '?' } }],
    ['/whatsapp/ng/v1/sendwhatsapp', 'text', { to: PHONE, message_type: 'text', text: '?' }],
  ] as const;

  it.each(BODIES)(
    'bytes that are not UTF-8 are refused by %s in %s',
    async (path, _field, body) => {
      const raw = Buffer.from(JSON.stringify(body).replace('?', '\xff'), 'latin1');
      const answer = await fetch(gateway.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${tokenOf(path)}`, 'content-type': 'application/json' },
        body: raw,
      });
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ error: { code: 'malformed_json' } });
    },
  );

  it.each(BODIES)('half a surrogate pair is refused by %s in %s', async (path, field, body) => {
    for (const half of ['\\ud83d', '\\uDE00', '\\ude00\\ud83d', 'x\\ud83dx'])
      expect(
        await gateway.call('POST', path, {
          token: tokenOf(path),
          raw: JSON.stringify(body).replace('?', half),
        }),
      ).toMatchObject({ status: 422, body: { error: { details: [{ path: field }] } } });
  });

  it('a whole surrogate pair, and an escaped backslash before u, are text', async () => {
    for (const text of ['\\ud83d\\ude00', '\\\\ud83d'])
      expect(
        await gateway.call('POST', '/ng/v1/sms/estimate', {
          token: account.apiToken,
          raw: `{"body":"${text}"}`,
        }),
      ).toMatchObject({ status: 200 });
  });

  it('every route of a body refuses one that is not JSON in UTF-8', async () => {
    const { paths } = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { requestBody?: { content: object } }>>;
    };
    const routes = Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations)
        .filter(([, { requestBody }]) => requestBody && 'application/json' in requestBody.content)
        .map(([method]) => [method.toUpperCase(), path.replaceAll(/\{\w+\}/g, PHONE)] as const),
    );
    expect(routes.length).toBeGreaterThan(10);
    const TYPES = ['text/plain', 'multipart/form-data; boundary=x', 'multipart/form-data', 'json'];
    const FORM = 'application/x-www-form-urlencoded';
    for (const [method, path] of routes) {
      const answered = async (type: string | undefined, body: Buffer) => {
        const headers = {
          authorization: `Bearer ${tokenOf(path)}`,
          ...(type !== undefined && { 'content-type': type }),
        };
        const answer = await fetch(gateway.url + path, { method, headers, body });
        const { error } = (await answer.json()) as { error: { code: string } };
        return `${method} ${path} ${type}: ${answer.status} ${error.code}`;
      };
      for (const type of [undefined, ...TYPES, FORM])
        expect(await answered(type, Buffer.from('{"name":"x"}'))).toBe(
          `${method} ${path} ${type}: 415 unsupported_media_type`,
        );
      for (const encoding of ['latin1', 'utf16le'] as const) {
        const type = `application/json; charset=${encoding}`;
        expect(await answered(type, Buffer.from('{"name":"é"}', encoding))).toBe(
          `${method} ${path} ${type}: 400 malformed_json`,
        );
      }
    }
  });

  it.each(['0x10', ' 10 ', '+10', '010', '1e1', '10.0', '1_0', '', '١٠', '10&limit=10'])(
    'limit=%s is refused',
    async (limit) => {
      const written = limit.includes('&') ? limit : encodeURIComponent(limit);
      for (const path of ['/ng/v1/sms', '/ng/v1/deliveryreports', '/ng/v1/groups', CONTACTS])
        expect(
          await gateway.call('GET', `${path}?limit=${written}`, { token: tokenOf(path) }),
        ).toMatchObject({ status: 422, body: { error: { details: [{ path: 'limit' }] } } });
    },
  );

  it('a changed cursor, and one of another form, are refused', async () => {
    for (let n = 0; n < 3; n++)
      await gateway.call('POST', '/ng/v1/sendsms', {
        token: account.apiToken,
        body: { from: 'ACME', to: [PHONE], body: `${n}`, send_at: '2150-01-01T00:00:00Z' },
      });
    const read = (cursor: string) =>
      gateway.call('GET', `/ng/v1/sms?limit=1&cursor=${encodeURIComponent(cursor)}`, {
        token: account.apiToken,
      });
    const first = await gateway.call('GET', '/ng/v1/sms?limit=1', { token: account.apiToken });
    const cursor = String(first.body['next_cursor']);
    expect((await read(cursor)).status).toBe(200);
    const changed = Array.from(cursor, (letter, at) =>
      [cursor.slice(0, at), letter === 'A' ? 'B' : 'A', cursor.slice(at + 1)].join(''),
    );
    for (const wrong of [...changed, `${cursor}=`, ` ${cursor}`, cursor.slice(1), '1', ''])
      expect(await read(wrong)).toMatchObject({
        status: 422,
        body: { error: { details: [{ path: 'cursor' }] } },
      });
  });
});
