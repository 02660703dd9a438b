import { afterEach, expect, it } from '@jest/globals';
import { type DatabaseKind, describeEachDatabase } from '../support/databases.js';
import { ORDERED } from './audit.js';
import { Cluster } from './cluster.js';
import type { Point } from './processes/protocol.js';
import { faultAt } from './fault-at.js';

/** Messages, and how many faults are injected while they are sent. */
const { messages, kills, blocks } =
  process.env['CHAOS'] === 'full'
    ? { messages: 500, kills: 12, blocks: 6 }
    : { messages: 60, kills: 3, blocks: 2 };

const POINTS: readonly Point[] =
  process.env['CHAOS'] === 'full'
    ? ['inside-intent', 'after-intent', 'response-read']
    : ['after-intent'];

const CONCURRENCY = 4;

/** Kills or blocks processes of the app at any moment; then the upstream's log and the store have to agree. */
export function randomFaults(kind: DatabaseKind, replicas: number): void {
  describeEachDatabase(
    `${replicas} replicas, at any moment,`,
    (database) => {
      let cluster: Cluster;
      afterEach(() => cluster.stop());

      async function start(honoursKeys: boolean): Promise<void> {
        cluster = await Cluster.start(
          {
            database: database.url,
            honoursKeys,
            replicas,
            options: { concurrency: CONCURRENCY, rateLimit: { max: 10, per: 100 } },
          },
          await database.open(),
        );
        cluster.begin();
      }

      /** A burst and a fault during it; the next burst comes before the recovery. */
      async function injectFaults(fault: 'SIGKILL' | 'block', times: number): Promise<void> {
        const sending: Promise<void>[] = [];
        for (let time = 0; time < times; time++) {
          sending.push(cluster.send(cluster.sends(Math.ceil(messages / times))));
          await cluster.injectFault(fault, 400);
        }
        await Promise.all(sending);
        await cluster.finished();
        await cluster.shutDown();
      }

      it.each(process.env['CHAOS'] === 'full' ? [true, false] : [kind === 'sqlite'])(
        'no message is lost or doubled by kill -9 at any moment (keys honoured: %s)',
        async (honoursKeys) => {
          await start(honoursKeys);
          await injectFaults('SIGKILL', kills);
          const findings = await cluster.audit();
          expect(findings).toMatchObject(ORDERED);
          expect(cluster.callers.refused).toEqual([]);
          expect(cluster.kills).toBe(kills);
          // Each kill interrupts the in-flight and intended submissions of two lanes.
          const cutOff = honoursKeys ? 0 : kills * 2 * CONCURRENCY;
          expect(findings.unknown.length).toBeLessThanOrEqual(cutOff);
        },
      );

      it('no message is lost or doubled when the event loop blocks for longer than the lease', async () => {
        await start(true);
        await injectFaults('block', blocks);
        expect(await cluster.audit()).toMatchObject({ ...ORDERED, unknown: [] });
        expect(cluster.callers.refused).toEqual([]);
      });

      it.each(POINTS)(
        'a process whose event loop blocked %s starts no request of a lane it has lost',
        async (point) => {
          await start(true);
          const burst = () => cluster.send(cluster.sends(30, ['a'], 1));
          const injected = await faultAt(cluster, { point, nth: 2, fault: 'block' }, burst);
          await injected.sending;
          await cluster.finished();
          await cluster.shutDown();
          expect(await cluster.audit()).toMatchObject({ ...ORDERED, unknown: [] });
          expect(cluster.callers.refused).toEqual([]);
        },
      );
    },
    [kind],
  );
}
