import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { migrateDatabase } from '@dundun/messaging/migrations';
import { setTimeout as wait } from 'node:timers/promises';
import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import { parseDatabaseUrl } from '../../../src/config/database-url.js';
import { readEnvironment } from '../../../src/config/environment.js';
import { type Gateway, startGateway } from '../../../src/gateway.js';
import { dataSourceOptions } from '../../../src/gateway-database.js';
import { PinoLogger } from '../../../src/http/pino.logger.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { Relay } from '../../support/relay.js';

const SLEEP = { postgres: 'SELECT pg_sleep(4)', mariadb: 'SELECT SLEEP(4)' };

describeEachDatabase(
  'a start whose database is away',
  (database) => {
    let log: string[];
    let running: Gateway[];
    let relays: Relay[];
    beforeEach(() => {
      [log, running, relays] = [[], [], []];
    });
    afterEach(async () => {
      for (const gateway of running) await gateway.stop();
      for (const relay of relays) await relay.stop();
    });

    const relayed = async (): Promise<Relay> => {
      const relay = await Relay.start(await database.another());
      relays.push(relay);
      return relay;
    };
    const started = async (url: string, patience: number): Promise<Gateway> => {
      const environment = readEnvironment({ NODE_ENV: 'test', PORT: '0', DATABASE_URL: url });
      const logger = new PinoLogger('debug', { write: (line) => void log.push(line) });
      const gateway = await startGateway(environment, logger, { patience });
      running.push(gateway);
      return gateway;
    };

    it('an unreachable database is tried again until it is there, and the gateway listens', async () => {
      const target = new URL(await database.another());
      const port = await freePort();
      const away = new URL(target);
      away.host = `127.0.0.1:${port}`;
      const starting = started(away.href, 25_000);
      await eventually(async () => expect(log.join('')).toContain('the database is not reachable'));
      relays.push(await Relay.start(target.href, port));
      const { url } = await starting;
      expect((await fetch(`${url}/health/ready`)).status).toBe(200);
    });

    it('a database that stays away ends the start with its reason, without a stack', async () => {
      const away = new URL(await database.another());
      away.host = `127.0.0.1:${await freePort()}`;
      const failure = await started(away.href, 1_000).catch((error: unknown) => error);
      expect(failure).toMatchObject({
        name: 'EnvironmentError',
        message: expect.stringMatching(
          /DATABASE_URL: the database cannot be opened: .*ECONNREFUSED/,
        ),
      });
    });

    it('a database that takes connections and never answers ends the start, which names its step', async () => {
      const relay = await relayed();
      relay.hang();
      await expect(started(relay.url, 1_000)).rejects.toMatchObject({
        name: 'StalledStartError',
        message: expect.stringContaining('while opening the database'),
      });
    });

    it('a start whose connections are cut begins again', async () => {
      const relay = await relayed();
      relay.loseAnswer('gateway_credential');
      const { url } = await started(relay.url, 25_000);
      expect(log.join('')).toContain('the database is not reachable');
      expect((await fetch(`${url}/health/ready`)).status).toBe(200);
    });

    it('a migration of another process is waited for while its session works, and no longer', async () => {
      const url = await database.another();
      const sleep = SLEEP[database.kind as keyof typeof SLEEP];
      class Long1700000000000 implements MigrationInterface {
        readonly name = 'Long1700000000000';
        up = (runner: QueryRunner): Promise<void> => runner.query(sleep) as Promise<void>;
        down = (): Promise<void> => Promise.resolve();
      }
      const open = async () => {
        const options = dataSourceOptions({ DATABASE_URL: parseDatabaseUrl(url) });
        const migrations = [Long1700000000000];
        return new DataSource({ ...options, entities: [], migrations }).initialize();
      };
      const [one, other] = [await open(), await open()];
      let progress = 0;
      const onProgress = () => void progress++;
      const ran = await Promise.all([
        migrateDatabase(one, { timeout: 1_000, onProgress }),
        wait(500).then(() => migrateDatabase(other, { timeout: 1_000, onProgress })),
      ]);
      expect(ran).toEqual([['Long1700000000000'], []]);
      expect(progress).toBeGreaterThan(3);
      for (const source of [one, other]) await source.destroy();
    });
  },
  ['postgres', 'mariadb'],
);
