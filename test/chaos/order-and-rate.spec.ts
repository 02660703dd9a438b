import { afterEach, expect, it } from '@jest/globals';
import { describeEachDatabase } from '../support/databases.js';
import { AGREED } from './audit.js';
import { Cluster } from './cluster.js';
import { fullestWindow } from './fullest-window.js';
import { POINTS } from './processes/protocol.js';
import { faultAt } from './fault-at.js';

const REPLICAS = 3;

describeEachDatabase(
  `${REPLICAS} replicas and takeovers,`,
  (database) => {
    let cluster: Cluster;
    afterEach(() => cluster.stop());

    it('messages of a lane leave in the order of acceptance', async () => {
      cluster = await Cluster.start(
        {
          database: database.url,
          honoursKeys: true,
          replicas: REPLICAS,
          options: { concurrency: 1, rateLimit: { max: 20, per: 100 } },
        },
        await database.open(),
      );
      cluster.begin();
      for (let round = 0; round < 3; round++) {
        const others = POINTS.filter((point) => point !== 'on-the-wire');
        const point = others[cluster.seed.below(others.length)] ?? 'after-intent';
        const burst = () => cluster.sendInTurn(cluster.sends(30, ['a'], 3));
        const arming = { point, nth: 1 + cluster.seed.below(4), fault: 'SIGKILL' } as const;
        const injected = await faultAt(cluster, arming, burst);
        await injected.sending;
        await cluster.finished();
        cluster.disarm();
      }
      expect(cluster.kills).toBeGreaterThan(0);
      expect(await cluster.audit()).toMatchObject({ ...AGREED, unknown: [] });
      const left = (await cluster.upstream.book()).map(
        ({ body }) => /Chaos (s\d+)/.exec(body)?.[1] ?? '',
      );
      expect([...new Set(left)]).toEqual(cluster.callers.order);
    });

    it('the rate limit holds over all replicas together', async () => {
      const rateLimit = { max: 50, per: 500 };
      cluster = await Cluster.start(
        {
          database: database.url,
          honoursKeys: true,
          replicas: REPLICAS,
          options: { rateLimit, concurrency: 8 },
        },
        await database.open(),
      );
      cluster.begin();
      // The lane's holder dies at its twentieth answer, while most messages are still queued.
      await cluster.arm({ point: 'response-read', nth: 20, fault: 'SIGKILL' });
      await cluster.send(cluster.sends(300, ['a'], 7));
      await cluster.finished();
      expect(cluster.kills).toBeGreaterThan(0);
      expect(await cluster.audit()).toMatchObject({ ...AGREED, unknown: [] });
      const stamped = new Set(cluster.starts.map(({ key }) => key));
      expect((await cluster.upstream.book()).filter(({ key }) => !stamped.has(key))).toEqual([]);
      expect(new Set(cluster.starts.map(({ by }) => by)).size).toBeGreaterThan(1);
      expect(fullestWindow(cluster.starts, rateLimit.per)).toBeLessThanOrEqual(rateLimit.max);
    });
  },
  ['postgres'],
);
