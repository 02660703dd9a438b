import { afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { Relay } from '../../support/relay.js';
import { buildGateway, Processes } from './built-gateway.js';

describeEachDatabase(
  'SIGTERM while the database neither answers nor closes,',
  (database) => {
    let processes: Processes;
    let relay: Relay;
    beforeAll(() => buildGateway());
    beforeEach(async () => {
      processes = new Processes();
      relay = await Relay.start(database.url);
    });
    afterEach(async () => {
      await processes.destroy();
      await relay.stop();
    });

    it('answers what is under way, says that it gave the database up, and ends by itself', async () => {
      const gateway = await processes.gateway({ DATABASE_URL: relay.url });
      const tokens = () => gateway.output.match(/tok_[0-9A-Za-z]{49}/g) ?? [];
      // It listens before it tells of its account.
      await eventually(async () => expect(tokens()).not.toEqual([]));
      const [token] = tokens();
      const call = (): Promise<number> =>
        fetch(`${gateway.url}/ng/v1/sendsms`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ from: 'ACME', to: ['2348012345678'], body: 'Hello' }),
        }).then(({ status }) => status);
      expect(await call()).toBe(200);
      relay.hang();
      const sending = call();
      const { code, stdout, stderr } = await gateway.stop('SIGTERM');
      expect(await sending).toBe(503);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain('database does not answer: given up');
      expect(stdout).toContain('"msg":"stopped"');
    });
  },
  ['postgres', 'mariadb'],
);
