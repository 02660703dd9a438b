import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { DataSource } from 'typeorm';
import { SqliteDriver } from '../../../src/config/sqlite-driver.js';
import { join } from 'node:path';
import { buildGateway, type ProbedGateway, Processes } from './built-gateway.js';
import { ContractClient } from './contract-client.js';
import { type FuzzedRequest, fuzzedRequests } from './fuzzed-request.js';

/** `FUZZ_REQUESTS=10000` is the long form. */
const REQUESTS = Number(process.env['FUZZ_REQUESTS'] ?? 1_500);
const IN_FLIGHT = 8;
/** Compiled code and caches that have a bound settle within so many. */
const WARM_UP = 1_500;
/** Tolerance between two garbage collections: 6 MiB. */
const NOISE = 6 * 1_048_576;

// The long form sends 10,000 requests and collects garbage between them.
jest.setTimeout(15 * 60_000);

describe('a gateway that was asked thousands of things', () => {
  const processes = new Processes();
  const settings = { WEBHOOK_ALLOW_PRIVATE: 'true', AUTH_FAILURE_LIMIT: 'off' };
  const known: Record<string, string> = {};
  let gateway: ProbedGateway;
  let client: ContractClient;
  let token: string;

  beforeAll(async () => {
    await buildGateway();
    const created = await processes.dundun(['account', 'create', '--name', 'acme', '--json']);
    const made = JSON.parse(created.stdout) as { account_id: string; api_token: string };
    token = made.api_token;
    await processes.dundun([
      'sender',
      'add',
      '--account',
      made.account_id,
      '--sender',
      'ACME',
      '--json',
    ]);
    gateway = await processes.probedGateway(settings);
    client = new ContractClient(gateway.url);
    const sent = await client.call('POST', '/ng/v1/sendsms', {
      token,
      body: { from: 'ACME', to: ['2348012345678'], body: 'x', send_at: '2150-01-01T00:00:00Z' },
    });
    known['referenceId'] = String(sent.body['reference_id']);
    const hook = await client.call('POST', '/ng/v1/webhooks', {
      token,
      body: { url: 'http://127.0.0.1:65535/' },
    });
    known['id'] = String(hook.body['webhook_id']);
  });
  afterAll(() => processes.destroy());

  const statuses = new Map<string, number>();
  const told = (what: string): number => statuses.get(what) ?? 0;

  async function ask({ method, path, headers, raw, authorized }: FuzzedRequest): Promise<void> {
    const answer = await client.call(method, path, {
      ...(authorized && { token }),
      ...(raw !== undefined && { raw }),
      headers,
    });
    expect(answer.status).toBeLessThan(500);
    const replayed = answer.headers.get('idempotent-replayed') === 'true' ? ' again' : '';
    for (const what of [String(answer.status), `${method} ${path} ${answer.status}${replayed}`])
      statuses.set(what, told(what) + 1);
  }

  async function askAll(count: number): Promise<void> {
    const { document } = await client.contract();
    const seed = process.env['FUZZ_SEED'];
    const requests = fc.sample(fuzzedRequests(document, known), {
      numRuns: count,
      ...(seed !== undefined && { seed: Number(seed) }),
    });
    await Promise.all(
      Array.from({ length: IN_FLIGHT }, async () => {
        for (let next = requests.pop(); next; next = requests.pop()) await ask(next);
      }),
    );
  }

  it('memory, handles and rows grow only with accepted messages', async () => {
    await askAll(WARM_UP);
    const before = await gateway.rest();
    await askAll(REQUESTS);
    const after = await gateway.rest();
    const sockets = (rest: typeof before): number => rest.handles['TCPSocketWrap'] ?? 0;
    process.stdout.write(
      `${REQUESTS} requests: ${before.bytes >> 10} kB held before, ${after.bytes >> 10} after; sockets ${sockets(before)}, ${sockets(after)}\n`,
    );
    expect(after.bytes).toBeLessThan(before.bytes + NOISE);
    // Those of the connections that ask, and one webhook's; never one per request.
    expect(sockets(after)).toBeLessThanOrEqual(sockets(before) + IN_FLIGHT);
    for (const status of ['200', '401', '404', '422'])
      expect([status, told(status)]).not.toEqual([status, 0]);

    const source = await new DataSource({
      type: 'better-sqlite3',
      driver: SqliteDriver,
      database: join(await processes.directory(), 'gateway.sqlite'),
    }).initialize();
    const rows = async (table: string): Promise<number> =>
      Number((await source.query(`SELECT count(*) AS n FROM ${table}`))[0].n);
    try {
      const sends = [...statuses].filter(([what]) => what === 'POST /ng/v1/sendsms 200');
      // The one made before, and each that was answered 200 and was no repetition.
      expect(await rows('messaging_batch')).toBe(1 + (sends[0]?.[1] ?? 0));
      // The account's SMS lane and one for each webhook; a lane has no row before its first work.
      const webhooks = 1 + told('POST /ng/v1/webhooks 201');
      expect(await rows('messaging_lane')).toBeLessThanOrEqual(1 + webhooks);
      expect(await rows('gateway_account')).toBe(1);
      expect(await rows('gateway_credential')).toBe(2);
    } finally {
      await source.destroy();
    }
  });
});
