import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { MESSAGING_MIGRATIONS } from '@dundun/messaging/migrations';
import { dispatchEngineContract } from '@dundun/messaging/testing';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { ListeningEngine } from '../../../libs/messaging/src/engines/listening.engine.js';
import type { StoreDatabase } from '../../../libs/messaging/src/store/database/store-database.js';
import { databaseOf } from '../../../libs/messaging/src/store/open-store.js';
import { WakeChannel } from '../../../libs/messaging/src/store/postgres/wake-channel.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { Relay } from '../../support/relay.js';

const LISTENERS = `FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'`;

describeEachDatabase(
  'the embedded engine on PostgreSQL',
  (db) => {
    let source: DataSource;
    let database: StoreDatabase;
    const engines: ListeningEngine[] = [];

    beforeAll(async () => {
      source = await db.open({ migrations: [...MESSAGING_MIGRATIONS], migrationsRun: true });
      database = databaseOf(source);
      await database.open();
    });
    afterAll(() => database.close());
    afterEach(async () => {
      await Promise.all(engines.splice(0).map((engine) => engine.stop()));
    });

    const create = (of = source, tests?: Parameters<typeof WakeChannel.of>[2]): ListeningEngine => {
      const channel = WakeChannel.of(of, database, tests);
      if (!channel) throw new Error('PostgreSQL has no channel');
      const engine = new ListeningEngine(channel);
      engines.push(engine);
      return engine;
    };
    const listeners = async (): Promise<number> => {
      const [row] = await source.query<{ n: number }[]>(`SELECT count(*)::int AS n ${LISTENERS}`);
      return row?.n ?? 0;
    };
    /** An engine that dispatches and listens, and the lanes that it drains. */
    const dispatching = async (engine = create()): Promise<string[]> => {
      const [before, lanes] = [await listeners(), [] as string[]];
      await engine.start((lane) => {
        lanes.push(lane);
        return Promise.resolve(undefined);
      });
      await eventually(async () => expect(await listeners()).toBe(before + 1));
      return lanes;
    };

    dispatchEngineContract('postgres', { create: () => ({ engine: create() }) }, { describe, it });

    it('a process that does not dispatch wakes every process that does', async () => {
      const [one, other] = [await dispatching(), await dispatching()];
      const accepting = create();
      const lanes = ['shop:sms', 'a "quoted" \\ lane:email', '年:sms'];
      await eventually(async () => {
        for (const lane of lanes) accepting.wake(lane);
        expect(one).toEqual(expect.arrayContaining(lanes));
        expect(other).toEqual(expect.arrayContaining(lanes));
      });
    });

    it('a lane that is due later is announced at its time', async () => {
      const drained = await dispatching();
      const accepting = create();
      accepting.wake('first:sms');
      await eventually(async () => expect(drained).toContain('first:sms'));
      accepting.wake('later:sms', Date.now() + 100);
      await eventually(async () => expect(drained).toContain('later:sms'));
    });

    it('a process whose connection was ended listens again', async () => {
      const drained = await dispatching();
      await source.query(`SELECT pg_terminate_backend(pid) ${LISTENERS}`);
      await eventually(async () => expect(await listeners()).toBe(1));
      const accepting = create();
      await eventually(async () => {
        accepting.wake('again:sms');
        expect(drained).toContain('again:sms');
      });
    });

    describe('a connection that carries nothing any more', () => {
      let relay: Relay;
      let behind: DataSource;
      beforeEach(async () => {
        relay = await Relay.start(db.url);
        behind = new DataSource({ ...db.options(), url: relay.url } as DataSourceOptions);
        await behind.initialize();
      });
      afterEach(async () => {
        const stops = engines.splice(0).map((engine) => engine.stop());
        // Ends what the lost connections still wait for.
        await relay.stop();
        await Promise.all(stops);
        await behind.destroy();
      });

      const woken = async (drained: readonly string[]) => {
        const accepting = create();
        await eventually(async () => {
          accepting.wake('heard:sms');
          expect(drained).toContain('heard:sms');
        });
      };

      it('is replaced', async () => {
        const drained = await dispatching(create(behind, { within: 3_000, every: 200 }));
        relay.lose();
        await expect(woken(drained)).resolves.toBeUndefined();
      });

      it('is replaced where it is lost before its LISTEN is answered', async () => {
        const engine = create(behind, { within: 1_000, every: 200 });
        const drained: string[] = [];
        const listen = relay.hold('LISTEN');
        await engine.start(async (lane) => void drained.push(lane));
        await listen;
        relay.lose();
        await expect(woken(drained)).resolves.toBeUndefined();
      });

      it('does not delay the stop of a process that is about to listen', async () => {
        relay.hang();
        const engine = create(behind);
        await engine.start(async () => undefined);
        await engine.stop();
        expect(await listeners()).toBe(0);
      });
    });

    it('a process that does not hear its first test tries again within seconds', async () => {
      let tries = 0;
      const listening = { close: () => Promise.resolve() };
      const channel = {
        listen: async () => (++tries > 2 ? listening : undefined),
      };
      const engine = new ListeningEngine(channel as unknown as WakeChannel);
      engines.push(engine);
      await engine.start(() => Promise.resolve(undefined));
      await eventually(async () => expect(tries).toBe(3));
    });

    it('no connection stays open after the stop', async () => {
      await dispatching();
      await Promise.all(engines.splice(0).map((engine) => engine.stop()));
      await eventually(async () => expect(await listeners()).toBe(0));
    });
  },
  ['postgres'],
);
