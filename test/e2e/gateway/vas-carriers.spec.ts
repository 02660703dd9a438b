import { randomUUID } from 'node:crypto';
import { VasService } from '@dundun/messaging';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { ReloadlyServer } from '../../support/reloadly-server.js';
import { TestGateway } from './test-gateway.js';

// Each test starts two gateways.
jest.setTimeout(120_000);

describeOneDatabase('a gateway that restarts with another operator for orders', (db) => {
  const reloadly = new ReloadlyServer();
  let url: string;
  let gateway: TestGateway | undefined;
  let token: string;
  let tenant: string;

  beforeAll(async () => {
    url = await reloadly.start();
  });
  afterAll(async () => {
    await gateway?.destroy();
    await reloadly.stop();
  });

  const restart = async (settings: Readonly<Record<string, string>>) => {
    await gateway?.stop();
    gateway = await new TestGateway({ DATABASE_URL: db.url, ...settings }).start();
  };
  const withReloadly = () =>
    restart({
      VAS_CARRIER: 'reloadly',
      RELOADLY_CLIENT_ID: 'id',
      RELOADLY_CLIENT_SECRET: 'right',
      RELOADLY_COUNTRIES: 'NG',
      RELOADLY_URL: url,
      RELOADLY_AUTH_URL: url,
    });
  const place = async (product: string) => {
    const body = { to: '2348100000001', product, amount: '100', client_reference: randomUUID() };
    const placed = await gateway!.call('POST', '/ng/v1/vas/orders', { token, body });
    expect([placed.status, placed.body['error']]).toEqual([200, undefined]);
    return String(placed.body['id']);
  };
  const statusOf = async (id: string) =>
    (await gateway!.running.app.get(VasService, { strict: false }).find(id, { tenant })).status;
  const reaches = (id: string, status: string) =>
    eventually(async () => expect(await statusOf(id)).toBe(status));
  const askAtOnce = () =>
    gateway!.running.app
      .get(MessageStore, { strict: false })
      .database.transaction((tx) =>
        tx.run('UPDATE messaging_batch SET poll_at = 1 WHERE poll_at IS NOT NULL'),
      );
  const asked = () => reloadly.asked.filter(({ path }) => path === '/topups-async').length;

  it('an order in doubt stays with its operator, and new orders go to the other one', async () => {
    await withReloadly();
    const demo = gateway!.running.demo!;
    [token, tenant] = [demo.apiToken, demo.accountId];
    reloadly.refuse = () => 'hang up';
    const doubtful = await place('NG-341');
    await reaches(doubtful, 'unknown');
    const before = asked();

    await restart({ VAS_CARRIER: 'simulator' });
    await askAtOnce();
    await reaches(await place('airtime-ng'), 'delivered');
    expect(await statusOf(doubtful)).toBe('unknown');

    reloadly.refuse = undefined;
    for (const topup of reloadly.topups.values()) topup.status = 'SUCCESSFUL';
    await withReloadly();
    await askAtOnce();
    await reaches(doubtful, 'delivered');
    expect(asked()).toBe(before);
  });
});
