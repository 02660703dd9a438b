import { type DatabaseKind, makeDatabase } from '../harness/database.place.js';
import type { ResultBook } from '../harness/result.book.js';
import { alternate, ratio } from '../harness/rounds.js';
import { Worker } from '../harness/worker.client.js';
import { makeKeys } from './campaign.js';
import type { Intake } from './reporter.worker.js';
import type { StoreStart } from './store.worker.js';

/** Reports a second at which the rate is measured. */
const LIMIT = 200;

export interface ReportsExtent {
  /** Reports of one run. */
  readonly messages: number;
  readonly rounds: number;
  /** Milliseconds for which the limit is measured. */
  readonly ms: number;
}

/** E5: delivery status notifications from the wire to the store. */
export async function measureReports(
  book: ResultBook,
  kind: DatabaseKind,
  name: string,
  { messages, rounds, ms }: ReportsExtent,
): Promise<void> {
  const sink = await Worker.start(new URL('./sink.worker.js', import.meta.url));
  const address = await sink.call<string>('address');
  const places = [await makeDatabase(kind), await makeDatabase(kind)];
  const store = (index: number, rateLimit: string) =>
    Worker.start(new URL('./store.worker.js', import.meta.url), {
      url: places[index]?.url ?? '',
      sink: address,
      connections: 10,
      listener: { rateLimit },
    } satisfies StoreStart);
  const free = await store(0, '1000000/s');
  const limited = await store(1, `${LIMIT}/s`);
  const reporter = await Worker.start(new URL('./reporter.worker.js', import.meta.url));
  const limits = await Worker.start(new URL('./limits.worker.js', import.meta.url), {
    sink: address,
    keys: makeKeys(),
    connections: 1,
  });
  /** Return addresses of `count` new messages. */
  const sent = async (worker: Worker, count: number): Promise<readonly string[]> => {
    await sink.call('record');
    await worker.call('drain', count);
    return sink.call<readonly string[]>('senders');
  };
  const port = await free.call<number>('listenerPort');
  try {
    const [own, bare] = await alternate(
      [
        {
          name: 'listener → store',
          pid: free.pid,
          run: async () => {
            const senders = await sent(free, messages);
            return reporter.call<Intake>('deliver', { port, senders });
          },
        },
        {
          name: 'bare postal-mime',
          pid: limits.pid,
          run: async () =>
            limits.call('parse', await reporter.call<readonly string[]>('texts', messages)),
        },
      ],
      rounds,
    );
    if (!own || !bare) throw new Error('a side is missing');
    book.sides('E5', name, [own, bare]);
    book.figure({
      id: 'E5',
      database: name,
      what: 'notifications from the wire to the store ÷ bare postal-mime',
      value: ratio(own, bare),
      goal: ['>=', 0.5],
    });
    const senders = await sent(limited, (2 * LIMIT * ms) / 1_000);
    const { at } = await reporter.call<Intake>('deliver', {
      port: await limited.call<number>('listenerPort'),
      senders,
      ms,
    });
    const most = at.reduce((worst, [from]) => {
      const within = at.filter(([begun, answered]) => begun >= from && answered < from + 1_000);
      return Math.max(worst, within.length);
    }, 0);
    book.figure({
      id: 'E5',
      database: name,
      what: `worst second of notifications ÷ the limit of ${LIMIT}/s`,
      value: most / LIMIT,
      goal: ['<=', 1],
    });
  } finally {
    for (const worker of [free, limited, reporter, limits, sink]) await worker.stop();
    for (const place of places) await place.remove();
  }
}
