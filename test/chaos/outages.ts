import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { AGREED } from './audit.js';
import { Cluster } from './cluster.js';

/** A database server of one suite alone. */
export interface PrivateServer {
  readonly url: string;
  /** It dies without a word, and is there again. */
  crash(): Promise<void>;
  remove(): Promise<void>;
}

export interface PrivateServers {
  readonly type: 'postgres' | 'mariadb';
  /** Why there can be none here. */
  readonly missing: string | undefined;
  start(): Promise<PrivateServer>;
  /** Cuts every connection but this one's. */
  cut(source: DataSource): Promise<void>;
}

const messages = process.env['CHAOS'] === 'full' ? 500 : 100;

/** Takes the database away under the running app; then book and ledger have to agree. */
export function outages(servers: PrivateServers): void {
  const { type, missing } = servers;
  const describeWithBinaries = missing === undefined ? describe : describe.skip;
  describeWithBinaries(
    `a database that goes away on ${type}${missing === undefined ? '' : ` — ${missing}`}`,
    () => {
      let server: PrivateServer;
      let ledger: DataSource;
      let cluster: Cluster;

      beforeAll(async () => {
        server = await servers.start();
        ledger = await new DataSource({ type, url: server.url } as DataSourceOptions).initialize();
      }, 60_000);
      beforeAll(async () => {
        cluster = await Cluster.start(
          {
            database: server.url,
            honoursKeys: true,
            replicas: 2,
            options: { rateLimit: { max: 10, per: 100 } },
          },
          ledger,
        );
      }, 60_000);
      beforeEach(() => cluster.begin());
      afterAll(async () => {
        await cluster?.stop();
        await ledger?.destroy();
        await server?.remove();
      });

      const agreed = { ...AGREED, unknown: [], refused: [] };
      const findings = async () => {
        await cluster.finished();
        return { ...(await cluster.audit()), refused: cluster.callers.refused };
      };

      it('restarted twice in the middle: nothing is lost, nothing is doubled', async () => {
        const sending = cluster.send(cluster.sends(messages));
        for (let crash = 0; crash < 2; crash++) {
          await cluster.started(cluster.starts.length + 1 + cluster.seed.below(20));
          await server.crash();
        }
        await sending;
        expect(await findings()).toMatchObject(agreed);
      }, 90_000);

      it('every connection cut again and again: nothing is lost, nothing is doubled', async () => {
        const sending = cluster.send(cluster.sends(messages));
        for (let times = 0; times < 5; times++) {
          await cluster.started(cluster.starts.length + 1 + cluster.seed.below(10));
          await servers.cut(ledger);
        }
        await sending;
        expect(await findings()).toMatchObject(agreed);
      }, 90_000);
    },
  );
}
