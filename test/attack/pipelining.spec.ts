import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeEachDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { AttackedGateway, FRONT_DATABASES, pooledOn } from './attacked-gateway.js';
import { get, post, RawClient } from './raw-client.js';

const MiB = 1_048_576;
const FILE = '/docs/swagger-ui-bundle.js';

describeEachDatabase(
  'a client that pipelines its requests',
  (db) => {
    const gateway = new AttackedGateway();
    let batch: string;
    beforeAll(async () => {
      // A process that holds all answers of one connection would end.
      await gateway.start(db, { NODE_OPTIONS: '--max-old-space-size=512' });
      batch = `/ng/v1/sms/${await gateway.batch(100_000)}`;
      for (const path of [FILE, batch, '/openapi.json'])
        await (await gateway.call('GET', path)).arrayBuffer();
    });
    afterAll(() => gateway.destroy());

    it.each([
      ['a static file', 600, () => get(FILE)],
      ['the OpenAPI document', 600, () => get('/openapi.json')],
      ['a large batch', 300, () => get(batch, gateway.token)],
    ])(
      'a client that asks for %s some hundred times and reads nothing costs one answer',
      async (_what, count, request) => {
        const idle = await gateway.descriptors();
        const before = await gateway.running.rest();
        const client = (await RawClient.connect(gateway.url)).readNothing();
        await gateway.whileHealthy(() => client.write(request().repeat(count)));
        // Its connection, one file, and those of a health check.
        expect((await gateway.descriptors()) - idle).toBeLessThan(8 + pooledOn(db));
        expect((await gateway.running.rest()).bytes - before.bytes).toBeLessThan(32 * MiB);
        client.destroy();
        await eventually(async () => {
          expect(await gateway.descriptors()).toBeLessThanOrEqual(idle + pooledOn(db));
          expect((await gateway.running.rest()).bytes - before.bytes).toBeLessThan(8 * MiB);
        });
        await gateway.freed();
      },
    );

    it('requests that wait on many connections cost a bounded amount of time and memory', async () => {
      const before = await gateway.running.rest();
      const clients = await Promise.all(
        Array.from({ length: 100 }, () => RawClient.connect(gateway.url)),
      );
      const waiting = 'GET / HTTP/1.1\r\nHost:x\r\n\r\n'.repeat(2_000);
      await gateway.whileHealthy(() =>
        Promise.all(
          clients.map((client, n) =>
            client.readNothing().write(n % 4 === 0 ? get(FILE) + waiting : waiting),
          ),
        ),
      );
      expect((await gateway.running.rest()).bytes - before.bytes).toBeLessThan(64 * MiB);
      for (const client of clients) client.destroy();
      await eventually(async () =>
        expect((await gateway.running.rest()).bytes - before.bytes).toBeLessThan(8 * MiB),
      );
      await gateway.freed();
    });

    it('a client that pipelines 60 requests and reads gets 60 answers in order', async () => {
      const client = await RawClient.connect(gateway.url);
      client.halfClose(
        `${get('/health/live')}${get('/nothing')}${get('/openapi.json')}`.repeat(20),
      );
      await client.ended;
      expect(client.statuses).toEqual(Array.from({ length: 20 }, () => [200, 404, 200]).flat());
    });

    it('a client that pipelines 600 requests gets the answers to the first ones, then 429', async () => {
      const client = await RawClient.connect(gateway.url);
      await client.write(get('/health/live').repeat(600));
      await client.ended;
      expect(client.statuses).toEqual([...Array.from({ length: 65 }, () => 200), 429]);
      expect(client.answer).toMatch(/retry-after: 1\r\n[^]*"code":"rate_limited"/);
    });

    it('pipelined requests with bodies are all processed', async () => {
      const client = await RawClient.connect(gateway.url);
      const body = JSON.stringify({ body: 'x'.repeat(10_000) });
      client.halfClose(post('/ng/v1/sms/estimate', body, gateway.token).repeat(200));
      await client.ended;
      expect(client.statuses).toEqual(Array.from({ length: 200 }, () => 200));
    });

    it.each([
      'GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: x',
      'CONNECT x HTTP/1.1',
    ])(
      'a request for another protocol among too many is refused like the others: %j',
      async (request) => {
        const client = await RawClient.connect(gateway.url);
        await client.write(`${get('/health/live').repeat(65)}${request}\r\n\r\n`);
        await client.ended;
        expect(client.statuses).toEqual([...Array.from({ length: 65 }, () => 200), 429]);
      },
    );

    it.each([
      [400, 'GET / HTTP/1.1'],
      [417, 'GET / HTTP/1.1\r\nHost: x\r\nExpect: x'],
    ])(
      'requests after one that Node itself answers with %i are not processed',
      async (status, wrong) => {
        const client = await RawClient.connect(gateway.url);
        await client.write(
          get('/health/live') + `${wrong}\r\n\r\n`.repeat(100) + get('/health/live'),
        );
        await client.ended;
        expect(client.statuses).toEqual([200, status]);
      },
    );

    it('bytes that are not HTTP are refused after the answers before them', async () => {
      const client = await RawClient.connect(gateway.url);
      await client.write(`${get('/ng/v1/sms', gateway.token).repeat(3)}no HTTP\r\n\r\n`);
      await client.ended;
      expect(client.statuses).toEqual([200, 200, 200, 400]);
    });

    it('a client that closes its writing side after a send gets the answer', async () => {
      const client = await RawClient.connect(gateway.url);
      const body = { from: 'ACME', to: ['2348012345678'], body: 'Hello' };
      client.halfClose(post('/ng/v1/sendsms', JSON.stringify(body), gateway.token));
      await client.ended;
      expect(client.statuses).toEqual([200]);
    });

    it('requests after one that asks to close the connection are not processed', async () => {
      const client = await RawClient.connect(gateway.url);
      const closing = 'GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
      await client.write(get('/health/live') + closing + get('/health/live'));
      await client.ended;
      expect(client.statuses).toEqual([200, 200]);
    });
  },
  FRONT_DATABASES,
);
