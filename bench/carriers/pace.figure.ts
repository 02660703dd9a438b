import { setTimeout as sleep } from 'node:timers/promises';
import { meanRate, worstWindow } from '../dispatch/window.js';
import { type DatabaseKind, makeDatabase } from '../harness/database.place.js';
import type { ResultBook } from '../harness/result.book.js';
import { Worker } from '../harness/worker.client.js';

/** Messages a second of one number at Meta. */
const RATE = 80;
/** Start of the process, its connections and its first messages. */
const WARM_UP = 2_000;

/** V5: templates of two tenants through one provider with a rate, as they arrive at the receiver. */
export async function measurePace(
  book: ResultBook,
  kind: DatabaseKind,
  name: string,
  ms: number,
): Promise<void> {
  const place = await makeDatabase(kind);
  const meta = await Worker.start(new URL('./meta.worker.js', import.meta.url));
  const app = await Worker.start(new URL('./whatsapp.worker.js', import.meta.url), {
    url: place.url,
    meta: await meta.call<string>('address'),
    rate: RATE,
  });
  try {
    // More than can leave: the rate alone decides.
    await app.call('send', Math.ceil((RATE * (ms + WARM_UP) * 1.2) / 1_000));
    await sleep(WARM_UP);
    await meta.call('arrivals');
    await sleep(ms);
    const arrivals = await meta.call<number[]>('arrivals');
    const starts = arrivals.map((at) => ({ at, messages: 1 }));
    const figure = (what: string, value: number, goal: readonly ['>=' | '<=', number]) =>
      book.figure({ id: 'V5', database: name, what, value: value / RATE, goal });
    figure('WhatsApp at 80/s, mean ÷ the limit', meanRate(starts), ['>=', 0.98]);
    figure('the worst second at the receiver ÷ the limit', worstWindow(starts), ['<=', 1]);
  } finally {
    await app.stop();
    await meta.stop();
    await place.remove();
  }
}
