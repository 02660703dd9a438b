import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { BillingService } from '../../../src/billing/ledger/billing.service.js';
import { amountText } from '../../../src/billing/money.js';
import { RateCards } from '../../../src/billing/rate-cards/rate-cards.service.js';
import type {
  Billing,
  LedgerEntry,
  Listed,
  MonthStatement,
} from '../../../src/portal/portal-api.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { TestGateway } from '../gateway/test-gateway.js';
import { type PortalClient, signedIn } from './portal-client.js';

const nothing = () => Promise.resolve();

describeOneDatabase('the Billing of the portal', (database) => {
  let gateway: TestGateway;
  let account: CreatedAccount;
  let admin: PortalClient;
  let viewer: PortalClient;
  let stranger: PortalClient;

  beforeAll(async () => {
    gateway = new TestGateway({
      DATABASE_URL: database.url,
      SMS_PRICES: 'NGN *=4.5',
      BILLING_EMAIL_FROM: 'billing@example.com',
    });
    await gateway.start();
    account = await gateway.account('one');
    const other = await gateway.account('other');
    [admin, viewer, stranger] = await Promise.all([
      signedIn(gateway, 'admin', account.accountId),
      signedIn(gateway, 'viewer', account.accountId),
      signedIn(gateway, 'viewer', other.accountId),
    ]);
    const billing = gateway.running.app.get(BillingService, { strict: false });
    const topUp = { amount: '5000', reference: 'INV-17', note: 'Bank', userId: null };
    await billing.topUp(account.accountId, topUp, nothing);
    await billing.setMode(account.accountId, { mode: 'prepaid' }, nothing);
    await eventually(async () => {
      const cards = gateway.running.app.get(RateCards, { strict: false });
      if (!cards.pays(account.accountId)) throw new Error('the account does not pay yet');
    });
    await gateway.call('POST', '/ng/v1/sendsms', {
      token: account.apiToken,
      body: { from: 'ACME', to: ['2348012340001', '447500000123'], body: 'Hello' },
    });
    await eventually(async () => {
      const { balance } = await viewer.ok<Billing>('GET', 'billing');
      if (balance !== '4991.00') throw new Error(`the balance is ${balance}`);
    });
  });
  afterAll(() => gateway.destroy());

  it('members see balance, entries and the statement of their account, others theirs', async () => {
    expect(await viewer.ok('GET', 'billing')).toMatchObject({
      mode: 'prepaid',
      available: '4991.00',
      reserved: '0.00',
      currency: 'NGN',
      budgets: [],
      notices: { thresholds: [], emails: [] },
      canMail: true,
    });
    const first = await viewer.ok<Listed<LedgerEntry>>('GET', 'billing/entries?limit=1');
    expect(first.data).toMatchObject([{ kind: 'charge', balanceAfter: '4991.00' }]);
    const all: LedgerEntry[] = [...first.data];
    for (let cursor = first.nextCursor; cursor !== null;) {
      const page = await viewer.ok<Listed<LedgerEntry>>(
        'GET',
        `billing/entries?limit=1&cursor=${encodeURIComponent(cursor)}`,
      );
      all.push(...page.data);
      cursor = page.nextCursor;
    }
    expect(all.at(-1)).toMatchObject({ kind: 'top_up', reference: 'INV-17', note: 'Bank' });
    expect((await viewer.call('GET', 'billing/entries.csv')).text).toContain('top_up,5000.00');
    const month = new Date().toISOString().slice(0, 7);
    const statement = await viewer.ok<MonthStatement>('GET', `billing/statement?month=${month}`);
    expect(statement).toMatchObject({
      accountName: 'one',
      opening: '0.00',
      closing: '4991.00',
      channels: [
        { channel: 'sms', country: 'GB', messages: 1, amount: '4.50' },
        { channel: 'sms', country: 'NG', messages: 1, amount: '4.50' },
      ],
      keys: [{ key: 'api_token', messages: 2, amount: '9.00' }],
    });
    const csv = await viewer.call('GET', `billing/statement.csv?month=${month}`);
    expect(csv.text).toContain('messages,,sms,GB,,1,1,4.50');
    expect(await stranger.ok('GET', 'billing')).toMatchObject({ mode: 'off', balance: '0.00' });
    expect((await viewer.call('GET', 'billing/statement?month=2026-13')).status).toBe(422);
  });

  it('what was spent today is the sum of its entries: refunds count, and yesterday does not', async () => {
    const today = async () => (await viewer.ok<{ spent: string }>('GET', 'billing/today')).spent;
    expect(await today()).toBe('9.00');
    const { app } = gateway.running;
    const source = app.get(DataSource, { strict: false });
    const midnight = new Date().setUTCHours(0, 0, 0, 0);
    const { accountId } = account;
    // A long history, so that the first entry of the day is searched for; sequences go on.
    const [last] = await source.query<{ n: string | number }[]>(
      `SELECT MAX(sequence) AS n FROM gateway_billing_entry WHERE account_id = '${accountId}'`,
    );
    const from = Number(last?.n) + 1;
    const at = (n: number) => (n < 4_000 ? midnight - 4_000_000 + n * 1_000 : midnight + n);
    const rows = Array.from({ length: 4_500 }, (_, n) => {
      const [kind, amount] = n % 5 === 0 ? ['refund', 2_000_001] : ['charge', -3_000_000 - n];
      return `('${accountId}', ${from + n}, '${kind}', ${amount}, 0, 'test-${n}', ${at(n)})`;
    });
    // As a year of entries would be: the former ones are of yesterday.
    await source.query(
      `UPDATE gateway_billing_entry SET created_at = ${midnight - 86_400_000} WHERE account_id = '${accountId}'`,
    );
    for (let start = 0; start < rows.length; start += 500)
      await source.query(
        `INSERT INTO gateway_billing_entry (account_id, sequence, kind, amount, balance_after, reference,
          created_at) VALUES ${rows.slice(start, start + 500).join(', ')}`,
      );
    await source.query(
      `UPDATE gateway_billing_account SET entries = ${from + rows.length - 1} WHERE account_id = '${accountId}'`,
    );
    const [sum] = await source.query<{ spent: string | number }[]>(
      `SELECT -SUM(amount) AS spent FROM gateway_billing_entry WHERE account_id = '${accountId}'
        AND kind IN ('charge', 'refund') AND created_at >= ${midnight}`,
    );
    expect(await today()).toBe(amountText(BigInt(sum?.spent ?? 0)));
    await source.query(
      `DELETE FROM gateway_billing_entry WHERE account_id = '${accountId}' AND sequence >= ${from}`,
    );
    await source.query(
      `UPDATE gateway_billing_account SET entries = ${from - 1} WHERE account_id = '${accountId}'`,
    );
  });

  it('admins set budgets and notices, which the audit log has; viewers do not', async () => {
    const budget = { period: 'month', limit: '100' };
    const notices = { thresholds: ['500', '50'], emails: ['ada@example.com'] };
    expect((await viewer.call('POST', 'billing/budgets', { body: budget })).status).toBe(403);
    expect((await viewer.call('PUT', 'billing/notices', { body: notices })).status).toBe(403);
    await admin.ok('POST', 'billing/budgets', budget);
    await admin.ok('POST', 'billing/budgets', { ...budget, key: 'api_token', limit: '9' });
    await admin.ok('PUT', 'billing/notices', notices);
    expect(await viewer.ok('GET', 'billing')).toMatchObject({
      budgets: [
        { key: null, period: 'month', limit: '100.00', spent: '9.00' },
        { key: 'api_token', period: 'month', limit: '9.00', spent: '9.00' },
      ],
      notices: { thresholds: ['500.00', '50.00'], emails: ['ada@example.com'] },
    });
    await admin.ok('POST', 'billing/budgets/remove', { period: 'month', key: 'api_token' });
    const wrong = await admin.call('POST', 'billing/budgets', {
      body: { period: 'month', limit: 'much' },
    });
    expect(wrong).toMatchObject({ status: 422, body: { error: { fields: [{ path: 'limit' }] } } });
    const { data } = await admin.ok<Listed<{ action: string }>>('GET', 'audit');
    expect(data.map(({ action }) => action).filter((one) => one.startsWith('billing.'))).toEqual([
      'billing.budget_removed',
      'billing.thresholds_set',
      'billing.budget_set',
      'billing.budget_set',
    ]);
  });
});
