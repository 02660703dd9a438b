import { randomBytes } from 'node:crypto';
import { makeDatabase } from '../harness/database.place.js';
import type { ResultBook } from '../harness/result.book.js';
import { quantile } from '../harness/rounds.js';
import { Worker } from '../harness/worker.client.js';

const SINK = new URL('../dispatch/sink.worker.js', import.meta.url);
const WARM_UPS = 100;
/** Milliseconds between two messages: long enough for the lane's release. */
const PAUSE = 50;

export const REDIS = process.env['TEST_REDIS_URL'] ?? 'redis://127.0.0.1:6379';

/** S2: latency from `send()` in one process to the first byte of another process at the provider. */
export async function measureTravel(
  book: ResultBook,
  name: string,
  { messages }: { messages: number },
): Promise<void> {
  const app = new URL('./app.worker.js', import.meta.url);
  const usual = new URL('./usual.worker.js', import.meta.url);
  for (const [title, module, overRedis, goals] of [
    ['LISTEN and NOTIFY', app, false, [5, 30]],
    ['BullMQ engine', app, true, []],
    ['a job per message, HttpService, one UPDATE', usual, true, []],
  ] as const) {
    const place = await makeDatabase('postgres');
    const sink = await Worker.start(SINK);
    const redis = { connection: REDIS, queue: `bench-${randomBytes(6).toString('hex')}` };
    const common = {
      url: place.url,
      sink: await sink.call<string>('address'),
      ...(overRedis && { redis }),
    };
    const start = (role: 'api' | 'worker') =>
      Worker.start(module, {
        ...common,
        role,
        dispatch: { enabled: role === 'worker' },
      });
    const api = await start('api');
    const worker = await start('worker');
    try {
      const sent: { key: string; given: number; accepted: number }[] = [];
      for (let n = -WARM_UPS; n < messages; n++) {
        if (n === 0) await sink.call('record');
        const one = await api.call<(typeof sent)[0]>('one');
        if (n >= 0) sent.push(one);
        await new Promise((resolve) => setTimeout(resolve, PAUSE));
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
      const arrivals = await sink.call<Map<string, number>>('arrivals');
      for (const [index, q] of [0.5, 0.99].entries())
        for (const from of ['accepted', 'given'] as const) {
          const waits = sent.map(({ key, [from]: at }) => (arrivals.get(key) ?? Number.NaN) - at);
          const goal = from === 'accepted' ? goals[index] : undefined;
          book.figure({
            id: 'S2',
            database: name,
            what: `${title}: ${from === 'accepted' ? 'accepted' : 'send() called'} → bytes at the provider, p${q * 100}`,
            value: quantile(waits, q),
            unit: ' ms',
            ...(goal !== undefined && { goal: ['<=', goal] as const }),
          });
        }
    } finally {
      for (const process of [api, worker, sink]) await process.stop();
      await place.remove();
    }
  }
}
