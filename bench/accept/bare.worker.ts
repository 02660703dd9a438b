import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { NaturalBatch } from '../harness/natural.batch.js';
import type { Count } from '../harness/rounds.js';
import { serve } from '../harness/worker.serve.js';
import { migrated } from '../harness/data.source.js';
import { openRawStore, rawSend, type RawSend, type RawStore } from './raw.store.js';

interface Body {
  readonly from: string;
  readonly to: readonly string[];
  readonly body: string;
}

let store: RawStore;
let server: FastifyInstance;

/** Bare Fastify and the raw driver, with the same group commit: the limit of this machine. */
serve({
  start: async ({ url }: { url: string }) => {
    await (await migrated(url)).destroy();
    store = await openRawStore(url);
    const group = new NaturalBatch<RawSend>((sends) => store.storeGroup(sends));
    server = Fastify({ logger: false, bodyLimit: 4 << 20 });
    server.post<{ Body: Body }>('/ng/v1/sendsms', async ({ body }) => {
      const send = rawSend(body.from, body.body, body.to);
      await group.add(send);
      return {
        status_code: 200,
        message: 'Your request is being processed',
        reference_id: send.id,
        recipients_processed: body.to.length,
        created_at: new Date().toISOString(),
      };
    });
    await server.listen({ port: 0, host: '127.0.0.1' });
  },
  address: async () => {
    const { port } = server.server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  },
  /** JSON.parse and insert of the bytes of one request, without HTTP. */
  parseAndInsert: async (bytes: Uint8Array): Promise<Count> => {
    const begun = performance.now();
    const { from, to, body } = JSON.parse(
      Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'),
    ) as Body;
    await store.storeGroup([rawSend(from, body, to)]);
    return { count: 1, ms: performance.now() - begun };
  },
  /** One statement and commit per send, `inFlight` at a time. */
  oneByOne: async ({ ms, inFlight }: { ms: number; inFlight: number }): Promise<Count> => {
    const begun = performance.now();
    let count = 0;
    const one = async (): Promise<void> => {
      while (performance.now() - begun < ms) {
        await store.storeOne(
          rawSend('ACME', 'Your code is 123456', [`23480${10_000_000 + count}`]),
        );
        count++;
      }
    };
    await Promise.all(Array.from({ length: inFlight }, one));
    return { count, ms: performance.now() - begun };
  },
  stop: async () => {
    await server.close();
    await store.close();
  },
});
