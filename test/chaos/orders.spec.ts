import { afterEach, beforeAll, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { operatorKeyOf } from '../../libs/messaging/src/channels/vas/vas-order.js';
import { STATUS_RANK } from '../../libs/messaging/src/message/status.js';
import { describeEachDatabase } from '../support/databases.js';
import { App } from './app.js';
import { CompiledSources } from './compiled-sources.js';
import { LaneOrders } from './order.js';
import { POINTS, type Point } from './processes/protocol.js';
import { shareOf } from './short-form.js';
import { until } from './until.js';
import { Upstream } from './upstream.js';

const full = process.env['CHAOS'] === 'full';
const ORDERS = full ? 100 : 20;

const KILLS: readonly Point[] = [...POINTS, 'before-report', 'after-report'];

const MANNERS = ['answering', 'losing'];
const OUTAGES = ['refusing', 'hanging'] as const;

interface OrderRow {
  readonly reference: string;
  readonly status: number | null;
}

describeEachDatabase('kill -9 while orders leave', (database) => {
  let sources: CompiledSources;
  let store: DataSource;
  let app: App | undefined;
  let operator: Upstream | undefined;
  let runs = 0;
  /** Requests that processes have started. */
  let starts = 0;

  beforeAll(async () => {
    sources = await CompiledSources.make();
    store = await database.open();
  });
  afterEach(async () => {
    await app?.end();
    await operator?.stop();
  });

  const lanes = new LaneOrders();
  const startApp = async (url: string) => {
    app = await App.start(
      sources.path('order-app.process.js'),
      { database: database.url, operator: url },
      (event, from) => {
        if (event.event === 'starting') starts++;
        lanes.hear(event, from);
      },
    );
    const started = app;
    void started.ended.then(() => lanes.died(started));
    return app;
  };
  const rows = (run: string) =>
    store.query<OrderRow[]>(
      `SELECT o.reference, m.status FROM messaging_vas_order o
       LEFT JOIN messaging_message m ON m.batch = o.batch WHERE o.reference LIKE '${run}-%'`,
    );

  const begin = async (manner: string) => {
    const script = sources.path('order-operator.process.js');
    const run = `run${++runs}`;
    operator = await Upstream.start(script, manner);
    const sends = Array.from({ length: ORDERS }, (_, n) => ({
      key: `${run}-${n}`,
      tenant: '',
      to: [`23480${runs}${String(n).padStart(7, '0')}`],
    }));
    return { run, sends, operator };
  };
  type Run = Awaited<ReturnType<typeof begin>>;
  const keyOf = ({ reference }: OrderRow) => operatorKeyOf('', reference);

  /** Starts the last process, which repeats every order; then the operator's log and the store have to agree. @returns credits */
  const agree = async ({ run, sends, operator: { url } }: Run) => {
    const last = await startApp(url);
    last.tell({ command: 'send', sends });
    const credits = async () => (await (await fetch(`${url}/book`)).json()) as string[];
    const settled = async () => {
      const [all, book] = [await rows(run), await credits()];
      const open = all.filter(({ status }) => status === null || status < STATUS_RANK.unknown);
      const lost = all.filter(
        (row) => book.includes(keyOf(row)) && row.status !== STATUS_RANK.delivered,
      );
      return all.length === ORDERS && open.length === 0 && lost.length === 0;
    };
    await until(settled, 90_000, 'orders');
    const book = await credits();
    expect(new Set(book).size).toBe(book.length);
    const all = await rows(run);
    const wrong = all.filter(
      (row) => row.status === STATUS_RANK.delivered && !book.includes(keyOf(row)),
    );
    expect(wrong).toEqual([]);
    const statuses = new Set(all.map(({ status }) => Number(status)));
    expect([...statuses].filter((one) => ![30, 90].includes(one))).toEqual([]);
    expect(await lanes.passed(store)).toEqual([]);
    return book.length;
  };

  it.each(MANNERS)(
    'no order is credited twice by an operator that is %s, and each credit is found',
    async (manner) => {
      const started = await begin(manner);
      const { sends } = started;
      const isOdd = manner === 'losing';
      const kills = KILLS.filter((_, index) => full || (index % 2 === 1) === isOdd);
      for (const point of shareOf(kills, database.kind)) {
        const worker = await startApp(started.operator.url);
        if (point === 'on-the-wire') {
          const held = new Promise<string>((resolve) => started.operator.onHeld(resolve));
          await fetch(`${started.operator.url}/faults`);
          void held.then(() => worker.end('SIGKILL'));
        } else worker.tell({ command: 'arm', point, nth: 1, fault: 'SIGKILL' });
        // The caller repeats every order under its reference after each kill.
        worker.tell({ command: 'send', sends });
        await new Promise((resolve) => setTimeout(resolve, 1_500));
        await worker.end('SIGKILL');
      }
      expect(await agree(started)).toBeGreaterThan(0);
    },
  );

  it.each(shareOf(OUTAGES, database.kind))(
    'no order is credited twice while the operator is %s and the process is killed',
    async (outage) => {
      const started = await begin('answering');
      const { sends, operator: away } = started;
      const [before, later] = [sends.slice(0, ORDERS / 2), sends.slice(ORDERS / 2)];
      const first = await startApp(away.url);
      first.tell({ command: 'send', sends: before });
      await until(async () => (await away.book()).length > 2, 30_000, 'credits');
      await away.fail(outage);
      // Products are remembered, so that orders are accepted without the operator.
      first.tell({ command: 'send', sends: later });
      await until(async () => (await rows(started.run)).length === ORDERS, 30_000, 'accepted');
      await first.end('SIGKILL');
      const second = await startApp(away.url);
      const tries = starts;
      await until(async () => starts > tries, 30_000, 'a try while the operator is away');
      await second.end('SIGKILL');
      await away.fail('none');
      expect(await agree(started)).toBeGreaterThan(0);
    },
  );
});
