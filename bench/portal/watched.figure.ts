import { makeDatabase } from '../harness/database.place.js';
import type { ResultBook } from '../harness/result.book.js';
import { alternate, type Count, ratio, type SideResult } from '../harness/rounds.js';
import { Worker } from '../harness/worker.client.js';

const PAGES = 10;

export interface WatchedExtent {
  /** Messages in one run of one side. */
  readonly messages: number;
  readonly rounds: number;
}

/** W3: messages per second while ten pages are open, and without. */
export async function measureWatched(
  book: ResultBook,
  name: string,
  { messages, rounds }: WatchedExtent,
): Promise<void> {
  const place = await makeDatabase('postgres');
  const worker = await Worker.start(new URL('./app.worker.js', import.meta.url), {
    url: place.url,
  });
  const watcher = await Worker.start(new URL('./watcher.worker.js', import.meta.url), {
    address: await worker.call<string>('address'),
    pages: PAGES,
  });
  const drain = () => worker.call<Count>('drain', { n: messages });
  try {
    const [alone, beside] = (await alternate(
      [
        { name: 'no page open', pid: worker.pid, run: drain },
        {
          name: `${PAGES} pages open`,
          pid: worker.pid,
          run: async () => {
            await watcher.call('open');
            try {
              return await drain();
            } finally {
              await watcher.call('close');
            }
          },
        },
      ],
      rounds,
    )) as [SideResult, SideResult];
    book.sides('W3', name, [alone, beside]);
    book.figure({
      id: 'W3',
      database: name,
      what: `messages per second with ${PAGES} pages open ÷ without`,
      value: ratio(beside, alone),
      goal: ['>=', 0.95],
    });
  } finally {
    await watcher.stop();
    await worker.stop();
    await place.remove();
  }
}
