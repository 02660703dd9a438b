import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ChannelRegistry } from '@dundun/messaging/ports';
import { DataSource } from 'typeorm';
import { BillingService } from '../../../src/billing/ledger/billing.service.js';
import { RateCards } from '../../../src/billing/rate-cards/rate-cards.service.js';
import { CHANNELS } from '../../../src/channels/index.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { TestGateway } from './test-gateway.js';

describeEachDatabase('the account of the first start', (db) => {
  let gateway: TestGateway;

  beforeAll(async () => {
    gateway = await new TestGateway({ DATABASE_URL: db.url }).start();
  });
  afterAll(() => gateway.destroy());

  const balance = async (token = gateway.running.demo?.apiToken ?? '') =>
    (await gateway.call('GET', '/ng/v1/account/balance', { token })).body;

  it('pays from its first message on, from a balance for a million of them', async () => {
    expect(await balance()).toMatchObject({
      mode: 'prepaid',
      balance: '50000000.00',
      currency: 'NGN',
    });
    const sent = await gateway.call('POST', '/ng/v1/sendsms', {
      token: gateway.running.demo?.apiToken ?? '',
      body: { from: 'ACME', to: ['2348012345678'], body: 'Hello' },
    });
    expect(sent.status).toBe(200);
    await eventually(async () =>
      expect(await balance()).toMatchObject({ balance: '49999995.50', reserved: '0.00' }),
    );
    const billing = gateway.running.app.get(BillingService, { strict: false });
    expect(await billing.differences()).toEqual([]);
  });

  it('has a price for each channel and category', () => {
    const { app } = gateway.running;
    const registry = app.get(ChannelRegistry, { strict: false });
    const version = app.get(RateCards, { strict: false }).inForce('demo');
    for (const { name } of CHANNELS)
      for (const category of registry.get(name).pricing?.categories ?? [null])
        expect([name, category, version?.rates.find(name, category, null)?.prefix]).toEqual([
          name,
          category,
          '*',
        ]);
  });

  it('other accounts are free, and have the card of before', async () => {
    const { accountId, apiToken } = await gateway.account();
    expect(await balance(apiToken)).toMatchObject({ mode: 'off', currency: null });
    const cards = gateway.running.app.get(RateCards, { strict: false });
    expect([cards.pays(accountId), cards.cardOf(accountId)]).toEqual([false, 'default']);
  });

  it('a later start leaves the accounts that are there as they are', async () => {
    const { accountId = '', apiToken = '' } = gateway.running.demo ?? {};
    const source = gateway.running.app.get(DataSource, { strict: false });
    await source.query(`DELETE FROM gateway_billing_entry WHERE account_id = '${accountId}'`);
    await source.query(`DELETE FROM gateway_billing_account WHERE account_id = '${accountId}'`);
    await gateway.stop();
    await gateway.start();
    expect(gateway.running.demo).toBeUndefined();
    expect(await balance(apiToken)).toMatchObject({ mode: 'off', currency: null });
  });
});
