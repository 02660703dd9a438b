import { afterEach, expect, it } from '@jest/globals';
import { describeEachDatabase } from '../support/databases.js';
import { ORDERED } from './audit.js';
import { Cluster } from './cluster.js';
import { fullestWindow } from './fullest-window.js';
import { POINTS } from './processes/protocol.js';
import { faultAt } from './fault-at.js';

const full = process.env['CHAOS'] === 'full';
const REPLICAS = full ? 3 : 2;
const ROUNDS = full ? 3 : 1;

/** Messages of one lane, and kills of its holder. */
const MESSAGES = full ? 1_500 : 150;
const KILLS = full ? 6 : 1;

/** The share of requests that are refused with 429: no run of `MESSAGES` requests is likely to see none. */
const THROTTLED = full ? 0.02 : 0.12;
const THROTTLED_FAILOVER = full ? 0.1 : 0.3;

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
      for (let round = 0; round < ROUNDS; round++) {
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
      expect(await cluster.audit()).toMatchObject({ ...ORDERED, unknown: [] });
      const left = (await cluster.upstream.book()).map(
        ({ body }) => /Chaos (s\d+)/.exec(body)?.[1] ?? '',
      );
      expect([...new Set(left)]).toEqual(cluster.callers.order);
    });

    it.each([
      ['keys honoured, holders of the lane are killed', true],
      ['failover, keys not honoured', false],
    ])(
      'the rate limit holds over all replicas, and a message is passed by later ones of its lane only for the documented reasons (%s)',
      async (_, honoursKeys) => {
        const rateLimit = { max: 50, per: 500 };
        cluster = await Cluster.start(
          {
            database: database.url,
            honoursKeys,
            failover: !honoursKeys,
            replicas: REPLICAS,
            options: { rateLimit, concurrency: 32, backoff: '200ms' },
          },
          await database.open(),
        );
        cluster.begin();
        await cluster.upstream.set({
          throttled: honoursKeys ? THROTTLED : THROTTLED_FAILOVER,
          latency: 20,
        });
        const sending = cluster.send(cluster.sends(MESSAGES, ['a'], 3));
        for (let kill = 0; honoursKeys && kill < KILLS; kill++) {
          await cluster.started((MESSAGES * (kill + 1)) / (2 * KILLS + 2));
          await cluster.starts.at(-1)?.by.end('SIGKILL');
        }
        await sending;
        await cluster.finished();
        expect(await cluster.audit()).toMatchObject({ ...ORDERED, unknown: [] });
        expect(await cluster.upstream.throttles()).toBeGreaterThan(0);
        const stamped = new Set(cluster.starts.map(({ key }) => key));
        expect((await cluster.book()).filter(({ key }) => !stamped.has(key))).toEqual([]);
        const senders = new Set(cluster.starts.map(({ by }) => by));
        expect(senders.size).toBeGreaterThan(honoursKeys ? 1 : 0);
        expect(fullestWindow(cluster.starts, rateLimit.per)).toBeLessThanOrEqual(rateLimit.max);
      },
    );
  },
  ['postgres'],
);
