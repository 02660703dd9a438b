import { type DatabaseKind, makeDatabase } from '../harness/database.place.js';
import type { ResultBook } from '../harness/result.book.js';
import { alternate, type Count, ratio, type Side, type SideResult } from '../harness/rounds.js';
import { Worker } from '../harness/worker.client.js';
import type { Keys } from './campaign.js';
import type { LimitsStart } from './limits.worker.js';
import type { StoreStart } from './store.worker.js';

/** Connections to the server, on every side. */
const CONNECTIONS = 10;
const FAULTY = ['grey', 'hang', 'slow'];

export interface SendExtent {
  /** Messages of one run of one side. */
  readonly messages: number;
  readonly rounds: number;
  readonly wants: (id: string) => boolean;
}

/** E1, E2 and E4: one campaign from the store to the wire. */
export async function measureSends(
  book: ResultBook,
  kind: DatabaseKind,
  name: string,
  keys: Keys,
  { messages, rounds, wants }: SendExtent,
): Promise<void> {
  const sink = await Worker.start(new URL('./sink.worker.js', import.meta.url));
  const address = await sink.call<string>('address');
  const places = [await makeDatabase(kind), await makeDatabase(kind), await makeDatabase(kind)];
  const started: Worker[] = [];
  const store = async (index: number, signed?: Keys) => {
    const worker = await Worker.start(new URL('./store.worker.js', import.meta.url), {
      url: places[index]?.url ?? '',
      sink: address,
      connections: CONNECTIONS,
      ...(signed && { keys: signed }),
    } satisfies StoreStart);
    started.push(worker);
    return worker;
  };
  try {
    const limits = await Worker.start(new URL('./limits.worker.js', import.meta.url), {
      sink: address,
      keys,
      connections: CONNECTIONS,
    } satisfies LimitsStart);
    started.push(limits);
    const side = (title: string, worker: Worker, command: string): Side => ({
      name: title,
      pid: worker.pid,
      run: () => worker.call(command, messages),
    });
    const figure = (id: string, what: string, value: number, goal: number) =>
      book.figure({ id, database: name, what, value, goal: ['>=', goal] });
    const plain = await store(0);
    if (wants('E1')) {
      const results = await alternate(
        [side('store, unsigned', plain, 'drain'), side('nodemailer pool', limits, 'plain')],
        rounds,
      );
      book.sides('E1', name, results);
      const [own, pool] = results as [SideResult, SideResult];
      figure('E1', 'store → wire, unsigned ÷ nodemailer pool', ratio(own, pool), 2);
    }
    if (wants('E2')) {
      const results = await alternate(
        [
          side('store, two signatures', await store(1, keys), 'drain'),
          side('nodemailer pool with DKIM', limits, 'dkim'),
          side('bare signing', limits, 'sign'),
        ],
        rounds,
      );
      book.sides('E2', name, results);
      const [own, pool, bare] = results as [SideResult, SideResult, SideResult];
      figure('E2', 'store → wire, signed ÷ nodemailer pool with DKIM', ratio(own, pool), 3);
      figure('E2', 'store → wire, signed ÷ bare signing', ratio(own, bare), 0.5);
    }
    if (wants('E4')) {
      const other = await store(2);
      const until = (worker: Worker, first: readonly string[]) => async (): Promise<Count> => {
        const begun = performance.now();
        const arrived = sink.call('arrived', messages);
        await worker.call('send', { count: messages, first });
        await arrived;
        return { count: messages, ms: performance.now() - begun };
      };
      const results = await alternate(
        [
          {
            name: 'one greylisted, one without answer, one slow',
            pid: other.pid,
            run: until(
              other,
              FAULTY.map((fault) => `${fault}@customers.example`),
            ),
          },
          { name: 'none of these', pid: plain.pid, run: until(plain, []) },
        ],
        rounds,
      );
      book.sides('E4', name, results);
      const [own, without] = results as [SideResult, SideResult];
      figure('E4', 'mail of others beside faulty recipients ÷ without', ratio(own, without), 0.9);
    }
  } finally {
    for (const worker of [...started, sink]) await worker.stop();
    for (const place of places) await place.remove();
  }
}
