import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { BudgetsService, type NewBudget } from '../../../src/billing/budgets/budgets.service.js';
import { BillingService } from '../../../src/billing/ledger/billing.service.js';
import { amountText } from '../../../src/billing/money.js';
import { RateCards } from '../../../src/billing/rate-cards/rate-cards.service.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { TestGateway } from './test-gateway.js';

const nothing = () => Promise.resolve();

/** The carrier rejects it. */
const REJECTED = '2348012349903';
const LATER = { send_at: '2150-12-01T00:00:00Z' };

describeEachDatabase('budgets', (db) => {
  let gateway: TestGateway;
  let other: TestGateway;

  beforeAll(async () => {
    const settings = { DATABASE_URL: db.url, SMS_PRICES: 'NGN *=4.5' };
    gateway = await new TestGateway(settings).start();
    other = await new TestGateway(settings).start();
  });
  afterAll(async () => {
    await other.destroy();
    await gateway.destroy();
  });

  const billing = () => gateway.running.app.get(BillingService, { strict: false });
  const budgets = (of = gateway) => of.running.app.get(BudgetsService, { strict: false });
  const set = (accountId: string, budget: NewBudget) => budgets().set(accountId, budget, nothing);

  async function prepaid() {
    const account = await gateway.account();
    const change = { amount: '1000', reference: 'INV-1', userId: null };
    await billing().topUp(account.accountId, change, nothing);
    await billing().setMode(account.accountId, { mode: 'prepaid' }, nothing);
    await eventually(async () => {
      for (const { running } of [gateway, other])
        expect(running.app.get(RateCards, { strict: false }).pays(account.accountId)).toBe(true);
    });
    return account;
  }

  const send = (token: string, to: string | string[], more: object = LATER, of = gateway) =>
    of.call('POST', '/ng/v1/sendsms', {
      token,
      body: { from: 'ACME', to: [to].flat(), body: 'Hello', ...more },
    });
  const numbers = (count: number) =>
    Array.from({ length: count }, (_, n) => `23480${10_000_000 + n}`);
  const spentOf = async (accountId: string) =>
    (await budgets().list(accountId)).map(({ key, period, spent }) => [
      key,
      period,
      amountText(spent),
    ]);

  it('a send that would exceed a budget is 402 with its amounts and end, and changes nothing', async () => {
    const { accountId, apiToken } = await prepaid();
    await set(accountId, { period: 'day', limit: '10' });
    await set(accountId, { period: 'month', limit: '100' });
    expect((await send(apiToken, numbers(2))).status).toBe(200);
    const refused = await send(apiToken, numbers(1));
    const end = new Date();
    end.setUTCHours(24, 0, 0, 0);
    expect(refused).toMatchObject({
      status: 402,
      body: {
        error: {
          type: 'billing_error',
          code: 'budget_exceeded',
          message: `The message costs 4.50 NGN, and 1.00 NGN are left of the budget of the account for the day; send after ${end.toISOString()}, or ask for a higher budget`,
          details: [
            { path: 'budget', message: 'account' },
            { path: 'period', message: 'day' },
            { path: 'limit', message: '10.00' },
            { path: 'spent', message: '9.00' },
            { path: 'needed', message: '4.50' },
            { path: 'currency', message: 'NGN' },
            { path: 'resets_at', message: end.toISOString() },
          ],
        },
      },
    });
    const { reserved = 0n } = (await billing().account(accountId)) ?? {};
    expect(amountText(reserved)).toBe('9.00');
    expect(await spentOf(accountId)).toEqual([
      [null, 'day', '9.00'],
      [null, 'month', '9.00'],
    ]);
    const listed = await gateway.call('GET', '/ng/v1/account/budgets', { token: apiToken });
    expect(listed.body).toEqual({
      data: [
        {
          key: null,
          period: 'day',
          limit: '10.00',
          spent: '9.00',
          currency: 'NGN',
          resets_at: end.toISOString(),
        },
        expect.objectContaining({ period: 'month', limit: '100.00' }),
      ],
    });
    const batches = await gateway.call('GET', '/ng/v1/sms', { token: apiToken });
    expect(batches.body).toMatchObject({ data: [{ recipients_processed: 2 }] });
  });

  it('of sends over two processes at once as many are accepted as the budget has money for', async () => {
    const { accountId, apiToken } = await prepaid();
    await set(accountId, { period: 'month', limit: '90' });
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        send(apiToken, numbers(1), LATER, n % 2 ? other : gateway),
      ),
    );
    const counts = (status: number) => answers.filter((one) => one.status === status).length;
    expect([counts(200), counts(402)]).toEqual([20, 40]);
    expect(await spentOf(accountId)).toEqual([[null, 'month', '90.00']]);
    expect(await billing().differences()).toEqual([]);
    const source = gateway.running.app.get(DataSource, { strict: false });
    const ofAccount = `WHERE account_id = '${accountId}'`;
    await source.query(`UPDATE gateway_billing_budget SET spent = 1 ${ofAccount}`);
    expect(await billing().differences()).toEqual([
      {
        account: accountId,
        what: 'spent of the budget of the account for the month',
        stored: '0.000001',
        computed: '90.00',
      },
    ]);
    await source.query(`UPDATE gateway_billing_budget SET spent = 90000000 ${ofAccount}`);
  });

  it('the budget of a credential counts its sends alone, also after the token is rotated', async () => {
    const { accountId, apiToken } = await prepaid();
    await set(accountId, { key: 'api_token', period: 'month', limit: '9' });
    expect((await send(apiToken, numbers(2))).status).toBe(200);
    const next = await gateway.accounts.rotateToken(accountId);
    await eventually(async () =>
      expect(await send(next, numbers(1))).toMatchObject({
        status: 402,
        body: {
          error: {
            code: 'budget_exceeded',
            details: expect.arrayContaining([{ path: 'budget', message: 'api_token' }]),
          },
        },
      }),
    );
    const { keyId, apiKey } = await gateway.accounts.createKey(accountId, [
      'notifications:send',
      'sms:send',
    ]);
    await set(accountId, { key: keyId, period: 'day', limit: '4' });
    const notified = await gateway.call('POST', '/ng/v1/notifications', {
      token: apiKey,
      body: { to: numbers(1)[0], via: ['sms'], sms: { from: 'ACME', body: 'Hello' } },
    });
    expect(notified).toMatchObject({
      status: 402,
      body: { error: { details: expect.arrayContaining([{ path: 'budget', message: keyId }]) } },
    });
    expect(await spentOf(accountId)).toEqual([
      ['api_token', 'month', '9.00'],
      [keyId, 'day', '0.00'],
    ]);
  });

  it('a named token has budgets of its own, also after it is rotated; that of the account binds all', async () => {
    const { accountId, apiToken } = await prepaid();
    const { accounts } = gateway;
    const named = await accounts.createToken(accountId, { name: 'shop' });
    await set(accountId, { period: 'month', limit: '27' });
    await set(accountId, { period: 'day', limit: '9', key: named.tokenId });
    expect((await send(named.apiToken, numbers(1))).status).toBe(200);
    const rotated = await accounts.rotate(accountId, { tokenId: named.tokenId });
    expect((await send(rotated.apiToken, numbers(1))).status).toBe(200);
    expect(await send(rotated.apiToken, numbers(1))).toMatchObject({
      status: 402,
      body: {
        error: { details: expect.arrayContaining([{ path: 'budget', message: named.tokenId }]) },
      },
    });
    // The budget is found by the present token, too.
    const again = await accounts.rotate(accountId, { tokenId: rotated.tokenId });
    await set(accountId, { period: 'day', limit: '13.5', key: again.tokenId });
    expect((await send(again.apiToken, numbers(1))).status).toBe(200);
    expect((await send(apiToken, numbers(3))).status).toBe(200);
    expect((await send(apiToken, numbers(1))).status).toBe(402);
    expect(await spentOf(accountId)).toEqual([
      [null, 'month', '27.00'],
      [named.tokenId, 'day', '13.50'],
    ]);
    await budgets().remove(accountId, { period: 'day', key: again.tokenId }, nothing);
    expect(await spentOf(accountId)).toEqual([[null, 'month', '27.00']]);
    expect(await billing().differences()).toEqual([]);
  });

  it('what is released in its period is there again', async () => {
    const { accountId, apiToken } = await prepaid();
    await set(accountId, { period: 'day', limit: '9' });
    const { body } = await send(apiToken, numbers(1));
    const { reference_id: id } = body as { reference_id: string };
    await gateway.call('DELETE', `/ng/v1/sms/${id}`, { token: apiToken });
    expect(await spentOf(accountId)).toEqual([[null, 'day', '0.00']]);
    expect((await send(apiToken, [REJECTED, ...numbers(1)], {})).status).toBe(200);
    await eventually(async () => expect(await spentOf(accountId)).toEqual([[null, 'day', '4.50']]));
  });

  it('a budget that is set within a period counts what was spent in it; an earlier period does not', async () => {
    const { accountId, apiToken } = await prepaid();
    await send(apiToken, numbers(3));
    await set(accountId, { period: 'month', limit: '14' });
    expect(await spentOf(accountId)).toEqual([[null, 'month', '13.50']]);
    expect((await send(apiToken, numbers(1))).status).toBe(402);
    const source = gateway.running.app.get(DataSource, { strict: false });
    const former = Date.UTC(2026, 0, 1);
    await source.query(
      `UPDATE gateway_billing_budget SET starts_at = ${former} WHERE account_id = '${accountId}'`,
    );
    expect(await spentOf(accountId)).toEqual([[null, 'month', '0.00']]);
    expect((await send(apiToken, numbers(2))).status).toBe(200);
    expect(await spentOf(accountId)).toEqual([[null, 'month', '9.00']]);
    await budgets().remove(accountId, { period: 'month' }, nothing);
    expect((await send(apiToken, numbers(5))).status).toBe(200);
    expect(await spentOf(accountId)).toEqual([]);
    expect(await billing().differences()).toEqual([]);
  });

  it('a wrong limit or key is named, and changes nothing', async () => {
    const { accountId } = await prepaid();
    const stranger = await prepaid();
    const [foreign] = await gateway.accounts.keys(stranger.accountId);
    await expect(set(accountId, { period: 'day', limit: '-1' })).rejects.toMatchObject({
      message: expect.stringContaining('limit: must be a decimal number'),
    });
    await expect(
      set(accountId, { period: 'day', limit: '1', key: foreign?.keyId }),
    ).rejects.toMatchObject({ message: expect.stringContaining('key: must be the id of a key') });
    await expect(budgets().remove(accountId, { period: 'day' }, nothing)).rejects.toMatchObject({
      code: 'not_found',
    });
    expect(await spentOf(accountId)).toEqual([]);
  });
});
