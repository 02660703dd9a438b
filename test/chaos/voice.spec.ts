import { afterEach, expect, it } from '@jest/globals';
import { describeEachDatabase } from '../support/databases.js';
import { STATUS_RANK } from '../../libs/messaging/src/message/status.js';
import { ORDERED } from './audit.js';
import { Cluster } from './cluster.js';
import { killPoints } from './kill-points.js';
import type { Point } from './processes/protocol.js';
import { shareOf } from './short-form.js';
import { until } from './until.js';

const full = process.env['CHAOS'] === 'full';
const messages = full ? 1_000 : 100;
const COMPLETED = 95;
const BUSY = 64;
/** Completed; and unknown, or busy by a report, where the answer was lost. */
const OVER = [COMPLETED, STATUS_RANK.unknown, BUSY];
const CONCURRENCY = 8;

const OUTAGES = [
  { outage: 'refusing', honoursKeys: true },
  { outage: 'refusing', honoursKeys: false },
  { outage: 'hanging', honoursKeys: true },
  { outage: 'hanging', honoursKeys: false },
] as const;

// In the short form the kill points of SMS cover the other databases.
if (full) killPoints('sqlite', 1, 'voice');
if (full) killPoints('postgres', 2, 'voice');
killPoints('mariadb', 2, 'voice');

describeEachDatabase('calls through a carrier that loses answers', (database) => {
  let cluster: Cluster;
  afterEach(() => cluster.stop());

  it('no call is lost or made twice where a third of the answers are wrong and a process is killed', async () => {
    cluster = await Cluster.start(
      {
        database: database.url,
        honoursKeys: false,
        channel: 'voice',
        replicas: database.kind === 'sqlite' ? 1 : 2,
        options: { concurrency: 8 },
      },
      await database.open(),
    );
    cluster.begin();
    await cluster.upstream.set({ wrong: 0.3 });
    const sending = cluster.send(cluster.sends(messages));
    await cluster.started(messages / 8);
    await cluster.injectFault('SIGKILL', 200);
    await sending;
    await cluster.finished(120_000);
    await cluster.shutDown();
    const findings = await cluster.audit();
    expect(findings).toMatchObject(ORDERED);
    expect(cluster.callers.refused).toEqual([]);
    expect(await cluster.upstream.wrongAnswers()).toBeGreaterThan(messages / 20);
    // Without keys a call with a lost answer is unknown and is not repeated.
    expect(findings.unknown.length).toBeGreaterThan(0);
  });

  it.each(shareOf(OUTAGES, database.kind))(
    'no call is lost or made twice while the carrier is $outage and a process is killed (keys honoured: $honoursKeys)',
    async ({ outage, honoursKeys }) => {
      cluster = await Cluster.start(
        {
          database: database.url,
          honoursKeys,
          channel: 'voice',
          replicas: database.kind === 'sqlite' ? 1 : 2,
          options: { concurrency: 8, rateLimit: { max: 20, per: 100 } },
        },
        await database.open(),
      );
      cluster.begin();
      const sending = cluster.send(cluster.sends(messages));
      await cluster.started(messages / 8);
      await cluster.upstream.fail(outage);
      await cluster.started(cluster.starts.length + 1);
      await cluster.injectFault('SIGKILL', 200);
      await cluster.whole();
      // The successor finds the carrier away, too.
      await cluster.started(cluster.starts.length + 1);
      await cluster.upstream.fail('none');
      await sending;
      await cluster.finished(120_000);
      await cluster.shutDown();
      expect(await cluster.audit()).toMatchObject(ORDERED);
      expect(cluster.callers.refused).toEqual([]);
      expect(cluster.kills).toBe(1);
    },
  );

  it.each(shareOf<Point>(['before-report', 'after-report'], database.kind))(
    'a kill at %s of a busy line dials once more, not twice',
    async (point) => {
      const store = await database.open();
      cluster = await Cluster.start(
        {
          database: database.url,
          honoursKeys: false,
          channel: 'voice',
          redials: true,
          replicas: 1,
          options: { concurrency: CONCURRENCY },
        },
        store,
      );
      cluster.begin();
      await cluster.upstream.set({ busy: 1 });
      await cluster.arm({ point, nth: 1, fault: 'SIGKILL' });
      const calls = full ? 100 : 20;
      await cluster.send(cluster.sends(calls, ['a'], 1));
      const ended = async () => {
        const rows = await store.query<{ recipient: string; status: number }[]>(
          'SELECT recipient, status FROM messaging_message',
        );
        const all = new Map(rows.map(({ recipient, status }) => [recipient, Number(status)]));
        const isOver = [...all.values()].every((status) => OVER.includes(status));
        return all.size === calls && isOver && all;
      };
      const statuses = await until(ended, 120_000, cluster.replay);
      expect(cluster.kills).toBe(1);
      await cluster.shutDown();
      expect((await cluster.audit()).passed).toEqual([]);
      const dials = new Map<string, number>();
      for (const { recipients } of await cluster.upstream.book())
        for (const to of recipients) dials.set(to, (dials.get(to) ?? 0) + 1);
      const twice = [...statuses].filter(([, status]) => status === COMPLETED);
      expect(twice.filter(([to]) => dials.get(to) !== 2)).toEqual([]);
      // Calls whose answers were under way at the kill are not dialled again.
      expect(calls - twice.length).toBeLessThanOrEqual(CONCURRENCY);
      expect([...dials.values()].filter((count) => count > 2)).toEqual([]);
    },
  );
});
