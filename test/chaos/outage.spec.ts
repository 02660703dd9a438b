import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { AGREED } from './audit.js';
import { Cluster } from './cluster.js';
import { PrivatePostgres } from './private-postgres.js';

const { missing } = PrivatePostgres;
const describeWithBinaries = missing === undefined ? describe : describe.skip;

describeWithBinaries(
  `a database that goes away on postgres${missing === undefined ? '' : ` — ${missing}`}`,
  () => {
    let postgres: PrivatePostgres;
    let ledger: DataSource;
    let cluster: Cluster;

    beforeAll(async () => {
      postgres = await PrivatePostgres.start();
      ledger = await new DataSource({ type: 'postgres', url: postgres.url }).initialize();
    }, 60_000);
    beforeAll(async () => {
      cluster = await Cluster.start(
        {
          database: postgres.url,
          honoursKeys: true,
          replicas: 2,
          options: { rateLimit: { max: 10, per: 100 } },
        },
        ledger,
      );
    }, 60_000);
    afterAll(async () => {
      await cluster.stop();
      await ledger.destroy();
      await postgres.remove();
    });

    it('restarted twice in the middle: nothing is lost, nothing is doubled', async () => {
      const sending = cluster.send(cluster.sends(100));
      await cluster.started(cluster.starts.length + 10);
      await postgres.crash();
      await cluster.started(cluster.starts.length + 10);
      await postgres.crash();
      await sending;
      await cluster.finished();
      expect(cluster.refused).toEqual([]);
      expect(await cluster.audit()).toMatchObject({ ...AGREED, unknown: [] });
    }, 90_000);

    it('every connection cut again and again: nothing is lost, nothing is doubled', async () => {
      const sending = cluster.send(cluster.sends(100));
      for (let cut = 0; cut < 5; cut++) {
        await cluster.started(cluster.starts.length + 5);
        await ledger.query(
          'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
        );
      }
      await sending;
      await cluster.finished();
      expect(cluster.refused).toEqual([]);
      expect(await cluster.audit()).toMatchObject({ ...AGREED, unknown: [] });
    }, 90_000);
  },
);
