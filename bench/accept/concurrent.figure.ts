import type { Extent } from '../harness/extent.js';
import { type DatabaseKind, makeDatabase } from '../harness/database.place.js';
import type { ResultBook } from '../harness/result.book.js';
import { alternate, ratio } from '../harness/rounds.js';
import { Worker } from '../harness/worker.client.js';

const IN_FLIGHT = 50;

/** A3: gain of group commit for concurrent sends. */
export async function measureConcurrentSends(
  book: ResultBook,
  kind: DatabaseKind,
  name: string,
  { ms, rounds }: Extent,
): Promise<void> {
  const [own, bare] = [await makeDatabase(kind), await makeDatabase(kind)];
  const sender = await Worker.start(new URL('./send.worker.js', import.meta.url), { url: own.url });
  const raw = await Worker.start(new URL('./bare.worker.js', import.meta.url), { url: bare.url });
  const argument = { ms, inFlight: IN_FLIGHT };
  try {
    const [shared, single] = await alternate(
      [
        { name: 'SmsService', pid: sender.pid, run: () => sender.call('send', argument) },
        { name: 'one INSERT each', pid: raw.pid, run: () => raw.call('oneByOne', argument) },
      ],
      rounds,
    );
    if (!shared || !single) throw new Error('a side is missing');
    book.sides('A3', name, [shared, single]);
    book.figure({
      id: 'A3',
      database: name,
      what: `concurrent sends through SmsService ÷ one INSERT each by the raw driver, ${IN_FLIGHT} in flight`,
      value: ratio(shared, single),
      goal: ['>=', 3],
    });
  } finally {
    await sender.stop();
    await raw.stop();
    await own.remove();
    await bare.remove();
  }
}
