import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { DataSource } from 'typeorm';
import { SqliteDriver } from '../../../src/config/sqlite-driver.js';
import { join } from 'node:path';
import { type ProbedGateway, Processes } from './built-gateway.js';
import { buildGateway } from '../../support/builds.js';
import { ContractClient } from './contract-client.js';
import { DnsServer } from '../../support/dns-server.js';
import { FuzzTargets } from './fuzz-targets.js';
import { type FuzzedRequest, fuzzedRequests } from './fuzzed-request.js';

/** `FUZZ_REQUESTS=100000` is the long form. */
const REQUESTS = Number(process.env['FUZZ_REQUESTS'] ?? 1_500);
const IN_FLIGHT = 8;
/** Requests that are made at once, and name the same objects. */
const SAMPLE = 500;
/** SMS, WhatsApp, email, calls and orders. */
const CHANNELS = 5;
/** Compiled code and caches that have a bound settle within so many. */
const WARM_UP = 1_500;
/** Tolerance between two garbage collections: 6 MiB. */
const NOISE = 6 * 1_048_576;

// The long form sends 100,000 requests: half an hour on a loaded machine.
jest.setTimeout(90 * 60_000);

describe('a gateway after thousands of requests', () => {
  const processes = new Processes();
  let dns: DnsServer;
  let gateway: ProbedGateway;
  let client: ContractClient;
  let targets: FuzzTargets;

  beforeAll(async () => {
    await buildGateway();
    // This name server has no records.
    dns = await DnsServer.start();
    gateway = await processes.probedGateway({
      WEBHOOK_ALLOW_PRIVATE: 'true',
      AUTH_FAILURE_LIMIT: 'off',
      EMAIL_DNS_SERVERS: dns.address,
    });
    client = new ContractClient(gateway.url);
    const told = /API token {2}(?<apiToken>\S+)\s+API key {4}(?<apiKey>\S+)/;
    const { apiToken = '', apiKey = '' } = (await gateway.told(told)).groups ?? {};
    targets = new FuzzTargets({ call }, { apiToken, apiKey });
    await targets.make();
  });
  afterAll(async () => {
    await processes.destroy();
    await dns.close();
  });

  const statuses = new Map<string, number>();
  const told = (what: string): number => statuses.get(what) ?? 0;

  const call: ContractClient['call'] = async (method, path, options) => {
    const answer = await client.call(method, path, options);
    if (answer.status >= 500) throw new Error(`${method} ${path}: ${answer.status}`);
    const replayed = answer.headers.get('idempotent-replayed') === 'true' ? ' again' : '';
    for (const what of [String(answer.status), `${method} ${path} ${answer.status}${replayed}`])
      statuses.set(what, told(what) + 1);
    return answer;
  };

  async function ask({ method, path, headers, raw, authorized }: FuzzedRequest): Promise<void> {
    const { status } = await call(method, path, {
      ...(authorized && { token: targets.tokenOf(path) }),
      ...(raw !== undefined && { raw }),
      headers,
    });
    if (status === 404 || (method === 'DELETE' && status < 300)) await targets.replace(path);
  }

  async function askAll(count: number): Promise<void> {
    const { document } = await client.contract();
    const seed = process.env['FUZZ_SEED'];
    for (let asked = 0; asked < count; asked += SAMPLE) {
      const requests = fc.sample(fuzzedRequests(document, targets.known), {
        numRuns: Math.min(SAMPLE, count - asked),
        ...(seed !== undefined && { seed: Number(seed) + asked }),
      });
      await Promise.all(
        Array.from({ length: IN_FLIGHT }, async () => {
          for (let next = requests.pop(); next; next = requests.pop()) await ask(next);
        }),
      );
    }
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
    const rows = async (table: string, where = '1 = 1'): Promise<number> =>
      Number((await source.query(`SELECT count(*) AS n FROM ${table} WHERE ${where}`))[0].n);
    try {
      // Each that was answered 200 and was no repetition.
      const verifications = told('POST /ng/v1/vas/verifications 200');
      expect(await rows('messaging_verification')).toBe(verifications);
      const notifications = told('POST /ng/v1/notifications 200');
      expect(await rows('messaging_notification')).toBe(notifications);
      const sends = told('POST /ng/v1/sendsms 200');
      const codes = 'SELECT batch FROM messaging_verification';
      const sent = `channel = 'sms' AND notification IS NULL AND id NOT IN (${codes})`;
      expect(await rows('messaging_batch', sent)).toBe(sends);
      // The account's lanes, and one for each webhook and for the events of each domain; a lane has
      // no row before its first work.
      const others = [
        '/ng/v1/webhooks 201',
        '/email/ng/v1/webhooks 201',
        '/email/ng/v1/domains 201',
      ];
      const lanes = others.reduce((sum, what) => sum + told(`POST ${what}`), CHANNELS);
      expect(await rows('messaging_lane')).toBeLessThanOrEqual(lanes);
      expect(await rows('gateway_account')).toBe(1);
      expect(await rows('gateway_credential')).toBe(2);
    } finally {
      await source.destroy();
    }
  });
});
