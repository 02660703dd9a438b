import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import Fastify from 'fastify';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { eventually } from '../../test/support/eventually.js';
import { freeBuffer, readBody } from './read-body.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const MiB = 1_048_576;
const MOST = 4 * MiB;

describe('readBody', () => {
  const fastify = Fastify({ bodyLimit: MOST, forceCloseConnections: true });
  let errors: Error[] = [];
  let bodies: Buffer[] = [];
  beforeAll(async () => {
    fastify.addContentTypeParser('*', (request, payload, done) =>
      readBody(request, payload, (error, body) => {
        if (error) errors.push(error);
        else bodies.push(body);
        done(error);
      }),
    );
    fastify.post('/', () => 'taken');
    await fastify.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(() => fastify.close());
  beforeEach(() => {
    errors = [];
    bodies = [];
  });

  const open = (framing: string): Socket => {
    const client = connect((fastify.server.address() as AddressInfo).port, '127.0.0.1');
    client.on('error', () => undefined);
    client.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Type: text/x\r\n${framing}\r\n\r\n`);
    return client;
  };
  const declared = (length: number): string => `Content-Length: ${length}`;
  const CHUNKED = 'Transfer-Encoding: chunked';
  const chunk = (bytes: Buffer): Buffer =>
    Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
  const sample = (length: number): Buffer =>
    Buffer.from(Uint8Array.from({ length }, (_, index) => (index * 31) ^ (index >> 8)));
  const answer = async (client: Socket): Promise<string> => {
    const [bytes] = (await once(client, 'data')) as [Buffer];
    client.destroy();
    return bytes.toString();
  };

  it.each([1, 65_536, 300_000, MOST])('reads a body of %d bytes', async (length) => {
    const body = sample(length);
    const client = open(declared(length));
    client.write(body);
    expect(await answer(client)).toContain(' 200 ');
    expect(bodies[0]?.equals(body)).toBe(true);
  });

  it.each([0, 1, 65_536, 300_000, MOST])(
    'reads a body of %d bytes and of unknown length into as much memory',
    async (length) => {
      const body = sample(length);
      const client = open(CHUNKED);
      for (let at = 0; at < length; at += 100_000)
        client.write(chunk(body.subarray(at, at + 100_000)));
      client.write('0\r\n\r\n');
      expect(await answer(client)).toContain(' 200 ');
      expect(bodies[0]?.equals(body)).toBe(true);
      expect(bodies[0]?.buffer.byteLength).toBe(length);
    },
  );

  it.each([
    ['declared', (client: Socket) => client, declared(MOST + 1)],
    ['unknown', (client: Socket) => client.write(chunk(Buffer.alloc(MOST + 1))), CHUNKED],
  ])('refuses a body above the limit of %s length', async (_what, write, framing) => {
    const client = open(framing);
    write(client);
    await answer(client);
    expect(errors).toEqual([expect.objectContaining({ code: 'payload_too_large' })]);
  });

  it('frees the memory of a body whose client disconnects', async () => {
    // Memory of other tests must not be freed while this one measures; V8 frees it a turn later.
    for (let round = 0; round < 3; round++) {
      collectGarbage();
      await new Promise((resolve) => setImmediate(resolve));
    }
    const before = process.memoryUsage().arrayBuffers;
    const body = Buffer.alloc(3 * MiB);
    const clients = Array.from({ length: 20 }, () => open(declared(MOST)));
    await Promise.all(
      clients.map((client) => new Promise((resolve) => client.write(body, resolve))),
    );
    const held = (): number => process.memoryUsage().arrayBuffers - before;
    await eventually(async () => expect(held()).toBeGreaterThan(40 * MiB));
    for (const client of clients) client.destroy();
    await eventually(async () => expect(errors).toHaveLength(20));
    expect(held()).toBeLessThan(20 * MiB);
  });
});

describe('freeBuffer', () => {
  it('frees the memory of a buffer at once', () => {
    const before = process.memoryUsage().arrayBuffers;
    const buffer = Buffer.allocUnsafeSlow(64 * MiB);
    freeBuffer(buffer);
    expect(buffer).toHaveLength(0);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(MiB);
  });

  it('leaves memory that other buffers may share', () => {
    const whole = Buffer.from('two parts');
    freeBuffer(whole.subarray(3));
    expect(whole.toString()).toBe('two parts');
  });
});
