import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { AttackedGateway, MOST_MS } from './attacked-gateway.js';
import { get, post, RawClient } from './raw-client.js';

const MiB = 1_048_576;
const FILE = '/docs/swagger-ui-bundle.js';

describe('a client that pipelines its requests', () => {
  const gateway = new AttackedGateway();
  let batch: string;
  beforeAll(async () => {
    // A process that holds all answers of one connection would end.
    await gateway.start({ NODE_OPTIONS: '--max-old-space-size=512' });
    batch = `/ng/v1/sms/${await gateway.batch(100_000)}`;
    for (const path of [FILE, batch, '/openapi.json'])
      await (await gateway.call('GET', path)).arrayBuffer();
  });
  afterAll(() => gateway.destroy());

  it.each([
    ['a static file', 600, () => get(FILE)],
    ['the OpenAPI document', 600, () => get('/openapi.json')],
    ['a batch of 100,000 recipients', 300, () => get(batch, gateway.token)],
  ])(
    'a client that asks for %s %d times and reads nothing costs one answer',
    async (_what, count, request) => {
      const idle = await gateway.descriptors();
      const before = await gateway.running.rest();
      const client = (await RawClient.connect(gateway.url)).readNothing();
      await client.write(request().repeat(count));
      expect(await gateway.slowestHealthCheck()).toBeLessThan(MOST_MS);
      // Its connection, one file, and those of a health check.
      expect((await gateway.descriptors()) - idle).toBeLessThan(8);
      expect((await gateway.running.rest()).bytes - before.bytes).toBeLessThan(32 * MiB);
      client.destroy();
      await eventually(async () => {
        expect(await gateway.descriptors()).toBeLessThanOrEqual(idle);
        expect((await gateway.running.rest()).bytes - before.bytes).toBeLessThan(8 * MiB);
      });
    },
  );

  it('requests that wait on 20 connections cost a bounded amount of memory', async () => {
    const before = await gateway.running.rest();
    const clients = await Promise.all(
      Array.from({ length: 20 }, () => RawClient.connect(gateway.url)),
    );
    const waiting = get(FILE) + 'GET / HTTP/1.1\r\nHost:x\r\n\r\n'.repeat(2_000);
    await Promise.all(clients.map((client) => client.readNothing().write(waiting)));
    expect((await gateway.call('GET', '/health/live')).status).toBe(200);
    expect((await gateway.running.rest()).bytes - before.bytes).toBeLessThan(64 * MiB);
    for (const client of clients) client.destroy();
    await eventually(async () =>
      expect((await gateway.running.rest()).bytes - before.bytes).toBeLessThan(8 * MiB),
    );
  });

  it('a client that pipelines 600 requests and reads gets 600 answers in order', async () => {
    const client = await RawClient.connect(gateway.url);
    client.halfClose(`${get('/health/live')}${get('/nothing')}${get('/openapi.json')}`.repeat(200));
    await client.ended;
    expect(client.statuses).toEqual(Array.from({ length: 200 }, () => [200, 404, 200]).flat());
  });

  it('pipelined requests with bodies are all processed', async () => {
    const client = await RawClient.connect(gateway.url);
    const body = JSON.stringify({ body: 'x'.repeat(1_000) });
    client.halfClose(post('/ng/v1/sms/estimate', body, gateway.token).repeat(200));
    await client.ended;
    expect(client.statuses).toEqual(Array.from({ length: 200 }, () => 200));
  });

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
});
