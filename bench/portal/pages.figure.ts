import { setTimeout as pause } from 'node:timers/promises';
import { firstLoadOf } from '../../test/support/first-load.js';
import { makeDatabase } from '../harness/database.place.js';
import type { ResultBook } from '../harness/result.book.js';
import { quantile } from '../harness/rounds.js';
import { Worker } from '../harness/worker.client.js';

/** Built pages by product. */
const PAGES = { dashboard: 'libs/dashboard/dist/ui', portal: 'dist/portal' };

/** W2: size of the first load, and time from a commit until a page that polls has read it. */
export async function measurePages(
  book: ResultBook,
  name: string,
  { changes }: { readonly changes: number },
): Promise<void> {
  for (const [product, directory] of Object.entries(PAGES))
    book.figure({
      id: 'W2',
      database: '–',
      what: `first load of the ${product}, gzip`,
      value: (await firstLoadOf(directory)) / 1_024,
      unit: ' KiB',
      goal: ['<=', 60],
    });
  const place = await makeDatabase('postgres');
  const worker = await Worker.start(new URL('./app.worker.js', import.meta.url), {
    url: place.url,
  });
  try {
    const address = await worker.call<string>('address');
    const read = async <T>(path: string) =>
      (await (await fetch(new URL(`api/${path}`, address))).json()) as T;
    const { pollInterval } = await read<{ pollInterval: number }>('context');
    let { cursor } = await read<{ cursor: string }>('changes');
    const times: number[] = [];
    for (let n = 0; n < changes; n++) {
      // At any time between two polls.
      const wait = (pollInterval * ((n * 37) % 100)) / 100;
      const committed = pause(wait).then(async () => {
        await worker.call('drain', { n: 50 });
        return performance.now();
      });
      for (let seen = false; !seen;) {
        await pause(pollInterval);
        const look = await read<{ cursor: string; changed: boolean }>(`changes?since=${cursor}`);
        ({ cursor } = look);
        if (!look.changed) continue;
        await read('messages?limit=50');
        seen = true;
      }
      times.push(performance.now() - (await committed));
    }
    book.figure({
      id: 'W2',
      database: name,
      what: 'from a commit until an open page has read it, longest',
      value: Math.max(0, quantile(times, 1)),
      unit: ' ms',
      goal: ['<=', 2_000],
    });
  } finally {
    await worker.stop();
    await place.remove();
  }
}
