import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { describeEachDatabase } from '../support/databases.js';
import { App } from './app.js';
import { CompiledSources } from './compiled-sources.js';
import { LaneOrders } from './order.js';
import type { Point } from './processes/protocol.js';
import { shareOf } from './short-form.js';
import { until } from './until.js';

const NOTIFICATIONS = process.env['CHAOS'] === 'full' ? 100 : 12;

const KILLS: readonly Point[] = [
  'before-outcome',
  'after-outcome',
  'before-step',
  'inside-step',
  'after-step',
];

interface Row {
  readonly status: string;
  readonly steps: string;
}

describeEachDatabase('kill -9 between the steps of notifications', (database) => {
  let sources: CompiledSources;
  let store: DataSource;
  let directory: string;
  let app: App | undefined;

  beforeAll(async () => {
    sources = await CompiledSources.make();
    store = await database.open();
    directory = await mkdtemp(join(tmpdir(), 'dundun-notifications-'));
  });
  afterEach(async () => {
    await app?.end();
    await rm(directory, { recursive: true, force: true });
  });

  it('each notification falls back once and arrives, and each lane keeps its order', async () => {
    const book = join(directory, 'book');
    const lanes = new LaneOrders();
    const start = async () => {
      const started = await App.start(
        sources.path('notification-app.process.js'),
        { database: database.url, book },
        (event, from) => lanes.hear(event, from),
      );
      void started.ended.then(() => lanes.died(started));
      return (app = started);
    };
    const sends = Array.from({ length: NOTIFICATIONS }, (_, n) => ({
      key: `notification-${n}`,
      tenant: '',
      to: [`23480${String(n).padStart(8, '0')}`],
    }));
    let killed = 0;
    const kills = shareOf(KILLS, database.kind);
    for (const [index, point] of kills.entries())
      for (const _twice of [1, 2]) {
        const process = await start();
        process.tell({ command: 'arm', point, nth: 1, fault: 'SIGKILL' });
        // The caller repeats its sends under their keys after each kill.
        process.tell({
          command: 'send',
          sends: sends.slice(0, (index + 1) * Math.ceil(NOTIFICATIONS / kills.length)),
        });
        const end = await Promise.race([
          process.ended,
          new Promise<undefined>((resolve) => setTimeout(resolve, 5_000, undefined)),
        ]);
        if (end === 'SIGKILL') killed++;
        await process.end('SIGKILL');
      }
    expect(killed).toBeGreaterThanOrEqual(kills.length);

    const last = await start();
    last.tell({ command: 'send', sends });
    const rows = () => store.query<Row[]>('SELECT status, steps FROM messaging_notification');
    await until(
      async () => {
        const all = await rows();
        return all.length === NOTIFICATIONS && all.every(({ status }) => status === 'delivered');
      },
      90_000,
      'delivered notifications',
    );
    const taken = (await readFile(book, 'utf8')).trim().split('\n');
    const numbers = [...new Set(taken)].map((line) => line.split(' ')[0]);
    expect(numbers.toSorted()).toEqual(sends.map(({ to: [number] }) => number).toSorted());
    const [batches] = await store.query<{ count: string | number }[]>(
      'SELECT count(*) AS count FROM messaging_batch',
    );
    expect(Number(batches?.count)).toBe(2 * NOTIFICATIONS);
    expect(await lanes.passed(store)).toEqual([]);
    for (const { steps } of await rows())
      expect(JSON.parse(steps)).toMatchObject([
        { channel: 'voice', status: 'rejected' },
        { channel: 'sms', status: 'delivered', reason: 'failed' },
      ]);
  });
});
