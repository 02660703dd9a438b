import { afterEach, expect, it } from '@jest/globals';
import { type DatabaseKind, describeEachDatabase } from '../support/databases.js';
import { ORDERED } from './audit.js';
import { Cluster } from './cluster.js';
import type { Point } from './processes/protocol.js';
import { faultAt } from './fault-at.js';

const POINTS: readonly Point[] =
  process.env['CHAOS'] === 'full'
    ? ['before-intent', 'inside-intent', 'after-intent', 'response-read']
    : ['inside-intent', 'after-intent'];

/** A replica is frozen for longer than its lease, another one takes over, and then it goes on. */
export function zombies(kind: DatabaseKind): void {
  describeEachDatabase(
    'SIGSTOP past the lease, then SIGCONT,',
    (database) => {
      let cluster: Cluster;
      afterEach(() => cluster.stop());

      async function freeze(point: Point, honoursKeys: boolean): Promise<{ unknown: number }> {
        const store = await database.open();
        cluster = await Cluster.start(
          {
            database: database.url,
            honoursKeys,
            replicas: 2,
            options: { concurrency: 2, rateLimit: { max: 20, per: 100 } },
          },
          store,
        );
        cluster.begin();
        const burst = () => cluster.send(cluster.sends(30, ['a'], 1));
        const arming = { point, nth: 2, fault: 'SIGSTOP' } as const;
        const { sending, frozen } = await faultAt(cluster, arming, burst);
        await cluster.finished();
        const { unknown } = await cluster.audit();
        frozen?.signal('SIGCONT');
        await sending;
        await cluster.finished();
        await cluster.shutDown();
        return { unknown: unknown.length };
      }

      it.each(POINTS)(
        'a process resumed after its lease expired starts no request of a lane it has lost (%s)',
        async (point) => {
          await freeze(point, true);
          const findings = await cluster.audit();
          expect(findings).toMatchObject({ ...ORDERED, unknown: [] });
          expect(cluster.callers.refused).toEqual([]);
        },
      );

      it('the late outcome of a process that lost its lane is still recorded', async () => {
        const { unknown } = await freeze('response-read', false);
        const findings = await cluster.audit();
        expect(findings).toMatchObject(ORDERED);
        expect(findings.unknown.length).toBeLessThan(unknown);
      });
    },
    [kind],
  );
}
