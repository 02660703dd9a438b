import type { Extent } from '../harness/extent.js';
import { type DatabaseKind, makeDatabase } from '../harness/database.place.js';
import { HttpLoad } from '../harness/http.load.js';
import { memory, peakMemory, resetPeak } from '../harness/process.usage.js';
import type { ResultBook } from '../harness/result.book.js';
import { alternate, ratio } from '../harness/rounds.js';
import { Worker } from '../harness/worker.client.js';
import { GatewayProcess } from './gateway.process.js';

const RECIPIENTS = 100_000;

/** A2: one batch of 100,000 recipients through the gateway: time and memory. */
export async function measureBatch(
  book: ResultBook,
  kind: DatabaseKind,
  name: string,
  { rounds }: Extent,
): Promise<void> {
  const [own, bare] = [await makeDatabase(kind), await makeDatabase(kind)];
  const gateway = await GatewayProcess.start(own.url);
  const worker = await Worker.start(new URL('./bare.worker.js', import.meta.url), {
    url: bare.url,
  });
  const load = new HttpLoad(gateway.url, 1, {
    path: '/ng/v1/sendsms',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.token}` },
  });
  const bytes = Buffer.from(
    JSON.stringify({
      from: 'ACME',
      to: Array.from({ length: RECIPIENTS }, (_, n) => `23480${10_000_000 + n}`),
      body: 'Your code is 123456',
    }),
  );
  try {
    await load.post('{"from":"ACME","to":["2348012345678"],"body":"Hello"}');
    const idle = memory(gateway.pid);
    const peaks: number[] = [];
    const [through, least] = await alternate(
      [
        {
          name: 'gateway',
          pid: gateway.pid,
          run: async () => {
            resetPeak(gateway.pid);
            const begun = performance.now();
            await load.post(bytes);
            const ms = performance.now() - begun;
            peaks.push(peakMemory(gateway.pid) - idle);
            return { count: 1, ms };
          },
        },
        {
          name: 'JSON.parse and raw insert',
          pid: worker.pid,
          run: () => worker.call('parseAndInsert', bytes),
        },
      ],
      rounds * 3,
    );
    if (!through || !least) throw new Error('a side is missing');
    book.sides('A2', name, [through, least]);
    book.figure({
      id: 'A2',
      database: name,
      what: 'a batch of 100,000 recipients, time ÷ JSON.parse and raw insert of the same bytes',
      value: ratio(least, through),
      goal: ['<=', 3],
    });
    book.figure({
      id: 'A2',
      database: name,
      what: 'memory peak of the first such batch above the idle gateway',
      value: peaks[0] ?? Number.NaN,
      unit: ' MiB',
      goal: ['<=', 64],
    });
    book.figure({
      id: 'A2',
      database: name,
      what: `memory peak of ${peaks.length} such batches in a row above the idle gateway`,
      value: Math.max(...peaks),
      unit: ' MiB',
    });
  } finally {
    await load.close();
    await gateway.stop();
    await worker.stop();
    await own.remove();
    await bare.remove();
  }
}
