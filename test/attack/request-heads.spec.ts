import { VasService } from '@dundun/messaging';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { gzipSync } from 'node:zlib';
import type { CreatedAccount } from '../../src/accounts/accounts.service.js';
import { TestGateway } from '../e2e/gateway/test-gateway.js';
import { describeEachDatabase } from '../support/databases.js';
import { RawClient } from './raw-client.js';

describeEachDatabase('requests whose heads a proxy may read in another way', (db) => {
  let gateway: TestGateway;
  let account: CreatedAccount;
  let host: string;
  beforeAll(async () => {
    gateway = await new TestGateway({ DATABASE_URL: db.url }).start();
    account = await gateway.account();
    ({ host } = new URL(gateway.url));
  });
  afterAll(() => gateway.destroy());

  const ask = async (target: string, ...headers: string[]) => {
    const client = await RawClient.connect(gateway.url);
    const lines = [
      `GET ${target} HTTP/1.1`,
      ...headers,
      `authorization: Bearer ${account.apiToken}`,
    ];
    await client.write([...lines, 'connection: close', '', ''].join('\r\n'));
    await client.ended;
    return client.answer;
  };

  it('two Host headers, and the address of another host, are 400 invalid_host', async () => {
    const path = '/ng/v1/sms';
    for (const [target, ...hosts] of [
      [path, `host: ${host}`, 'host: evil.example'],
      [path, `Host: ${host}`, `HOST: ${host}`],
      [`http://evil.example${path}`, `host: ${host}`],
      [`http://${host}${path}`, 'host: evil.example'],
      [`https://${host}.evil.example${path}`, `host: ${host}`],
      [`ftp://evil.example${path}`, `host: ${host}`],
    ] as const) {
      const answer = await ask(target, ...hosts);
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toContain('"code":"invalid_host"');
    }
    expect(await ask(path, `host: ${host}`)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await ask(`http://${host}${path}`, `host: ${host}`)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('an encoded body is 415, and is not read', async () => {
    const send = (encoding: string, body: Buffer) =>
      fetch(`${gateway.url}/ng/v1/sendsms`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${account.apiToken}`,
          'content-type': 'application/json',
          'content-encoding': encoding,
        },
        body,
      });
    const body = Buffer.from('{"from":"ACME","to":["2348012345678"],"body":"Hi"}');
    for (const encoding of ['gzip', 'br', 'identity, gzip', 'x']) {
      const answer = await send(encoding, encoding === 'gzip' ? gzipSync(body) : body);
      expect(answer.status).toBe(415);
      expect(await answer.json()).toMatchObject({ error: { code: 'unsupported_media_type' } });
    }
    expect((await send('identity', body)).status).toBe(200);
  });

  it('no answer with personal data is kept or read as another type', async () => {
    const token = { authorization: `Bearer ${account.apiToken}` };
    const key = { authorization: `Bearer ${account.apiKey}` };
    for (const [path, headers] of [
      ['/ng/v1/sms', token],
      ['/ng/v1/deliveryreports', token],
      ['/ng/v1/groups', token],
      ['/ng/v1/webhooks', token],
      ['/ng/v1/voice/calls', token],
      ['/ng/v1/vas/orders', token],
      ['/whatsapp/ng/v1/contacts', key],
      ['/email/ng/v1/messages', key],
      ['/email/ng/v1/contacts', key],
      ['/email/ng/v1/suppressions', key],
      ['/ng/v1/sms/none', token],
      ['/portal/api/session', {}],
      ['/portal/', {}],
    ] as const) {
      const answer = await fetch(gateway.url + path, { headers });
      expect([path, answer.headers.get('x-content-type-options')]).toEqual([path, 'nosniff']);
      expect([path, answer.headers.get('cache-control')]).toEqual([
        path,
        expect.stringMatching(/no-store|no-cache/),
      ]);
    }
  });

  it('an amount of airtime with more decimals than its currency is refused by name', async () => {
    const order = (amount: string) =>
      gateway.call('POST', '/ng/v1/vas/orders', {
        token: account.apiToken,
        body: {
          to: '2348012345678',
          product: 'airtime-ng',
          amount,
          client_reference: `r-${amount}`,
        },
      });
    await gateway.running.app
      .get(VasService, { strict: false })
      .allow({ currency: 'NGN', daily: '5000', perNumber: '500' }, { tenant: account.accountId });
    for (const amount of ['100.001', '99.9999'])
      expect(await order(amount)).toMatchObject({
        status: 422,
        body: { error: { code: 'invalid_field', details: [{ path: 'amount' }] } },
      });
    expect((await order('100.25')).status).toBe(200);
  });
});
