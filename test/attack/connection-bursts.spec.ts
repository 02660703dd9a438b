import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeOneDatabase } from '../support/databases.js';
import { freePort } from '../support/free-port.js';
import { AttackedGateway } from './attacked-gateway.js';
import { RawClient } from './raw-client.js';

/** More than Node's own backlog of 511. */
const BURST = 1_000;

describeOneDatabase('bursts of connections', (db) => {
  const gateway = new AttackedGateway();
  let smpp = '';
  let mail = '';
  beforeAll(async () => {
    smpp = `127.0.0.1:${await freePort()}`;
    mail = `127.0.0.1:${await freePort()}`;
    await gateway.start(db, {
      SMPP_LISTEN: smpp,
      EMAIL_CARRIER: 'smtp',
      SMTP_URL: `smtp://127.0.0.1:${await freePort()}`,
      EMAIL_LISTEN: mail,
    });
  });
  afterAll(() => gateway.destroy());

  it.each([
    ['HTTP', () => gateway.url],
    ['SMPP', () => `tcp://${smpp}`],
    ['SMTP', () => `tcp://${mail}`],
  ])(
    'a thousand connections over %s are accepted while the process is busy',
    async (_name, urlOf) => {
      const url = urlOf();
      const clients: RawClient[] = [];
      process.kill(gateway.running.pid, 'SIGSTOP');
      try {
        // One by one, as the system drops what comes too fast.
        for (let n = 0; n < BURST; n++) clients.push(await RawClient.connect(url));
      } finally {
        process.kill(gateway.running.pid, 'SIGCONT');
        for (const client of clients) client.destroy();
      }
      expect((await gateway.call('GET', '/health/live')).status).toBe(200);
    },
    60_000,
  );
});
