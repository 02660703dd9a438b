import { VasService } from '@dundun/messaging';
import { HoldsService } from '@dundun/messaging/operations';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import type {
  AuditEntry,
  Listed,
  OpenOrders,
  PlacedOrder,
} from '../../../src/portal/portal-api.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { TestGateway } from '../gateway/test-gateway.js';
import { type PortalClient, signedIn } from './portal-client.js';

const TWO_DAYS = 2 * 86_400_000_000;

describeOneDatabase('the orders of the portal', (database) => {
  let gateway: TestGateway;
  let account: { accountId: string; apiToken: string };
  let viewer: PortalClient;
  let admin: PortalClient;
  let operator: PortalClient & { email: string };

  beforeAll(async () => {
    gateway = new TestGateway({ DATABASE_URL: database.url });
    await gateway.start();
    account = await gateway.account('orders');
    const { accountId: tenant } = account;
    [viewer, admin, operator] = await Promise.all([
      signedIn(gateway, 'viewer', tenant),
      signedIn(gateway, 'admin', tenant),
      signedIn(gateway, 'operator'),
    ]);
    const vas = gateway.running.app.get(VasService, { strict: false });
    await vas.allow({ currency: 'NGN', daily: '50000', perNumber: '5000' }, { tenant });
  });
  afterAll(() => gateway.destroy());

  /** An order whose outcome the operator does not tell. */
  const unknownOrder = async (reference: string): Promise<PlacedOrder> => {
    const body = {
      to: '2348012349909',
      product: 'airtime-ng',
      amount: '100',
      client_reference: reference,
      allow_duplicate: true,
    };
    await gateway.call('POST', '/ng/v1/vas/orders', { token: account.apiToken, body });
    let found: PlacedOrder | undefined;
    await eventually(async () => {
      const { data } = await viewer.ok<Listed<PlacedOrder>>('GET', `orders?q=${reference}`);
      [found] = data;
      expect(found?.status).toBe('unknown');
    });
    return found!;
  };

  it('an order is found by its reference and id, masked, in its own account alone', async () => {
    const order = await unknownOrder('shop-1');
    expect(order).toMatchObject({
      clientReference: 'shop-1',
      to: '+234 801 ••• 9909',
      amount: '100',
      currency: 'NGN',
      canSettle: true,
      settlement: null,
    });
    const stranger = await signedIn(gateway, 'admin', (await gateway.account('other')).accountId);
    const find = async (client: PortalClient, query = '') =>
      (await client.ok<Listed<PlacedOrder>>('GET', `orders${query}`)).data.map(({ id }) => id);
    for (const query of ['', '?q=shop-1', `?q=${order.id}`, `?q=${order.id.toUpperCase()}`]) {
      expect(await find(viewer, query)).toEqual([order.id]);
      expect(await find(stranger, query)).toEqual([]);
    }
    expect(await find(viewer, '?q=shop-2')).toEqual([]);
  });

  it('an operator sees an order without an outcome after a day, and settles it once', async () => {
    const order = await unknownOrder('shop-3');
    const open = async () =>
      (await operator.ok<OpenOrders>('GET', 'open-orders')).data.map(({ id }) => id);
    expect(await open()).toEqual([]);
    await gateway.running.app
      .get(DataSource, { strict: false })
      .query(
        `UPDATE messaging_vas_order SET created_at = created_at - ${TWO_DAYS} WHERE reference = 'shop-3'`,
      );
    const { data } = await operator.ok<OpenOrders>('GET', 'open-orders');
    expect(data).toMatchObject([
      { id: order.id, accountId: account.accountId, accountName: 'orders', canSettle: true },
    ]);
    const settle = (client: PortalClient, as = 'failed') =>
      client.call('POST', `open-orders/${order.id}/settle`, {
        body: { accountId: account.accountId, as, note: 'not in the book' },
      });
    expect((await settle(admin)).status).toBe(403);
    expect((await settle(operator, 'lost')).status).toBe(422);
    expect((await settle(operator)).status).toBe(204);
    expect(await settle(operator)).toMatchObject({
      status: 409,
      body: { error: { code: 'already_sent', message: 'The order is failed' } },
    });
    expect(await open()).toEqual([]);
    const { data: after } = await viewer.ok<Listed<PlacedOrder>>('GET', 'orders?q=shop-3');
    expect(after).toMatchObject([
      { status: 'failed', canSettle: false, settlement: { as: 'failed', by: operator.email } },
    ]);
    const audit = await admin.ok<Listed<AuditEntry>>('GET', 'audit');
    const entries = audit.data.filter(({ action }) => action === 'order.settled');
    expect(entries).toMatchObject([{ userEmail: operator.email, title: 'Settled an order' }]);
  });

  it('an operator releases the orders of a restored database after the other lanes', async () => {
    const holds = gateway.running.app.get(HoldsService, { strict: false });
    const release = async (client = operator as PortalClient) =>
      (await client.call('POST', 'open-orders/release', { body: {} })).status;
    expect(await release()).toBe(404);
    await holds.markRestored();
    const since = async () => (await operator.ok<OpenOrders>('GET', 'open-orders')).heldSince;
    expect(await since()).toMatch(/^\d{4}-/);
    expect(await release()).toBe(409);
    await holds.releaseRestored('send');
    expect(await release(admin)).toBe(403);
    expect(await release()).toBe(204);
    expect(await since()).toBeNull();
    const { data } = await (
      await signedIn(gateway, 'operator')
    ).ok<Listed<AuditEntry>>('GET', 'audit');
    expect(data.map(({ action }) => action)).toContain('orders.released');
  });
});
