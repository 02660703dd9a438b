import { afterEach, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { TestGateway } from './test-gateway.js';

describeEachDatabase(
  'PREPARED_STATEMENTS',
  (database) => {
    let gateway: TestGateway;
    afterEach(() => gateway.destroy());

    const start = async (settings: Record<string, string> = {}) => {
      gateway = await new TestGateway({ DATABASE_URL: database.url, ...settings }).start();
      return (await gateway.account()).apiToken;
    };

    /** Sends `times` batches, one after another, each to its end. */
    const send = async (token: string, times: number): Promise<void> => {
      for (let time = 0; time < times; time++) {
        const body = { from: 'ACME', to: ['2348012345678'], body: 'Hello' };
        const { body: sent } = await gateway.call('POST', '/ng/v1/sendsms', { token, body });
        const path = `/ng/v1/sms/${String(sent['reference_id'])}`;
        await eventually(async () =>
          expect((await gateway.call('GET', path, { token })).body['status']).toBe('completed'),
        );
      }
    };

    /** Counts the prepared statements of all connections of the gateway's pool, which it takes at once. */
    const kept = async (): Promise<number> => {
      const source = gateway.running.app.get(DataSource, { strict: false });
      const runners = Array.from({ length: 10 }, () => source.createQueryRunner());
      try {
        const counts = await Promise.all(
          runners.map((runner) => runner.query('SELECT count(*) AS n FROM pg_prepared_statements')),
        );
        return counts.reduce((sum: number, [row]) => sum + Number(row.n), 0);
      } finally {
        await Promise.all(runners.map((runner) => runner.release()));
      }
    };

    it('prepared statements are kept by default', async () => {
      const token = await start();
      await eventually(async () => {
        await send(token, 10);
        expect(await kept()).toBeGreaterThan(0);
      });
    });

    it('no prepared statement is made where the setting is false', async () => {
      const token = await start({ PREPARED_STATEMENTS: 'false' });
      await send(token, 30);
      expect(await kept()).toBe(0);
    });
  },
  ['postgres'],
);
