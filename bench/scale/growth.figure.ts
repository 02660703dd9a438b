import { DataSource } from 'typeorm';
import { fillStore } from '../../test/support/filled-store.js';
import { dataSourceOptions } from '../harness/data.source.js';
import { type DatabasePlace, makeDatabase } from '../harness/database.place.js';
import type { ResultBook } from '../harness/result.book.js';
import { alternate, ratio, type Side, type SideResult } from '../harness/rounds.js';
import { Worker } from '../harness/worker.client.js';

const SINK = new URL('../dispatch/sink.worker.js', import.meta.url);
/** Rows of one single message: batch, chunk, submission, message, report. */
const ROWS = 5;
const LANES = 10_000;

export interface GrowthExtent {
  readonly rows: number;
  /** Messages in one run of one side. */
  readonly messages: number;
  readonly rounds: number;
}

/** S1: cost of a message from store to provider to store, by the size of the store and the number of lanes. */
export async function measureGrowth(
  book: ResultBook,
  name: string,
  { rows, messages, rounds }: GrowthExtent,
): Promise<void> {
  const sink = await Worker.start(SINK);
  const address = await sink.call<string>('address');
  const places: DatabasePlace[] = [];
  const workers: Worker[] = [];
  const open = async (batches: number, lanes: number): Promise<Worker> => {
    const place = await makeDatabase('postgres');
    places.push(place);
    const worker = await Worker.start(new URL('./app.worker.js', import.meta.url), {
      url: place.url,
      sink: address,
      dispatch: { concurrency: 64 },
    });
    workers.push(worker);
    const source = await new DataSource(dataSourceOptions(place.url)).initialize();
    await source.query('SET synchronous_commit = off');
    await fillStore(source, 'postgres', { batches, recipients: 1, lanes, scheduled: lanes });
    await source.destroy();
    return worker;
  };
  const side = (title: string, worker: Worker, lanes: number): Side => ({
    name: title,
    pid: worker.pid,
    run: () => worker.call('drain', { n: messages - lanes, lanes }),
  });
  try {
    const small = await open(1_000 / ROWS, 1);
    const big = await open(rows / ROWS, LANES);
    const spread = Math.min(LANES, messages) / 2;
    const [one, grown, over] = (await alternate(
      [
        side('1,000 rows, one lane known', small, 1),
        side(
          `${rows.toLocaleString('en')} rows, ${LANES.toLocaleString('en')} lanes with work to come`,
          big,
          1,
        ),
        side(`the same, two messages in each of ${spread.toLocaleString('en')} lanes`, big, spread),
      ],
      rounds,
    )) as [SideResult, SideResult, SideResult];
    book.sides('S1', name, [one, grown, over]);
    book.figure({
      id: 'S1',
      database: name,
      what: `cost per message at ${rows.toLocaleString('en')} rows and ${LANES.toLocaleString('en')} lanes ÷ at 1,000 and one`,
      value: ratio(one, grown),
      goal: ['<=', 1.3],
    });
    book.figure({
      id: 'S1',
      database: name,
      what: `two messages in each of ${spread.toLocaleString('en')} lanes ÷ all in one lane, same store`,
      value: ratio(grown, over),
      goal: ['<=', 1.2],
    });
    const costs = grown.rates.map((rate, round) => rate / (over.rates[round] ?? Number.NaN));
    book.figure({
      id: 'S1',
      database: name,
      what: `the same: its highest round − its lowest of ${rounds}`,
      value: Math.max(...costs) - Math.min(...costs),
      goal: ['<=', 0.15],
    });
  } finally {
    for (const worker of [...workers, sink]) await worker.stop();
    for (const place of places) await place.remove();
  }
}
