import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { randomBytes } from 'node:crypto';
import { UncertainFailure } from '@dundun/messaging/ports';
import { bullMq } from '@dundun/messaging/bullmq';
import { describeEachDatabase, type TestDatabase } from '../../support/databases.js';
import type { FlatOptions } from '../../support/flat-options.js';
import { eventually } from '../../support/eventually.js';
import { describeUnless } from '../../support/servers.js';
import { PrivateRedis } from '../../chaos/private-redis.js';
import { type DispatchApp, DispatchFixture, Gate, textOf } from '../dispatch/dispatch-fixture.js';
import { Relay } from '../../support/relay.js';

/** Milliseconds a wake may take to reach the broker. */
const DEADLINE = 200;

/** The same where the broker is there: nothing else tells the worker, however busy the machine. */
const AMPLE = 60_000;

/** A process that accepts, and one that drains, with a broker between them. */
class Pair {
  readonly #fixture: DispatchFixture;

  constructor(database: TestDatabase) {
    this.#fixture = new DispatchFixture(database);
  }

  #options: FlatOptions = {};

  api!: DispatchApp;
  worker!: DispatchApp;

  async boot(
    url: string,
    {
      jobs = false,
      deadline = DEADLINE,
      ...options
    }: FlatOptions & { jobs?: boolean; deadline?: number } = {},
  ): Promise<void> {
    const queue = `test-${randomBytes(6).toString('hex')}`;
    const engine = bullMq({ connection: url, queue, deadline });
    this.#options = { ...options, engine };
    this.api = await this.#fixture.boot({ ...this.#options, dispatch: false });
    this.worker = await this.another(jobs);
  }

  /** @param jobs false: nothing but the broker tells this worker */
  async another(jobs = false): Promise<DispatchApp> {
    const schedule = [ScheduleModule.forRoot()];
    const worker = await this.#fixture.boot(this.#options, undefined, undefined, schedule);
    if (!jobs) worker.app.get(SchedulerRegistry).deleteInterval('messaging.wake');
    return worker;
  }

  send(text: string): Promise<string> {
    return this.api.send(text);
  }

  health(of: DispatchApp = this.api): Promise<unknown> {
    return of.messaging.engineHealth();
  }

  close(): Promise<void> {
    return this.#fixture.clear();
  }
}

