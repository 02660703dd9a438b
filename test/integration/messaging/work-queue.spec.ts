import { afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { MESSAGING_MIGRATIONS } from '@dundun/messaging/migrations';
import {
  type LaneTask,
  type LeasedLane,
  type WorkQueue,
  WorkQueues,
} from '@dundun/messaging/queue';
import type { DataSource } from 'typeorm';
import { systemClock } from '../../../libs/messaging/src/ports/clock.js';
import { databaseOf } from '../../../libs/messaging/src/store/open-store.js';
import type { StoreDatabase } from '../../../libs/messaging/src/store/database/store-database.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';

const KEY = 'lane';
const LANE = 'test:lane';

/** Work that all processes of a test share: items by lane, and the lanes under way. */
class Work {
  readonly items: string[] = [];
  readonly done: string[] = [];
  holders = 0;
  mostHolders = 0;
  hang = false;

  queue(): WorkQueue {
    return {
      name: 'test',
      shutdownTimeout: 50,
      start: (leased) => new Task(this, leased),
      due: () => Promise.resolve(this.items.length > 0 ? [{ key: KEY, dueIn: 0 }] : []),
    };
  }
}

class Task implements LaneTask {
  readonly underWay = 'a test';
  #abort: () => void = () => undefined;
  #hanging: Promise<void> | undefined;

  constructor(
    private readonly work: Work,
    private readonly leased: LeasedLane,
  ) {}

  nudge(): void {
    this.leased.changed.wake();
  }

  async pump(): Promise<void> {
    const { work, leased } = this;
    work.mostHolders = Math.max(work.mostHolders, ++work.holders);
    for (let item = work.items.shift(); item !== undefined; item = work.items.shift()) {
      if (!leased.valid) throw new Error('the lease is over');
      work.done.push(item);
      await leased.changed.sleep(1);
      if (work.hang) this.#hanging ??= new Promise((resolve) => (this.#abort = resolve));
    }
    work.holders--;
  }

  async settle(): Promise<void> {
    await this.#hanging;
  }

  abort(): void {
    this.#abort();
  }

  nextDueIn(): Promise<number> {
    return Promise.resolve(this.work.items.length > 0 ? 0 : Infinity);
  }
}

describeEachDatabase('a queue of an application', (db) => {
  let source: DataSource;
  let work: Work;
  const processes: { queues: WorkQueues; database: StoreDatabase }[] = [];

  beforeAll(async () => {
    source = await db.open({ migrations: [...MESSAGING_MIGRATIONS], migrationsRun: true });
  });
  beforeEach(() => {
    work = new Work();
  });
  afterEach(async () => {
    for (const { queues, database } of processes.splice(0)) {
      await queues.stop();
      await database.close();
    }
  });

  async function start() {
    const database = databaseOf(source);
    await database.open();
    const queues = new WorkQueues({ database }, systemClock, {
      leaseTime: 30_000,
      shutdownTimeout: 1_000,
    });
    const wake = queues.add(work.queue());
    await queues.start();
    processes.push({ queues, database });
    return { queues, wake, database };
  }

  it('a queue of an app drains a lane in one process at a time and loses no wake', async () => {
    const all = [await start(), await start(), await start()];
    const items = Array.from({ length: 60 }, (_, n) => `item ${n}`);
    for (const item of items) {
      work.items.push(item);
      for (const { wake } of all) wake(KEY);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await eventually(async () => expect(work.done).toEqual(items));
    expect(work.mostHolders).toBe(1);
  });

  it('the wake job finds due lanes of an application without a wake', async () => {
    const { queues } = await start();
    work.items.push('without a wake');
    await queues.jobs[0]?.run(new AbortController().signal);
    await eventually(async () => expect(work.done).toEqual(['without a wake']));
  });

  it('a stop aborts a hanging drain at its deadline, and releases the lane', async () => {
    const { queues, wake, database } = await start();
    work.hang = true;
    work.items.push('hangs');
    wake(KEY);
    await eventually(async () => expect(work.done).toEqual(['hangs']));
    await queues.stop();
    const [lane] = await database.all('SELECT owner FROM messaging_lane WHERE lane_key = ?', [
      LANE,
    ]);
    expect(lane).toEqual({ owner: null });
  });

  it('two queues of an app cannot have one name', async () => {
    const { queues } = await start();
    expect(() => queues.add(work.queue())).toThrow('queue: there is one named test');
  });
});
