import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { Sender } from '../../../src/accounts/accounts.tables.js';
import { BillingService } from '../../../src/billing/ledger/billing.service.js';
import { RateCards } from '../../../src/billing/rate-cards/rate-cards.service.js';
import { EmailDomain } from '../../../src/channels/email/domains/domains.tables.js';
import type {
  GatewayFigures,
  MessageCallbacks,
  Onboarding,
} from '../../../src/portal/portal-api.js';
import { answer, Receiver } from '../../integration/webhooks/receiver.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { TestGateway } from '../gateway/test-gateway.js';
import { type PortalClient, signedIn } from './portal-client.js';

const nothing = () => Promise.resolve();

describeEachDatabase('the first page of the portal', (database) => {
  let gateway: TestGateway;
  let receiver: Receiver;
  let operator: PortalClient;

  beforeAll(async () => {
    gateway = new TestGateway({
      DATABASE_URL: database.url,
      WEBHOOK_ALLOW_PRIVATE: 'true',
      SMS_PRICES: 'NGN *=9.5 234=4.5',
    });
    await gateway.start();
    receiver = await Receiver.start();
    operator = await signedIn(gateway, 'operator');
  });
  afterAll(async () => {
    await gateway.destroy();
    await receiver.close();
  });

  const send = async (token: string, to: string) => {
    const { body } = await gateway.call('POST', '/ng/v1/sendsms', {
      token,
      body: { from: 'ACME', to: [to], body: 'Hello', delivery_report: 'yes' },
    });
    return `${String(body['reference_id'])}-0`;
  };

  it('the steps of an account are read from what it has', async () => {
    const { accountId, apiToken } = await gateway.account('steps');
    const admin = await signedIn(gateway, 'admin', accountId);
    const steps = () => admin.ok<Onboarding>('GET', 'onboarding');
    const none = { message: false, webhook: false, team: false, live: false };
    expect(await steps()).toEqual({ sender: true, ...none });
    const { manager } = gateway.running.app.get<DataSource>(getDataSourceToken(), {
      strict: false,
    });
    await manager.delete(Sender, { accountId });
    await manager.delete(EmailDomain, { accountId });
    expect(await steps()).toEqual({ sender: false, ...none });
    await admin.ok('POST', 'senders', { channel: 'sms', sender: 'ACME' });
    await send(apiToken, '2348012345678');
    await admin.ok('POST', 'webhooks', { url: `${receiver.url}/steps` });
    await admin.ok('POST', 'members', { role: 'viewer' });
    // Whatever the simulator delivers, the account is not live.
    expect(await steps()).toEqual({
      ...none,
      sender: true,
      message: true,
      webhook: true,
      team: true,
    });
  });

  it('operators see all accounts by counts, lanes, carriers and balances', async () => {
    const { accountId, apiToken } = await gateway.account('busy');
    await send(apiToken, '2348012345678');
    await send(apiToken, '2348012349903');
    const billing = gateway.running.app.get(BillingService, { strict: false });
    const change = { amount: '7', reference: 'INV-1', userId: null };
    await billing.topUp(accountId, change, nothing);
    await billing.setMode(accountId, { mode: 'prepaid' }, nothing);
    const { accountId: poor } = await gateway.account('poor');
    await billing.setMode(poor, { mode: 'prepaid' }, nothing);
    await eventually(async () => {
      const { messages, carriers, balances, former } = await operator.ok<GatewayFigures>(
        'GET',
        'gateway',
      );
      expect(messages).toMatchObject({ unknown: 0 });
      expect(messages.delivered).toBeGreaterThanOrEqual(1);
      expect(messages.failed).toBeGreaterThanOrEqual(1);
      expect(former.accepted).toBe(0);
      expect(carriers[0]).toMatchObject({
        name: 'simulator',
        accepted: messages.accepted,
        pausedLanes: 0,
      });
      expect(carriers.at(-1)).toMatchObject({ name: 'voice-simulator', accepted: 0 });
      expect(balances).toEqual({
        accounts: 3,
        empty: 1,
        lowest: [
          { accountId: poor, name: 'poor', available: '0.00', currency: 'NGN' },
          { accountId, name: 'busy', available: '7.00', currency: 'NGN' },
          expect.objectContaining({ name: 'demo', available: '50000000.00', currency: 'NGN' }),
        ],
      });
    });
    const viewer = await signedIn(gateway, 'viewer', accountId);
    expect((await viewer.call('GET', 'gateway')).status).toBe(403);
    expect(await viewer.ok('GET', 'balance')).toEqual({
      mode: 'prepaid',
      available: '7.00',
      currency: 'NGN',
    });
  });

  it('a message names its callbacks with all attempts, and the charge of its batch', async () => {
    const { accountId, apiToken } = await gateway.account('told');
    const admin = await signedIn(gateway, 'admin', accountId);
    const billing = gateway.running.app.get(BillingService, { strict: false });
    const change = { amount: '100', reference: 'INV-1', userId: null };
    await billing.topUp(accountId, change, nothing);
    await billing.setMode(accountId, { mode: 'prepaid' }, nothing);
    const cards = gateway.running.app.get(RateCards, { strict: false });
    await eventually(async () => expect(cards.pays(accountId)).toBe(true));
    receiver.respond = answer(500);
    const { webhook } = await admin.ok<{ webhook: { id: string } }>('POST', 'webhooks', {
      url: `${receiver.url}/told`,
    });
    const id = await send(apiToken, '2348012345678');
    const read = () => admin.ok<MessageCallbacks>('GET', `callbacks/${id}`);
    await eventually(async () => {
      const { data } = await read();
      expect(data[0]).toMatchObject({
        webhookId: webhook.id,
        url: `${receiver.url}/told`,
        type: 'sms.delivery_report',
        state: 'due',
        attempts: [{ statusCode: 500, error: 'http_status' }],
      });
      expect(data[0]?.nextAttemptAt).not.toBeNull();
    });
    receiver.respond = answer(204);
    await admin.ok('POST', `webhooks/${webhook.id}/redeliver`, {});
    await eventually(async () => {
      const { data, charge } = await read();
      expect(charge).toEqual({ amount: '4.50', currency: 'NGN' });
      expect(data.every(({ state }) => state === 'delivered')).toBe(true);
      expect(data[0]?.attempts.map(({ statusCode }) => statusCode)).toEqual([500, 204]);
    });
    const other = await signedIn(gateway, 'admin', (await gateway.account('else')).accountId);
    expect((await other.call('GET', `callbacks/${id}`)).status).toBe(404);
    expect((await admin.call('GET', 'callbacks/nothing')).status).toBe(404);
  });
});
