import type { Extent } from '../harness/extent.js';
import { type DatabaseKind, makeDatabase } from '../harness/database.place.js';
import { HttpLoad } from '../harness/http.load.js';
import type { ResultBook } from '../harness/result.book.js';
import { alternate, ratio, type Side } from '../harness/rounds.js';
import { Worker } from '../harness/worker.client.js';
import { callbackBody } from './campaign.js';

const CONNECTIONS = 64;
const REQUEST = { path: '/reports', headers: { 'content-type': 'application/json' } };

const LIBRARY = new URL('./library.worker.js', import.meta.url);
const BARE = new URL('./bare.worker.js', import.meta.url);
const SIDES = [
  { name: 'the library', module: LIBRARY, mode: undefined },
  { name: 'bare Fastify, raw driver, grouped', module: BARE, mode: 'grouped' },
  { name: 'one raw UPDATE per request', module: BARE, mode: 'update' },
  { name: 'repository find and save', module: BARE, mode: 'save' },
] as const;

/** R1 and R2: report callbacks a second to a durable status, one report each. */
export async function measureReports(
  book: ResultBook,
  kind: DatabaseKind,
  name: string,
  { ms, rounds }: Extent,
): Promise<void> {
  const stops: (() => Promise<void>)[] = [];
  try {
    const sides: Side[] = [];
    for (const { name: side, module, mode } of SIDES) {
      const place = await makeDatabase(kind);
      stops.unshift(() => place.remove());
      const worker = await Worker.start(module, { url: place.url, mode });
      stops.unshift(() => worker.stop());
      const load = new HttpLoad(await worker.call<string>('address'), CONNECTIONS, REQUEST);
      stops.unshift(() => load.close());
      const batch = await worker.call<string>('batch');
      let n = 0;
      sides.push({
        name: side,
        pid: worker.pid,
        run: () => load.run(ms, () => callbackBody(batch, n++)),
      });
    }
    const [library, bare, update, save] = await alternate(sides, rounds);
    if (!library || !bare || !update || !save) throw new Error('a side is missing');
    book.sides('R', name, [library, bare, update, save]);
    book.figure({
      id: 'R1',
      database: name,
      what: `reports to durable status through the library ÷ bare Fastify with the same group commit by the raw driver, ${CONNECTIONS} in flight`,
      value: ratio(library, bare),
      goal: ['>=', 0.85],
    });
    book.figure({
      id: 'R2',
      database: name,
      what: 'the same ÷ one raw UPDATE per request',
      value: ratio(library, update),
      goal: ['>=', kind === 'postgres' ? 2 : 3],
    });
    book.figure({
      id: 'R2',
      database: name,
      what: 'the same ÷ repository find and save',
      value: ratio(library, save),
      goal: ['>=', 10],
    });
  } finally {
    for (const stop of stops) await stop();
  }
}
