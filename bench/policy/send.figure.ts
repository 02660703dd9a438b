import { type DatabaseKind, makeDatabase } from '../harness/database.place.js';
import type { Extent } from '../harness/extent.js';
import type { ResultBook } from '../harness/result.book.js';
import { alternate, type Count, quantile } from '../harness/rounds.js';
import { Worker } from '../harness/worker.client.js';
import type { SendStart } from './send.worker.js';

const RECIPIENTS = 100_000;
const BUILT_IN = ['opt-in-required', 'opted-out', 'service-window'];

/** P1: one send to 100,000 contacts with the default policies, and without policies. */
export async function measurePolicy(
  book: ResultBook,
  kind: DatabaseKind,
  name: string,
  { rounds }: Extent,
): Promise<void> {
  const place = await makeDatabase(kind);
  const start = (remove: readonly string[]) =>
    Worker.start(new URL('./send.worker.js', import.meta.url), {
      url: place.url,
      remove,
    } satisfies SendStart);
  const asked = await start([]);
  const unasked = await start(BUILT_IN);
  try {
    await asked.call('seed', RECIPIENTS);
    const side = (worker: Worker, of: string) => ({
      name: of,
      pid: worker.pid,
      run: () => worker.call<Count>('send', RECIPIENTS),
    });
    const [policies, none] = await alternate(
      [side(asked, 'the default policies'), side(unasked, 'no policy')],
      rounds,
    );
    if (!policies || !none) throw new Error('a side is missing');
    book.sides('P1', name, [policies, none]);
    const each = policies.rates.map((rate, n) => 1e6 / rate - 1e6 / (none.rates[n] as number));
    book.figure({
      id: 'P1',
      database: name,
      what: 'policy at send() over 100,000 contacts, for each recipient',
      value: quantile(each, 0.5),
      unit: ' µs',
      goal: ['<=', 5],
    });
    const count = async (worker: Worker): Promise<number> => {
      await worker.call('statements');
      await worker.call('send', RECIPIENTS);
      return worker.call<number>('statements');
    };
    book.figure({
      id: 'P1',
      database: name,
      what: 'queries of policy at send(), for 10,000 recipients',
      value: ((await count(asked)) - (await count(unasked))) / (RECIPIENTS / 10_000),
      goal: ['<=', 4],
    });
  } finally {
    await asked.stop();
    await unasked.stop();
    await place.remove();
  }
}
