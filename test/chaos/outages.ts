import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { describeUnless } from '../support/servers.js';
import { ORDERED } from './audit.js';
import { Cluster } from './cluster.js';

/** A database server of one suite alone. */
export interface PrivateServer {
  readonly url: string;
  /** Kills the server without a shutdown, and starts it again. */
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

/** Stops the database under the running app; then the upstream's log and the store have to agree. */
export function outages(servers: PrivateServers): void {
  const { type, missing } = servers;
  describeUnless(missing, `a database that goes away on ${type}`, () => {
    let server: PrivateServer;
    let store: DataSource;
    let cluster: Cluster;

    beforeAll(async () => {
      server = await servers.start();
      store = await new DataSource({ type, url: server.url } as DataSourceOptions).initialize();
    });
    beforeAll(async () => {
      cluster = await Cluster.start(
        {
          database: server.url,
          honoursKeys: true,
          replicas: 2,
          options: { rateLimit: { max: 10, per: 100 } },
        },
        store,
      );
    });
    beforeEach(() => cluster.begin());
    afterAll(async () => {
      await cluster?.stop();
      await store?.destroy();
      await server?.remove();
    });

    const agreed = { ...ORDERED, unknown: [] };
    const findings = async () => {
      await cluster.finished();
      return cluster.audit();
    };

    /** Sends, and injects the fault `times` times meanwhile: at a chance moment of each equal share of the sends. */
    const injectFaults = async (times: number, fault: () => Promise<void>) => {
      const before = cluster.starts.length;
      const sends = cluster.sends(messages);
      const sending = cluster.send(sends);
      for (let n = 0; n < times; n++) {
        const share = (n + cluster.seed.below(100) / 100) / times;
        await cluster.started(before + Math.ceil(sends.length * share));
        await fault();
      }
      await sending;
    };

    it('no message is lost or doubled while the database restarts twice', async () => {
      await injectFaults(2, () => server.crash());
      // The length of the outage depends on the machine: some sends may have been refused and repeated.
      expect(await findings()).toMatchObject(agreed);
    });

    it('no message is lost or doubled while every database connection is cut repeatedly', async () => {
      const before = cluster.callers.refused.length;
      await injectFaults(5, () => servers.cut(store));
      expect(await findings()).toMatchObject(agreed);
      expect(cluster.callers.refused.slice(before)).toEqual([]);
    });
  });
}
