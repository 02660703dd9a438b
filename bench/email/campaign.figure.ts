import { type DatabaseKind, makeDatabase } from '../harness/database.place.js';
import { memory, peakMemory, resetPeak } from '../harness/process.usage.js';
import type { ResultBook } from '../harness/result.book.js';
import { alternate, type Count, ratio } from '../harness/rounds.js';
import { Worker } from '../harness/worker.client.js';
import { FROM, HTML, recipientsOf, SUBJECT, TEXT } from './campaign.js';
import type { StoreStart } from './store.worker.js';

const RECIPIENTS = 100_000;

/** E3: one campaign of 100,000 recipients with variables: time and memory of its acceptance. */
export async function measureCampaign(
  book: ResultBook,
  kind: DatabaseKind,
  name: string,
  rounds: number,
): Promise<void> {
  const [own, bare] = [await makeDatabase(kind), await makeDatabase(kind)];
  const store = await Worker.start(new URL('./store.worker.js', import.meta.url), {
    url: own.url,
    sink: 'smtp://127.0.0.1:25',
    connections: 1,
    dispatch: { enabled: false },
  } satisfies StoreStart);
  const raw = await Worker.start(new URL('./raw.worker.js', import.meta.url), { url: bare.url });
  const message = (count: number) =>
    Buffer.from(
      JSON.stringify({
        from: FROM,
        recipients: recipientsOf(count),
        subject: SUBJECT,
        text: TEXT,
        html: HTML,
      }),
    );
  const bytes = message(RECIPIENTS);
  try {
    await store.call('accept', message(1));
    const idle = memory(store.pid);
    const peaks: number[] = [];
    const accept = async (): Promise<Count> => {
      resetPeak(store.pid);
      const count = await store.call<Count>('accept', bytes);
      peaks.push(peakMemory(store.pid) - idle);
      return count;
    };
    const [through, least] = await alternate(
      [
        { name: 'EmailService.send()', pid: store.pid, run: accept },
        {
          name: 'JSON.parse and raw insert',
          pid: raw.pid,
          run: () => raw.call('accept', bytes),
        },
      ],
      rounds,
    );
    if (!through || !least) throw new Error('a side is missing');
    book.sides('E3', name, [through, least]);
    book.figure({
      id: 'E3',
      database: name,
      what: '100,000 recipients with variables, time ÷ JSON.parse and raw insert of the same bytes',
      value: ratio(least, through),
      goal: ['<=', 3],
    });
    book.figure({
      id: 'E3',
      database: name,
      what: 'memory peak of the first such campaign above the idle app, with its JSON',
      value: peaks[0] ?? Number.NaN,
      unit: ' MiB',
      goal: ['<=', 96],
    });
  } finally {
    await store.stop();
    await raw.stop();
    await own.remove();
    await bare.remove();
  }
}
