import { afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { describeEachDatabase } from '../../support/databases.js';
import { Relay } from '../../support/relay.js';
import { Processes } from './built-gateway.js';
import { buildGateway } from '../../support/builds.js';

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

    it('SIGTERM with an unresponsive database ends the gateway within its deadline and logs the reason', async () => {
      const gateway = await processes.gateway({ DATABASE_URL: relay.url });
      const [token] = await gateway.told(/tok_[0-9A-Za-z]{49}/);
      const agent = new Agent({ keepAlive: true });
      const call = () => {
        const sending = request(`${gateway.url}/ng/v1/sendsms`, {
          agent,
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        }).end(JSON.stringify({ from: 'ACME', to: ['2348012345678'], body: 'Hello' }));
        const answered = once(sending, 'response').then(([answer]) => {
          const { statusCode } = (answer as IncomingMessage).resume();
          return statusCode;
        });
        return { left: once(sending, 'finish'), answered };
      };
      expect(await call().answered).toBe(200);
      relay.hang();
      const { left, answered } = call();
      await left;
      // A later request's answer proves that the first one was read.
      expect((await fetch(`${gateway.url}/health/live`)).status).toBe(200);
      const { code, stdout, stderr } = await gateway.stop('SIGTERM');
      expect(await answered).toBe(503);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain('database does not answer: given up');
      expect(stdout).toContain('"msg":"stopped"');
    });
  },
  ['postgres', 'mariadb'],
);
