import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { DataSource } from 'typeorm';
import { fillStore } from '../../test/support/filled-store.js';
import { dataSourceOptions } from '../harness/data.source.js';
import { makeDatabase } from '../harness/database.place.js';
import { cpuMilliseconds } from '../harness/process.usage.js';
import type { ResultBook } from '../harness/result.book.js';
import { Worker } from '../harness/worker.client.js';
import { REDIS } from './travel.figure.js';

/** Load of an idle worker on CPU, broker and database. */
export async function measureIdle(
  book: ResultBook,
  name: string,
  { lanes, seconds }: { lanes: number; seconds: number },
): Promise<void> {
  const place = await makeDatabase('postgres');
  const redis = new Redis(REDIS);
  const worker = await Worker.start(new URL('./app.worker.js', import.meta.url), {
    url: place.url,
    sink: 'http://127.0.0.1:9',
    redis: { connection: REDIS, queue: `bench-${randomBytes(6).toString('hex')}` },
  });
  try {
    const source = await new DataSource(dataSourceOptions(place.url)).initialize();
    await fillStore(source, 'postgres', {
      batches: 1_000,
      recipients: 1,
      lanes,
      scheduled: lanes,
    });
    await source.destroy();
    const read = async () => ({
      cpu: cpuMilliseconds(worker.pid),
      commands: Number(/total_commands_processed:(\d+)/.exec(await redis.info('stats'))?.[1]),
    });
    const before = await read();
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
    const after = await read();
    const figure = (what: string, value: number, unit: string) =>
      book.figure({
        id: 'idle',
        database: name,
        what: `${lanes.toLocaleString('en')} lanes, nothing due: ${what}`,
        value,
        unit,
      });
    figure('CPU of a worker', (after.cpu - before.cpu) / (seconds * 10), ' %');
    figure('Redis commands a minute', ((after.commands - before.commands) * 60) / seconds, '');
  } finally {
    await worker.stop();
    redis.disconnect();
    await place.remove();
  }
}
