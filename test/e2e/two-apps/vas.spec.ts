import { randomUUID } from 'node:crypto';
import { http, MessagingModule, VasService, VerificationService } from '@dundun/messaging';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type INestApplication, Module } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { WebhookEndpointsService } from '../../../src/webhooks/webhook-endpoints.service.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { TestGateway } from '../gateway/test-gateway.js';

const PATH = 'messaging/callbacks';

/** A chain of the app's own store and the gateway's store. */
describeOneDatabase('a customer app and the gateway, on orders', (database) => {
  let gateway: TestGateway;
  let account: CreatedAccount;
  let app: INestApplication;
  let vas: VasService;

  beforeAll(async () => {
    gateway = new TestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
    gateway.databaseUrl = await database.another();
    await gateway.start();
    account = gateway.running.demo as CreatedAccount;
    const port = await freePort();
    const { secret } = await gateway.running.app
      .get(WebhookEndpointsService, { strict: false })
      .set(account.accountId, `http://127.0.0.1:${port}/${PATH}`);

    @Module({
      imports: [
        TypeOrmModule.forRoot(database.options()),
        MessagingModule.forRoot({
          transport: http({ baseUrl: gateway.url, apiToken: account.apiToken }),
          erasure: { keys: [Buffer.alloc(32, 2).toString('base64')] },
          callbacks: { secrets: [secret] },
          callbackPath: PATH,
        }),
      ],
    })
    class CustomerModule {}

    const testing = await Test.createTestingModule({ imports: [CustomerModule] }).compile();
    const adapter = new FastifyAdapter({ forceCloseConnections: true });
    app = testing.createNestApplication(adapter, { rawBody: true });
    await app.listen(port, '127.0.0.1');
    vas = app.get(VasService);
    await vas.allow({ currency: 'NGN', daily: '20000', perNumber: '5000' });
  });
  afterAll(async () => {
    await app?.close();
    await gateway.destroy();
  });

  let numbers = 0;
  const number = (last = '0000'): string => `23481${String(++numbers).padStart(4, '0')}${last}`;
  const order = async (last?: string) => {
    const placed = { to: number(last), product: 'airtime-ng', amount: '100' };
    return (await vas.order({ ...placed, clientReference: randomUUID() })).id;
  };
  const reaches = (id: string, status: string) =>
    eventually(async () => expect(await vas.find(id)).toMatchObject({ status }));
  const upstream = () =>
    gateway.running.app.get(VasService, { strict: false }).list({ tenant: account.accountId });

  it('the app offers the products of the gateway', async () => {
    expect(await vas.products()).toMatchObject([
      { id: 'airtime-ng', min: '50', max: '50000', amount: null },
      { id: 'data-ng-1gb', min: null, max: null, amount: '300', validity: '30d' },
    ]);
  });

  it('an order is placed once at the gateway, and its callback settles it', async () => {
    const id = await order();
    await reaches(id, 'delivered');
    expect(await vas.find(id)).toMatchObject({
      cost: '100',
      deliveredAmount: '100',
      operatorReference: expect.stringMatching(/^SIM-/),
    });
    expect((await upstream()).data).toHaveLength(1);
  });

  it('a bundle is ordered without an amount', async () => {
    const { id } = await vas.order({
      to: number(),
      product: 'data-ng-1gb',
      clientReference: randomUUID(),
    });
    await reaches(id, 'delivered');
    expect(await vas.find(id)).toMatchObject({ amount: '300', type: 'data' });
  });

  it.each([
    ['9901', 'failed'],
    ['9902', 'reversed'],
    ['9908', 'delivered'],
  ])('a number that ends in %s leads to %s through both', async (last, status) => {
    const id = await order(last);
    await reaches(id, status);
    expect(await vas.find(id)).toMatchObject({ status });
  });

  it('a repeated order under a key is one order at the gateway', async () => {
    const id = await order();
    await reaches(id, 'delivered');
    const before = (await upstream()).data;
    const { to, amount, product, clientReference } = before[0]!;
    // As an app that was restored sends the order again.
    const again = await gateway.call('POST', '/ng/v1/vas/orders', {
      token: account.apiToken,
      body: { to, product, amount, currency: 'NGN', client_reference: clientReference },
    });
    expect(again.body['id']).toBe(before[0]?.id);
    expect((await upstream()).data).toHaveLength(before.length);
  });

  it('a code goes out through the gateway and verifies in the app', async () => {
    const codes = app.get(VerificationService);
    const { id } = await codes.start({ to: number(), channel: 'sms', from: 'ACME' });
    expect(await codes.check(id, 'wrong')).toEqual({ id, status: 'pending' });
  });
});
