import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { WebhookEndpointsService } from '../../../src/webhooks/webhook-endpoints.service.js';
import { eventually } from '../../support/eventually.js';
import { commandLine } from './command-line.js';
import { TestGateway } from './test-gateway.js';

/** Both carriers are gateways, whose answers are those of the interface. */
describe('a gateway with a file of carriers', () => {
  const settings = { WEBHOOK_ALLOW_PRIVATE: 'true' };
  const carriers = { a: new TestGateway(settings), b: new TestGateway(settings) };
  let directory: string;
  let file: string;
  let gateway: TestGateway;
  let account: CreatedAccount;
  const ours = {} as Record<'a' | 'b', CreatedAccount>;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dundun-carriers-'));
    const of = {} as Record<'a' | 'b', object>;
    const webhooksOf = (name: 'a' | 'b') =>
      carriers[name].running.app.get(WebhookEndpointsService, { strict: false });
    for (const name of ['a', 'b'] as const) {
      const carrier = await carriers[name].start();
      ours[name] = await carrier.account('gateway');
      const { accountId, apiToken: token } = ours[name];
      // The secret is known before our address is; it stays when the URL is set.
      const { secret } = await webhooksOf(name).set(accountId, 'http://127.0.0.1:65535/');
      of[name] = { type: 'http', url: carrier.url, token, callback_secret: secret };
    }
    file = join(directory, 'carriers.json');
    await writeFile(
      file,
      JSON.stringify({
        carriers: of,
        routes: [
          { channel: 'sms', to: ['234'], use: { failover: ['a', 'b'] } },
          { channel: 'sms', to: ['233'], use: 'b' },
        ],
      }),
    );
    gateway = await new TestGateway({ CARRIERS_FILE: file }).start();
    for (const name of ['a', 'b'] as const)
      await webhooksOf(name).set(ours[name].accountId, `${gateway.url}/callbacks/${name}`);
    account = await gateway.account();
  });
  afterAll(async () => {
    await gateway?.destroy();
    await carriers.a.destroy();
    await carriers.b.destroy();
    await rm(directory, { recursive: true });
  });

  const send = (to: string[]) =>
    gateway.call('POST', '/ng/v1/sendsms', {
      token: account.apiToken,
      body: { from: 'ACME', to, body: 'Hello' },
    });
  /** The numbers that were delivered there, once for each message. */
  const numbersAt = async (name: 'a' | 'b') => {
    const { body } = await carriers[name].call('GET', '/ng/v1/deliveryreports', {
      token: ours[name].apiToken,
    });
    const reports = body['data'] as { to: string; status: string }[];
    return reports.flatMap(({ to, status }) => (status === 'delivered' ? [to] : [])).toSorted();
  };
  const countsOf = async (sent: { readonly body: Record<string, unknown> }) => {
    const path = `/ng/v1/sms/${String(sent.body['reference_id'])}`;
    return (await gateway.call('GET', path, { token: account.apiToken })).body['counts'];
  };

  it('each recipient is sent by its route, and the path of each carrier takes its reports', async () => {
    const sent = await send(['2348012345678', '233201234567']);
    expect(sent.status).toBe(200);
    await eventually(async () => expect(await countsOf(sent)).toEqual({ delivered: 2 }));
    expect(await numbersAt('a')).toEqual(['2348012345678']);
    expect(await numbersAt('b')).toEqual(['233201234567']);
  });

  it('a recipient without a route is answered 422 by its field, and nothing is stored', async () => {
    const refused = await send(['2348012345678', '14155550123']);
    expect(refused.status).toBe(422);
    expect(refused.body['error']).toMatchObject({
      code: 'no_route',
      details: [{ path: 'to[1]', message: 'has no route for sms' }],
    });
  });

  it('a message that the first carrier refuses is sent once by the second carrier', async () => {
    await carriers.a.accounts.rotateToken(ours.a.accountId);
    const to = Array.from({ length: 30 }, (_, n) => `23480999${String(10_000 + n)}`);
    const sent = await send(to);
    await eventually(async () => expect(await countsOf(sent)).toEqual({ delivered: 30 }));
    const there = await numbersAt('b');
    expect(there.filter((one) => one.startsWith('23480999'))).toEqual(to);
  });

  it('dundun carriers shows health, rate and share of each carrier, and the settings without secrets', async () => {
    const settings = { CARRIERS_FILE: file, DATABASE_URL: gateway.databaseUrl, NODE_ENV: 'test' };
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await commandLine([...args, '--json'], settings, directory);
      expect([code, stderr]).toEqual([0, '']);
      return JSON.parse(stdout) as { carriers: Record<string, unknown>[] };
    };
    const { carriers: shown } = await run('carriers');
    expect(shown).toMatchObject([
      { carrier: 'a', health: expect.any(String), reason: 'unauthorized', limit: null },
      { carrier: 'b', health: 'up', reason: null, in_flight: 0 },
    ]);
    const checked = await run('config', 'check');
    expect(checked.carriers.map(({ carrier, type }) => [carrier, type])).toEqual([
      ['a', 'http'],
      ['b', 'http'],
    ]);
    expect(JSON.stringify(checked)).not.toContain(ours.b.apiToken);
    const ready = await gateway.call('GET', '/health/ready');
    expect(ready.status).toBe(200);
    expect(ready.body).toMatchObject({
      details: { carriers: { status: 'degraded', paused: { unauthorized: 1 } } },
    });
  });
});
