import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { CreditAccount, CreditBatch } from '../../examples/prepaid-credits/credits.tables.js';
import { STATUS_RANK } from '../../libs/messaging/src/message/status.js';
import { describeEachDatabase } from '../support/databases.js';
import { ORDERED } from './audit.js';
import { Cluster } from './cluster.js';
import { faultAt } from './fault-at.js';
import { POINTS } from './processes/protocol.js';

const full = process.env['CHAOS'] === 'full';
const messages = full ? 300 : 30;

/** Credits of each tenant at the start. */
const BOUGHT = 1_000_000;

const FREE = ['expired', 'failed', 'rejected', 'cancelled'] as const;

describeEachDatabase('kill -9 where tenants pay for their messages,', (database) => {
  let cluster: Cluster;
  let store: DataSource;

  beforeAll(async () => {
    store = await database.open({ entities: [CreditAccount, CreditBatch], synchronize: true });
    await store.manager.insert(
      CreditAccount,
      ['a', 'b'].map((tenant) => ({ tenant, credits: BOUGHT })),
    );
    cluster = await Cluster.start(
      {
        database: database.url,
        honoursKeys: true,
        pays: true,
        replicas: database.kind === 'sqlite' ? 1 : 3,
        options: { concurrency: 4, rateLimit: { max: 20, per: 100 } },
      },
      store,
    );
    await cluster.upstream.set({ throttled: 0.1 });
  });
  afterAll(() => cluster.stop());
  beforeEach(() => cluster.begin());
  afterEach(() => cluster.disarm());

  /** Credits that each tenant has spent, and messages of it that cost one. */
  async function sums(): Promise<{ spent: number[]; messages: number[] }> {
    const accounts = await store.manager.find(CreditAccount, { order: { tenant: 'ASC' } });
    const free = FREE.map((status) => STATUS_RANK[status]).join(', ');
    const rows: { n: string | number }[] = await store.query(
      `SELECT sum(CASE WHEN m.status IN (${free}) THEN 0 ELSE 1 END) AS n FROM messaging_batch b
       JOIN messaging_message m ON m.batch = b.id GROUP BY b.tenant ORDER BY b.tenant`,
    );
    return {
      spent: accounts.map(({ credits }) => BOUGHT - credits),
      messages: rows.map(({ n }) => Number(n)),
    };
  }

  // In the short form the databases share the points.
  const turn = ['sqlite', 'postgres', 'mariadb'].indexOf(database.kind);
  it.each(POINTS.filter((_, index) => full || index % 3 === turn))(
    'each message is paid for once after a kill at %s',
    async (point) => {
      const before = cluster.kills;
      const burst = () => cluster.send(cluster.sends(messages));
      const nth = 1 + cluster.seed.below(3);
      if (point === 'on-the-wire') await cluster.killOnTheWire(burst);
      else await (await faultAt(cluster, { point, nth, fault: 'SIGKILL' }, burst)).sending;
      await cluster.finished();
      cluster.disarm();
      expect(cluster.kills).toBeGreaterThan(before);
      expect(cluster.callers.refused).toEqual([]);
      expect(await cluster.audit()).toMatchObject(ORDERED);
      const { spent, messages: paid } = await sums();
      expect(spent).toEqual(paid);
      expect(spent.every((credits) => credits > 0)).toBe(true);
    },
  );
});
