import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { type ProbedGateway, Processes } from './built-gateway.js';
import { buildGateway } from '../../support/builds.js';

const TEXT = 'a text that stays in the database';

describe('the memory of a gateway', () => {
  const processes = new Processes();
  let gateway: ProbedGateway;
  let tokens: { api_token: string; api_key: string; account_id: string };

  beforeAll(async () => {
    await buildGateway();
    const created = await processes.dundun(['account', 'create', '--name', 'acme', '--json']);
    tokens = JSON.parse(created.stdout) as typeof tokens;
    const { account_id: account } = tokens;
    await processes.dundun(['sender', 'add', '--account', account, '--sender', 'ACME', '--json']);
    gateway = await processes.probedGateway();
  });
  afterAll(() => processes.destroy());

  const ask = (path: string, credential: string, body?: object): Promise<Response> =>
    fetch(gateway.url + path, {
      method: body ? 'POST' : 'GET',
      headers: {
        authorization: `Bearer ${credential}`,
        connection: 'close',
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });

  it('the heap of a gateway holds no credential in clear', async () => {
    const { api_token: token, api_key: key } = tokens;
    for (let n = 0; n < 20; n++) {
      const sent = await ask('/ng/v1/sendsms', token, {
        from: 'ACME',
        to: ['2348012345678'],
        body: TEXT,
      });
      expect(sent.status).toBe(200);
      // A credential of the wrong kind and an unknown one: both are looked up.
      expect((await ask('/ng/v1/sms', key)).status).toBe(401);
    }
    expect((await ask('/ng/v1/sms', token)).status).toBe(200);
    // A known name, to prove that the search finds strings.
    // The last connections may still be on their way out.
    await eventually(async () =>
      expect(await gateway.found([token, key, 'sender_not_registered'])).toEqual([
        'sender_not_registered',
      ]),
    );
    // The token is still cached, by its digest.
    expect((await ask('/ng/v1/sms', token)).status).toBe(200);
  });
});
