import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { type DatabaseKind, describeEachDatabase } from '../support/databases.js';
import { ORDERED } from './audit.js';
import { Cluster } from './cluster.js';
import { POINTS } from './processes/protocol.js';
import { faultAt } from './fault-at.js';

const full = process.env['CHAOS'] === 'full';

/** Messages a point, and how many times it is passed for them. */
const { messages, rounds } = full ? { messages: 500, rounds: 4 } : { messages: 60, rounds: 1 };

const CONCURRENCY = 4;

/** Kills processes of the app at every point of a message's path; then the upstream's log and the store have to agree. */
export function killPoints(
  kind: DatabaseKind,
  replicas: number,
  channel: 'sms' | 'voice' = 'sms',
): void {
  for (const honoursKeys of [true, false]) {
    // In the short form one database takes the points with keys that the other takes without.
    const points = POINTS.filter(
      (_, index) => full || (index % 2 === 0) === (honoursKeys === (kind === 'sqlite')),
    );
    describeEachDatabase(
      `kill -9, ${channel}, ${replicas} replicas, keys ${honoursKeys ? 'honoured' : 'not honoured'},`,
      (database) => {
        let cluster: Cluster;

        beforeAll(async () => {
          cluster = await Cluster.start(
            {
              database: database.url,
              honoursKeys,
              replicas,
              channel,
              options: { concurrency: CONCURRENCY, rateLimit: { max: 20, per: 100 } },
            },
            await database.open(),
          );
        });
        afterAll(() => cluster.stop());
        beforeEach(() => cluster.begin());
        afterEach(() => cluster.disarm());

        it.each(points)('no message is lost or doubled by a kill at %s', async (point) => {
          const before = cluster.kills;
          for (let round = 0; round < rounds; round++) {
            const burst = () => cluster.send(cluster.sends(Math.ceil(messages / rounds)));
            const nth = 1 + cluster.seed.below(3);
            if (point === 'on-the-wire') await cluster.killOnTheWire(burst);
            else await (await faultAt(cluster, { point, nth, fault: 'SIGKILL' }, burst)).sending;
            await cluster.finished();
            cluster.disarm();
          }
          const findings = await cluster.audit();
          expect(findings).toMatchObject(ORDERED);
          expect(cluster.callers.refused).toEqual([]);
          expect(cluster.kills).toBeGreaterThan(before);
          // Each kill interrupts the in-flight and intended submissions of two lanes.
          const cutOff = honoursKeys ? 0 : cluster.kills * 2 * CONCURRENCY;
          expect(findings.unknown.length).toBeLessThanOrEqual(cutOff);
        });
      },
      [kind],
    );
  }
}