describeUnless(PrivateRedis.missing, 'a broker between two processes on redis', () => {
  describeEachDatabase(
    'bullmq',
    (database) => {
      let redis: PrivateRedis;
      let pair: Pair;

      beforeAll(async () => {
        redis = await PrivateRedis.start();
        pair = new Pair(database);
      });
      afterEach(async () => {
        redis.thaw();
        await pair.close();
        await redis.restart();
      });
      afterAll(() => redis.kill());

      it('a message accepted by one process is sent by another', async () => {
        await pair.boot(redis.url, { deadline: AMPLE });
        await pair.send('hello');
        await expectLeft(pair, 'hello');
        expect(pair.api.transport.started).toEqual([]);
        expect(await pair.health()).toEqual({ state: 'up', reason: null });
      });

      it("a caller's transaction wakes the lane after its commit", async () => {
        await pair.boot(redis.url, { deadline: AMPLE });
        await pair.api.messaging.transaction((manager) => pair.api.send('ours', { manager }));
        await expectLeft(pair, 'ours');
      });

      it('messages that arrive during a drain are sent', async () => {
        await pair.boot(redis.url, { concurrency: 1, deadline: AMPLE });
        const gate = new Gate();
        const begun = new Gate();
        pair.worker.transport.script = async (submission) => {
          begun.open();
          if (submission.attempt === 1) await gate.opened;
        };
        await pair.send('first');
        await begun.opened;
        for (let i = 0; i < 20; i++) await pair.send(`then ${i}`);
        gate.open();
        await expectLeft(pair, 'then 19');
        expect(pair.worker.transport.texts).toEqual([
          'first',
          ...Array.from({ length: 20 }, (_, i) => `then ${i}`),
        ]);
      });

      it('a scheduled message leaves at its time', async () => {
        await pair.boot(redis.url, { deadline: AMPLE });
        const sendAt = new Date(Date.now() + 300);
        await pair.api.sms.send({ from: 'ACME', to: '2348012345678', body: 'later', sendAt });
        await expectLeft(pair, 'later');
        expect(Date.now()).toBeGreaterThanOrEqual(sendAt.getTime());
      });

      it('an unreachable broker delays no send and messages still leave', async () => {
        await pair.boot(redis.url, { jobs: true });
        await redis.kill();
        for (let i = 0; i < 5; i++) await pair.send(`away ${i}`);
        await expectLeft(pair, 'away 4');
        expect(await pair.health()).toEqual({
          state: 'degraded',
          reason: expect.stringContaining('cannot be reached'),
        });
        await redis.restart();
        await eventually(async () => expect(await pair.health()).toMatchObject({ state: 'up' }));
      });

      it('wakes go through the broker again after it returns', async () => {
        await pair.boot(redis.url);
        await redis.kill();
        await pair.send('away');
        await redis.restart();
        await expectWakes(pair);
        await expectLeft(pair, 'away');
      });

      it('an app starts without the broker and connects later', async () => {
        await redis.kill();
        await pair.boot(redis.url);
        expect(await pair.health()).toMatchObject({ state: 'degraded' });
        await redis.restart();
        await expectWakes(pair);
      });

      it('a broker that never answers delays no send', async () => {
        await pair.boot(redis.url, { jobs: true });
        redis.freeze();
        for (let i = 0; i < 5; i++) await pair.send(`frozen ${i}`);
        await expectLeft(pair, 'frozen 4');
        expect(await pair.health()).toEqual({
          state: 'degraded',
          reason: expect.stringContaining('does not answer'),
        });
        redis.thaw();
        await eventually(async () => expect(await pair.health()).toMatchObject({ state: 'up' }));
      });

      it('wakes go through the broker again after it was frozen', async () => {
        await pair.boot(redis.url);
        redis.freeze();
        await pair.send('frozen');
        expect(await pair.health()).toMatchObject({ state: 'degraded' });
        redis.thaw();
        await expectWakes(pair);
      });

      it('a broker frozen for longer than a lease loses and doubles no message', async () => {
        await pair.boot(redis.url, { jobs: true, concurrency: 1, lease: '1s' });
        const workers = [pair.worker, await pair.another(true)];
        const begun = new Gate();
        const gate = new Gate();
        for (const { transport } of workers)
          transport.script = async () => {
            begun.open();
            await gate.opened;
          };
        await pair.send('at work');
        await begun.opened;
        const granted = await leaseOf(pair);
        redis.freeze();
        for (const text of ['frozen 1', 'frozen 2']) await pair.send(text);
        // The job's own lock is shorter: the broker takes it for abandoned.
        await eventually(async () =>
          expect((await leaseOf(pair)) - granted).toBeGreaterThan(2_000_000),
        );
        redis.thaw();
        await pair.send('thawed');
        gate.open();
        const sent = ['at work', 'frozen 1', 'frozen 2', 'thawed'];
        const texts = () => workers.map(({ transport }) => transport.texts);
        // A worker that a busy machine froze for a lease has its submission sent by the other, under the same key.
        const once = () => {
          const accepted = workers.flatMap(({ transport }) => transport.accepted);
          return [...new Map(accepted.map((one) => [one.id, textOf(one)])).values()];
        };
        await eventually(async () => expect(once().toSorted()).toEqual(sent));
        // The lane moves between processes and each sends in order.
        for (const some of texts()) expect(some).toEqual(some.toSorted());
      });

      it('a broker that accepts wakes and delivers no jobs is named, and messages leave', async () => {
        await pair.boot(redis.url, { jobs: true, deadline: AMPLE });
        await redis.call('ACL', 'SETUSER', 'default', '-bzpopmin');
        await eventually(async () =>
          expect(await pair.health(pair.worker)).toEqual({
            state: 'degraded',
            reason: expect.stringContaining('refuses the credential'),
          }),
        );
        expect(await pair.health()).toEqual({ state: 'up', reason: null });
        await pair.send('not handed out');
        await expectLeft(pair, 'not handed out');
      });

      it('a stop does not wait for the broker', async () => {
        await pair.boot(redis.url);
        redis.freeze();
        await pair.send('frozen');
        await expect(pair.api.app.close()).resolves.toBeUndefined();
        await redis.kill();
        await expect(pair.worker.app.close()).resolves.toBeUndefined();
      });

      it('silently dead connections to the broker are replaced', async () => {
        const relay = await Relay.start(redis.url);
        await pair.boot(relay.url);
        await expectWakes(pair);
        relay.lose();
        await expectWakes(pair);
        await pair.close();
        await relay.stop();
      });

      it('a wiped broker loses no message', async () => {
        await pair.boot(redis.url, { jobs: true, concurrency: 1 });
        const gate = new Gate();
        const begun = new Gate();
        pair.worker.transport.script = async () => {
          begun.open();
          await gate.opened;
        };
        await pair.send('at work');
        await begun.opened;
        await pair.send('waiting');
        await redis.call('FLUSHALL');
        gate.open();
        await expectLeft(pair, 'waiting');
        await pair.send('after');
        await expectLeft(pair, 'after');
        expect(pair.worker.transport.texts).toEqual(['at work', 'waiting', 'after']);
      });

      it('a broker without memory is named and messages leave', async () => {
        await pair.boot(redis.url, { jobs: true, deadline: AMPLE });
        await redis.call('CONFIG', 'SET', 'maxmemory', '1');
        await pair.send('no room');
        await expectLeft(pair, 'no room');
        for (const app of [pair.api, pair.worker])
          expect(await pair.health(app)).toEqual({
            state: 'degraded',
            reason: expect.stringContaining('out of memory'),
          });
        const before = await commandsOf(redis);
        await pair.send('still none');
        await expectLeft(pair, 'still none');
        // A refusing broker is not retried in a tight loop.
        expect((await commandsOf(redis)) - before).toBeLessThan(1_000);
        await redis.call('CONFIG', 'SET', 'maxmemory', '0');
        await eventually(async () => expect(await pair.health()).toMatchObject({ state: 'up' }));
      });

      it('a read-only broker is named and messages leave', async () => {
        await pair.boot(redis.url, { jobs: true });
        await redis.call('REPLICAOF', '127.0.0.1', '1');
        await pair.send('read only');
        await expectLeft(pair, 'read only');
        await eventually(async () =>
          expect(await pair.health()).toEqual({
            state: 'degraded',
            reason: expect.stringContaining('read-only replica'),
          }),
        );
        await redis.call('REPLICAOF', 'NO', 'ONE');
        await eventually(async () => expect(await pair.health()).toMatchObject({ state: 'up' }));
      });

      it('a lane whose release failed is taken before its lease ends', async () => {
        await pair.boot(redis.url, { lease: '10m', deadline: AMPLE });
        const workers = [pair.worker, await pair.another()];
        for (const { store } of workers) {
          const release = store.lanes.release.bind(store.lanes);
          let lost = 0;
          store.lanes.release = async (...lane) => {
            if (lost++ % 2 === 0) throw new Error('Connection terminated');
            return release(...lane);
          };
        }
        const texts = ['one', 'two', 'three', 'four'];
        for (const text of texts) {
          await pair.send(text);
          await eventually(async () =>
            expect(workers.flatMap(({ transport }) => transport.texts)).toContain(text),
          );
        }
        expect(workers.flatMap(({ transport }) => transport.texts)).toHaveLength(texts.length);
      });

      it('a stop ends although the broker never answers', async () => {
        await pair.boot(redis.url, { shutdownTimeout: 50, lease: '1s' });
        const begun = new Gate();
        pair.worker.transport.script = () => {
          redis.freeze();
          begun.open();
        };
        const id = await pair.send('before the freeze');
        await begun.opened;
        await eventually(async () =>
          expect((await pair.api.sms.batch(id)).counts).toEqual({ sent: 1 }),
        );
        await pair.send('after it');
        await Promise.all([pair.worker.app.close(), pair.api.app.close()]);
        redis.thaw();
        const after = await pair.another(true);
        await eventually(async () => expect(after.transport.texts).toEqual(['after it']));
        expect((await after.sms.batch(id)).counts).toEqual({ sent: 1 });
      });

      it('a stopped process leaves its lanes to the remaining ones', async () => {
        // A busy machine may not release the lane in time; then its lease ends.
        const lease = '10s';
        await pair.boot(redis.url, {
          concurrency: 1,
          shutdownTimeout: 0,
          lease,
          deadline: AMPLE,
        });
        const begun = new Gate();
        pair.worker.transport.script = async (_, signal) => {
          begun.open();
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
          throw new UncertainFailure('cut off', 'the answer was not waited for');
        };
        await pair.send('cut off');
        await begun.opened;
        const second = await pair.another();
        await pair.worker.app.close();
        await eventually(async () => expect(second.transport.texts).toContain('cut off'));
      });
    },
    ['postgres'],
  );
});

function expectLeft({ worker }: Pair, text: string): Promise<void> {
  return eventually(async () => expect(worker.transport.texts).toContain(text));
}

/** Sends until one leaves by way of the broker. */
async function expectWakes(pair: Pair): Promise<void> {
  let n = 0;
  const before = pair.worker.transport.texts.length;
  await eventually(async () => {
    await pair.send(`again ${n++}`);
    expect(pair.worker.transport.texts.length).toBeGreaterThan(before);
    // A worker waits twelve seconds for a silent broker before it reconnects.
  }, 60_000);
}

/** Until when the lane is granted, in microseconds of the database. */
async function leaseOf({ worker }: Pair): Promise<number> {
  const [lane] = await worker.store.database.all<{ lease_until: string }>(
    'SELECT lease_until FROM messaging_lane',
  );
  return Number(lane?.lease_until);
}

async function commandsOf(redis: PrivateRedis): Promise<number> {
  const stats = String(await redis.call('INFO', 'stats'));
  return Number(/total_commands_processed:(\d+)/.exec(stats)?.[1]);
}
