import { type DatabaseKind, makeDatabase } from '../harness/database.place.js';
import type { ResultBook } from '../harness/result.book.js';
import { alternate, ratio, type Side, type SideResult } from '../harness/rounds.js';
import { Worker } from '../harness/worker.client.js';

/** Requests in flight on every side. */
const WIDTH = 64;

export interface ThroughputExtent {
  /** Messages of one run of one side. */
  readonly messages: number;
  readonly rounds: number;
}

/**
 * D1: single messages per second from store to provider to store, divided by the durable limit, and by
 * requests without a store.
 */
export async function measureThroughput(
  book: ResultBook,
  kind: DatabaseKind,
  name: string,
  { messages, rounds }: ThroughputExtent,
): Promise<void> {
  const places = [
    await makeDatabase(kind),
    await makeDatabase(kind),
    await makeDatabase(kind),
  ] as const;
  const sink = await Worker.start(new URL('./sink.worker.js', import.meta.url));
  const address = await sink.call<string>('address');
  const common = { sink: address, dispatch: { concurrency: WIDTH } };
  const straight = await Worker.start(new URL('./store.worker.js', import.meta.url), {
    ...common,
    url: places[0].url,
  });
  const intercepted = await Worker.start(new URL('./store.worker.js', import.meta.url), {
    ...common,
    url: places[1].url,
    httpService: true,
  });
  const client = await Worker.start(new URL('./client.worker.js', import.meta.url), {
    sink: address,
    width: WIDTH,
  });
  const limit = await Worker.start(new URL('./limit.worker.js', import.meta.url), {
    sink: address,
    url: places[2].url,
    width: WIDTH,
  });
  const side = (title: string, worker: Worker, command: string): Side => ({
    name: title,
    pid: worker.pid,
    run: () => worker.call(command, messages),
  });
  try {
    const results = await alternate(
      [
        side('store, straight', straight, 'drain'),
        side('durable limit', limit, 'run'),
        side('no store, straight', client, 'straight'),
        side('store, HttpService', intercepted, 'drain'),
        side('no store, HttpService', client, 'intercepted'),
        side('undici pool', client, 'undici'),
      ],
      rounds,
    );
    book.sides('D1', name, results);
    const [own, durable, same, slow, slowSame, undici] = results as [
      SideResult,
      SideResult,
      SideResult,
      SideResult,
      SideResult,
      SideResult,
    ];
    const figure = (what: string, value: number, least?: number) =>
      book.figure({
        id: 'D1',
        database: name,
        what,
        value,
        ...(least && { goal: ['>=', least] as const }),
      });
    figure('store → wire → store ÷ the durable limit', ratio(own, durable), 0.8);
    figure('store → wire → store ÷ the same requests with no store', ratio(own, same));
    figure('the same with HttpService, both', ratio(slow, slowSame));
    figure('store → wire → store ÷ bare undici pool', ratio(own, undici));
  } finally {
    for (const worker of [straight, intercepted, limit, client, sink]) await worker.stop();
    for (const place of places) await place.remove();
  }
}

/** D2: the same against a job per message, the queue's limiter, `HttpService` and one UPDATE. */
export async function measureUsualWay(
  book: ResultBook,
  kind: DatabaseKind,
  name: string,
  { messages, rounds }: ThroughputExtent,
): Promise<void> {
  const places = [await makeDatabase(kind), await makeDatabase(kind)] as const;
  const sink = await Worker.start(new URL('./sink.worker.js', import.meta.url));
  const address = await sink.call<string>('address');
  const own = await Worker.start(new URL('./store.worker.js', import.meta.url), {
    url: places[0].url,
    sink: address,
    dispatch: { concurrency: WIDTH },
  });
  const usual = await Worker.start(new URL('./usual.worker.js', import.meta.url), {
    url: places[1].url,
    sink: address,
    width: WIDTH,
    redisUrl: process.env['TEST_REDIS_URL'] ?? 'redis://127.0.0.1:6379',
  });
  const few = Math.ceil(messages / 5);
  try {
    const [mine, theirs] = await alternate(
      [
        { name: 'store', pid: own.pid, run: () => own.call('drain', messages) },
        { name: 'job per message', pid: usual.pid, run: () => usual.call('run', few) },
      ],
      rounds,
    );
    if (!mine || !theirs) throw new Error('a side is missing');
    book.sides('D2', name, [mine, theirs]);
    book.figure({
      id: 'D2',
      database: name,
      what: 'store → wire → store ÷ BullMQ job per message, its limiter, HttpService, one UPDATE',
      value: ratio(mine, theirs),
      goal: ['>=', 5],
    });
  } finally {
    for (const worker of [own, usual, sink]) await worker.stop();
    for (const place of places) await place.remove();
  }
}
