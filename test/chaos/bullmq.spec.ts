import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { describeUnless } from '../support/servers.js';
import { ORDERED } from './audit.js';
import { Cluster, type Start } from './cluster.js';
import { fullestWindow } from './fullest-window.js';
import { PrivatePostgres } from './private-postgres.js';
import { PrivateRedis } from './private-redis.js';
import type { Send } from './processes/protocol.js';

const LANES = 200;
const REPLICAS = 3;
const { messages, blows, limit } =
  process.env['CHAOS'] === 'full'
    ? { messages: 20_000, blows: 40, limit: 1_800_000 }
    : { messages: 2_000, blows: 8, limit: 300_000 };
const RATE = { max: 10, per: 500 };

describeUnless(
  PrivateRedis.missing ?? PrivatePostgres.missing,
  `${LANES} lanes over three processes and a broker on redis`,
  () => {
    let redis: PrivateRedis;
    let postgres: PrivatePostgres;
    let store: DataSource;
    let cluster: Cluster;

    beforeAll(async () => {
      redis = await PrivateRedis.start();
      postgres = await PrivatePostgres.start();
      store = await new DataSource({ type: 'postgres', url: postgres.url }).initialize();
      cluster = await Cluster.start(
        {
          database: postgres.url,
          redis: redis.url,
          honoursKeys: true,
          replicas: REPLICAS,
          options: { concurrency: 1, rateLimit: RATE },
        },
        store,
      );
    });
    afterAll(async () => {
      await cluster?.stop();
      await store?.destroy();
      await postgres?.remove();
      await redis?.kill();
    });

    /** One thing that goes wrong. */
    async function injectFault(nth: number): Promise<void> {
      switch (nth % 4) {
        case 0:
          return redis.restart();
        case 1:
          await redis.call('FLUSHALL');
          return;
        case 2:
          await cluster.whole();
          return postgres.crash();
        default:
          return cluster.injectFault('SIGKILL', 200);
      }
    }

    it(
      'no message is lost or doubled and each lane keeps order and rate while processes are killed, the broker is wiped and the database restarts',
      async () => {
        cluster.begin();
        const lanes = Array.from({ length: LANES }, (_, i) => `lane${i}`);
        const sends = cluster.sends(messages, lanes, 3);
        const byLane = new Map<string, Send[]>(lanes.map((lane) => [lane, []]));
        for (const send of sends) byLane.get(send.tenant)?.push(send);
        const sending = Promise.all([...byLane.values()].map((some) => cluster.sendInTurn(some)));
        for (let nth = 0; nth < blows; nth++) {
          await cluster.started(Math.floor((nth * sends.length * 0.8) / blows));
          await injectFault(nth);
        }
        await sending;
        await cluster.finished(limit / 2);

        // The length of the database's outage depends on the machine: some sends may have been refused and repeated.
        expect(cluster.kills).toBeGreaterThan(0);
        expect(await cluster.audit()).toMatchObject({ ...ORDERED, unknown: [], messages });
        const laneOf = new Map(sends.map(({ key, tenant }) => [key, tenant]));
        const inOrder = (keys: readonly string[]) =>
          Object.fromEntries(
            lanes.map((lane) => [lane, keys.filter((key) => laneOf.get(key) === lane)]),
          );
        const left = (await cluster.upstream.book()).map(
          ({ body }) => /Chaos (s\d+)/.exec(body)?.[1] ?? '',
        );
        expect(inOrder([...new Set(left)])).toEqual(inOrder(cluster.callers.order));
        const keyOf = new Map([...cluster.callers.accepted].map(([key, batch]) => [batch, key]));
        const startsOf = new Map<string | undefined, Start[]>();
        for (const start of cluster.starts) {
          const lane = laneOf.get(keyOf.get(start.key.replace(/-s\d+$/, '')) ?? '');
          startsOf.set(lane, [...(startsOf.get(lane) ?? []), start]);
        }
        const windows = [...startsOf.values()].map((starts) => fullestWindow(starts, RATE.per));
        expect(Math.max(...windows)).toBeLessThanOrEqual(RATE.max);
      },
      limit,
    );
  },
);
