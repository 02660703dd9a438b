import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { EventEmitter, once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { eventually } from '../../test/support/eventually.js';
import { BodyBudget, guardLargeBodies } from './large-bodies.js';

describe('BodyBudget', () => {
  it('refuses a holder above its share with 429, and a process above its own with 503', () => {
    const budget = new BodyBudget(100, 40);
    budget.take('a', 40);
    expect(() => budget.take('a', 1)).toThrow(
      expect.objectContaining({ status: 429, headers: { 'retry-after': '1' } }),
    );
    budget.take('b', 40);
    budget.take('c', 20);
    expect(() => budget.take('d', 1)).toThrow(
      expect.objectContaining({ status: 503, headers: { 'retry-after': '1' } }),
    );
    budget.release('c', 20);
    budget.take('d', 20);
  });

  it('the budget admits a single body of any size', () => {
    const budget = new BodyBudget(100, 40);
    budget.take('a', 1_000);
    expect(() => budget.take('b', 1)).toThrow(expect.objectContaining({ status: 503 }));
    budget.release('a', 1_000);
    budget.take('b', 1);
    budget.take('a', 50);
  });
});

describe('guardLargeBodies', () => {
  const HEAD = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Type:';
  const budget = new BodyBudget(150_000, 150_000);
  const adapter = new FastifyAdapter({ bodyLimit: 100_000 });
  const fastify = adapter.getInstance();
  const requests = new EventEmitter<{ seen: [IncomingMessage] }>();
  let recognise: (request: IncomingMessage) => Promise<unknown>;
  beforeAll(async () => {
    guardLargeBodies(adapter, {
      budget,
      recognise: async ({ raw }) => {
        requests.emit('seen', raw);
        await recognise(raw);
        return 'holder';
      },
      isSelfVerified: () => false,
      limitOf: () => undefined,
    });
    fastify.post('/', () => 'taken');
    await fastify.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(() => fastify.close());

  const open = (bytes: string): Socket => {
    const { port } = fastify.server.address() as AddressInfo;
    const client = connect(port, '127.0.0.1');
    client.write(bytes);
    return client;
  };
  const closed = (one: IncomingMessage | Socket): Promise<unknown> =>
    new Promise((resolve) => one.once('close', resolve));

  it('a client that disconnects while its credential is checked holds no share of the budget', async () => {
    recognise = closed;
    const seen = once(requests, 'seen');
    const client = open(`${HEAD} application/json\r\nContent-Length: 90000\r\n\r\n`);
    const [request] = (await seen) as [IncomingMessage];
    client.destroy();
    await closed(request);
    await turn();
    expect(() => budget.take('other', 150_000)).not.toThrow();
    budget.release('other', 150_000);
  });

  it.each([
    ['another type', 'text/xml\r\nContent-Length: 90000\r\n\r\n', 415],
    [
      'too many bytes',
      `application/json\r\nTransfer-Encoding: chunked\r\n\r\n30D40\r\n${'1'.repeat(120_000)}`,
      413,
    ],
  ])(
    'a body of %s that is refused before its end holds no share of the budget',
    async (_what, rest, status) => {
      recognise = async () => undefined;
      const client = open(`${HEAD} ${rest}`);
      const [answer] = (await once(client, 'data')) as [Buffer];
      expect(answer.toString()).toContain(`HTTP/1.1 ${status} `);
      client.destroy();
      await eventually(async () => budget.take('other', 150_000));
      budget.release('other', 150_000);
    },
  );
});
