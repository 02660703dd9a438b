import Database from 'libsql';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type DatabaseKind, type DatabasePlace, makeDatabase } from '../harness/database.place.js';
import { moment } from '../harness/moment.js';
import type { ResultBook } from '../harness/result.book.js';
import { Worker } from '../harness/worker.client.js';
import type { StoreWorkerOptions } from './store.worker.js';
import { readStarts, type Start } from './logged.transport.js';
import { meanRate, worstWindow } from './window.js';

/** A third of it, in which the former holder has stopped, is longer than the rate window. */
const LEASE = 4_000;

/** Warm-up messages of each process, in lanes without a limit. */
const WARM_UP = 15_000;
/** The measured lane. */
const LANE = ':sms';

interface Scenario {
  readonly rate: number;
  readonly replicas: number;
  /** The limit of the lane, or of the provider. */
  readonly of: 'lane' | 'provider';
}

interface Pace {
  /** Most messages in any second. */
  readonly worst: number;
  readonly mean: number;
}

/**
 * D4: the worst second and the mean against the limit, at the starts and at the receiver, which is a
 * process of its own, in one process, and in three with one killed.
 */
export async function measureRate(
  book: ResultBook,
  kind: DatabaseKind,
  name: string,
  { ms, full }: { ms: number; full: boolean },
): Promise<void> {
  for (const rate of full ? [20, 200, 2_000] : [200, 2_000])
    for (const of of ['lane', 'provider'] as const)
      for (const replicas of full || rate === 200 ? [1, 3] : [1]) {
        const paces = await run(kind, { rate, replicas, of }, ms);
        const how = replicas === 1 ? '1 replica' : '3 replicas, the sending one killed half-way';
        for (const [where, { worst, mean }] of Object.entries(paces)) {
          const what = `÷ limit of the ${of}, ${rate}/s, ${where}, ${how}`;
          book.figure({
            id: 'D4',
            database: name,
            what: `worst second ${what}`,
            value: worst / rate,
            goal: ['<=', 1],
          });
          book.figure({
            id: 'D4',
            database: name,
            what: `mean ${what}`,
            value: mean / rate,
            goal: ['>=', 0.98],
          });
        }
      }
}

async function run(
  kind: DatabaseKind,
  { rate, replicas, of }: Scenario,
  ms: number,
): Promise<{ starts: Pace; receiver: Pace }> {
  const place = await makeDatabase(kind);
  const directory = await mkdtemp(join(tmpdir(), 'dundun-bench-starts-'));
  const sink = await Worker.start(new URL('./sink.worker.js', import.meta.url));
  const workers: Worker[] = [];
  const start = async (options: Partial<StoreWorkerOptions>) => {
    const worker = await Worker.start(new URL('./store.worker.js', import.meta.url), {
      url: place.url,
      sink: await sink.call<string>('address'),
      ...options,
      dispatch: {
        lease: LEASE,
        concurrency: 64,
        ...options.dispatch,
      },
    });
    return worker;
  };
  const logOf = (index: number) => join(directory, `${index}.starts`);
  try {
    const limit = of === 'lane' ? { rate } : { providerRate: rate };
    const seeder = await start({ dispatch: { enabled: false } });
    await seeder.call('reserve', Math.ceil((rate * (ms * replicas + 4_000)) / 1_000));
    await seeder.stop();
    for (let index = 0; index < replicas; index++) {
      const worker = await start({ ...limit, startLog: logOf(index) });
      workers.push(worker);
      const n = of === 'lane' ? WARM_UP : rate;
      await worker.call('warm', { n, as: index });
    }
    const released = await (workers[0] as Worker).call<number>('release');
    const logs = () =>
      workers.map((_, index) => readStarts(logOf(index)).filter(({ at }) => at >= released));
    await starts(logs, 1);
    if (replicas === 1) {
      await sleep(ms + 1_000);
      const [all] = logs() as [Start[]];
      const received = await arrivals(sink, released);
      return { starts: paceOf(all), receiver: paceOf(received) };
    }
    await sleep(ms);
    // A slow machine may have moved the lane already: the holder is the process that sent last.
    const latest = logs().map((log) => log.at(-1)?.at ?? 0);
    const owner = latest.indexOf(Math.max(...latest));
    const taken = nextLease(place);
    await (workers[owner] as Worker).kill();
    const newLease = await taken;
    const before = (logs()[owner] as Start[]).length;
    await starts(() => logs().filter((_, index) => index !== owner), 1);
    await sleep(ms);
    const all = logs();
    const dead = all[owner] as Start[];
    if (dead.length !== before) throw new Error('the dead sent on');
    const merged = all.flat().sort((a, b) => a.at - b.at);
    const last = (dead.at(-1) as Start).at;
    const received = await arrivals(sink, released);
    const gap = newLease - last;
    return { starts: paceOf(merged, gap, last), receiver: paceOf(received, gap, last) };
  } finally {
    for (const worker of workers) await worker.kill();
    await sink.stop();
    await place.remove();
    await rm(directory, { recursive: true });
  }
}

/** Requests have one message each. */
async function arrivals(sink: Worker, from: number): Promise<Start[]> {
  const times = await sink.call<number[]>('received');
  return times.filter((at) => at >= from).map((at) => ({ at, messages: 1 }));
}

/** The first second is warm-up for the mean, not for the ceiling. */
function paceOf(all: readonly Start[], gap?: number, until?: number): Pace {
  return { worst: worstWindow(all), mean: meanRate(since(all, 1_000), gap, until) };
}

function since(starts: readonly Start[], ms: number): Start[] {
  const from = (starts[0] as Start).at + ms;
  return starts.filter(({ at }) => at >= from);
}

async function starts(logs: () => Start[][], least: number): Promise<void> {
  const deadline = moment() + 60_000;
  while (logs().reduce((sum, log) => sum + log.length, 0) < least) {
    if (moment() > deadline) throw new Error('nobody sends');
    await sleep(5);
  }
}

/** Resolves when the lane's fence grows: another process holds it. */
async function nextLease({ url }: DatabasePlace): Promise<number> {
  const fence = await openFence(url);
  try {
    const first = await fence.read();
    const deadline = moment() + 60_000;
    while ((await fence.read()) === first) {
      if (moment() > deadline) throw new Error('nobody took the lane over');
      await sleep(2);
    }
    return moment();
  } finally {
    await fence.close();
  }
}

interface Fence {
  read(): Promise<number>;
  close(): Promise<void>;
}

async function openFence(url: string): Promise<Fence> {
  const sql = `SELECT max(fence) AS fence FROM messaging_lane WHERE lane_key = '${LANE}'`;
  if (url.startsWith('sqlite:')) {
    const database = new Database(url.slice('sqlite:'.length), { timeout: 1_000 });
    const statement = database.prepare(sql);
    return {
      read: async () => (statement.get() as { fence: number }).fence,
      close: async () => void database.close(),
    };
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    read: async () => Number((await client.query<{ fence: string }>(sql)).rows[0]?.fence),
    close: () => client.end(),
  };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
