import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeEachDatabase } from '../support/databases.js';
import { AttackedGateway } from './attacked-gateway.js';

/** Most CPU time of one turn of the event loop, in milliseconds, as in the suite of the event loop. */
const MOST = 100;

const TEXT = 'x'.repeat(4_800_000);
const EMAILS = 12;

describeEachDatabase(
  'large scheduled emails of one account',
  (db) => {
    const gateway = new AttackedGateway();
    let other: string;
    beforeAll(async () => {
      await gateway.start(db, { EMAIL_CARRIER: 'simulator', REQUEST_TIMEOUT: '10m' });
      const made = await gateway.dundun('account', 'create', '--name', 'other');
      other = made['api_token'] ?? '';
      await gateway.dundun(
        'domain',
        'add',
        '--account',
        gateway.accountId,
        '--domain',
        'shop.example',
      );
      const source = await db.open();
      await source.query(
        "UPDATE gateway_email_domain SET status = 'verified', verified_name = 'shop.example'",
      );
    });
    afterAll(() => gateway.destroy());

    const longestOf = async (work: () => Promise<unknown>): Promise<number> => {
      await gateway.running.longestTurn();
      await work();
      return gateway.running.longestTurn();
    };
    const list = async (path: string, token: string): Promise<void> => {
      const answer = await gateway.call('GET', path, undefined, token);
      expect(answer.status).toBe(200);
      await answer.text();
    };
    const readsOf = (token: string, count: number) =>
      longestOf(async () => {
        for (let n = 0; n < count; n++) await list('/ng/v1/sms', token);
      });

    it('other accounts’ lists take a turn as short as before, also while the account reads its own, and no memory stays', async () => {
      await gateway.batch(1);
      const idle = await readsOf(other, 20);
      const email = JSON.stringify({
        from: 'a@shop.example',
        to: ['ada@example.com'],
        subject: 'Hello',
        text: TEXT,
        html: TEXT,
        send_at: '2150-01-01T00:00:00Z',
      });
      for (let n = 0; n < EMAILS; n++) {
        const sent = await gateway.call('POST', '/email/ng/v1/messages', email, gateway.key);
        expect([sent.status, await sent.text()]).toEqual([200, expect.any(String)]);
      }
      expect(await readsOf(other, 20)).toBeLessThan(Math.max(MOST, 5 * idle));
      await gateway.whileHealthy(async () => {
        const own = Array.from({ length: 50 }, () =>
          list('/email/ng/v1/messages?limit=100', gateway.key),
        );
        expect(await readsOf(other, 20)).toBeLessThan(MOST);
        await Promise.all(own);
      });
      await gateway.freed();
    });
  },
  ['sqlite', 'postgres'],
);
