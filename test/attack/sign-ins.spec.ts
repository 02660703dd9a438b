import { connectSmpp } from '@dundun/smpp';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeEachDatabase } from '../support/databases.js';
import { freePort } from '../support/free-port.js';
import { AttackedGateway, FRONT_DATABASES } from './attacked-gateway.js';

const PASSWORD = 'a long and quiet river';

describeEachDatabase(
  'many sign-ins at once',
  (db) => {
    const gateway = new AttackedGateway();
    const smpp = { host: '127.0.0.1', port: 0 };
    let pair: { systemId: string; password: string };

    beforeAll(async () => {
      smpp.port = await freePort();
      await gateway.start(db, {
        TRUSTED_PROXIES: '127.0.0.1,::1',
        SMPP_LISTEN: `${smpp.host}:${smpp.port}`,
      });
      const account = ['--account', gateway.accountId];
      const made = await gateway.dundun('smpp', 'add', ...account);
      pair = { systemId: made['system_id'] ?? '', password: made['password'] ?? '' };
      const { link = '' } = await gateway.dundun('user', 'invite', ...account, '--role', 'admin');
      const code = /#code=(.*)$/.exec(link)?.[1] ?? '';
      const body = { code, email: 'ada@example.com', password: PASSWORD };
      const { status } = await portal('setup', body, '198.51.100.1');
      if (status !== 200) throw new Error(`the set-up answers ${status}`);
    });
    afterAll(() => gateway.destroy());

    const portal = (path: string, body: object, from: string): Promise<Response> =>
      fetch(`${gateway.url}/portal/api/${path}`, {
        method: 'POST',
        headers: {
          connection: 'close',
          'content-type': 'application/json',
          'sec-fetch-site': 'same-origin',
          'x-forwarded-for': from,
        },
        body: JSON.stringify(body),
      });

    /** Ten wrong sign-ins for ten names from each of these addresses. */
    const flood = (networks: readonly string[]): Promise<number[]> =>
      Promise.all(
        networks.flatMap((ip) =>
          Array.from({ length: 10 }, async (_, n) => {
            const body = { email: `user${n}@example.com`, password: 'a wrong password' };
            const answer = await portal('session', body, ip);
            await answer.text();
            return answer.status;
          }),
        ),
      );

    const addresses = (count: number) => Array.from({ length: count }, (_, n) => `203.0.${n}.7`);

    /** Sign-ins, one after another, from the network that has signed in before. */
    const fromKnownNetwork = async (): Promise<number[]> => {
      const statuses = [];
      for (let n = 0; n < 3; n++) {
        const body = { email: 'ada@example.com', password: PASSWORD };
        statuses.push((await portal('session', body, '198.51.100.1')).status);
      }
      return statuses;
    };

    it('a hundred from ten addresses refuse neither people, known or not, nor an SMPP bind', async () => {
      const { email, known, bind, statuses } = await gateway.whileHealthy(async () => {
        const flooding = flood(addresses(10));
        const signedIn = portal(
          'session',
          { email: 'ada@example.com', password: PASSWORD },
          '198.51.100.200',
        );
        const known = fromKnownNetwork();
        const session = await connectSmpp({ ...smpp, ...pair, responseTimeout: 60_000 });
        const state = session.isBound;
        await session.unbind();
        const { status } = await signedIn;
        return { email: status, known: await known, bind: state, statuses: await flooding };
      });
      expect({ email, known, bind }).toEqual({ email: 200, known: [200, 200, 200], bind: true });
      // The largest shares lose their newest sign-ins.
      expect(new Set(statuses)).toEqual(new Set([401, 503]));
    }, 300_000);

    if (process.env['ATTACK'] === 'full')
      it('a person at a known network signs in while strangers from many networks do', async () => {
        const statuses = await gateway.whileHealthy(async () => {
          const networks = addresses(100).map((ip) => ip.replace('203.0.', '192.0.'));
          const flooding = flood(networks);
          const statuses = await fromKnownNetwork();
          await flooding;
          return statuses;
        });
        expect(statuses).toEqual([200, 200, 200]);
      }, 300_000);
  },
  FRONT_DATABASES,
);
