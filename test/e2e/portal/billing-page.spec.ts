import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { BillingService } from '../../../src/billing/ledger/billing.service.js';
import { RateCards } from '../../../src/billing/rate-cards/rate-cards.service.js';
import { Browser } from '../../support/browser.js';
import { buildPages } from '../../support/builds.js';
import { eventually } from '../../support/eventually.js';
import { shown, wrongInAll } from '../../support/page-check.js';
import { describeWithServer } from '../../support/servers.js';
import { TestGateway } from '../gateway/test-gateway.js';
import { signedIn } from './portal-client.js';

const nothing = () => Promise.resolve();
const MONTH = new Date().toISOString().slice(0, 7);

describeWithServer('chromium', 'the page Billing', () => {
  const gateway = new TestGateway({
    SMS_PRICES: 'NGN *=9.5 234=4.5 44=12.25',
    BILLING_EMAIL_FROM: 'billing@example.com',
  });
  let browser: Browser;
  let page: Page;
  let accountId: string;

  beforeAll(async () => {
    await buildPages();
    await gateway.start();
    const account = await gateway.account('Acme');
    ({ accountId } = account);
    const billing = gateway.running.app.get(BillingService, { strict: false });
    const topUp = { amount: '12500', reference: 'INV-17', note: 'Bank transfer', userId: null };
    await billing.topUp(accountId, topUp, nothing);
    await billing.setMode(accountId, { mode: 'prepaid' }, nothing);
    await eventually(async () => {
      const isKnown = gateway.running.app.get(RateCards, { strict: false }).pays(accountId);
      if (!isKnown) throw new Error('the account does not pay yet');
    });
    const to = ['2348012340001', '2348012340002', '447500000123', '14165550001'];
    await gateway.call('POST', '/ng/v1/sendsms', {
      token: account.apiToken,
      body: { from: 'ACME', to, body: 'Hello' },
    });
    await gateway.call('POST', '/ng/v1/sendsms', {
      token: account.apiToken,
      body: { from: 'ACME', to: ['2348012340003'], body: 'Hi', send_at: '2150-01-01T00:00:00Z' },
    });
    await eventually(async () => {
      if ((await billing.account(accountId))?.reserved !== 4_500_000n)
        throw new Error('messages are on their way');
    });
    const admin = await signedIn(gateway, 'admin', accountId);
    browser = await Browser.open(gateway.url, admin.cookie);
    page = await browser.page();
  });
  afterAll(async () => {
    await browser?.close();
    await gateway.destroy();
  });

  const open = async (address: string): Promise<void> => {
    await page.goto(`${gateway.url}/portal/a/${accountId}/${address}`);
    await shown(page);
  };

  it('an admin sets a budget and the notices of a low balance, and removes the budget', async () => {
    await open('billing');
    await page.getByRole('button', { name: 'Set a budget' }).click();
    expect(await wrongInAll(page, 'billing-budget')).toEqual([]);
    await page.getByLabel(/^Limit in NGN/).fill('-1');
    await page.getByRole('button', { name: 'Set', exact: true }).click();
    await page
      .getByText(/must be a decimal number/)
      .first()
      .waitFor();
    await page.getByLabel(/^Limit in NGN/).fill('2000');
    await page.getByRole('button', { name: 'Set', exact: true }).click();
    const budgets = page.getByRole('table', { name: 'Budgets' });
    await budgets.getByText('2,000.00').waitFor();
    await page.getByRole('button', { name: 'Change the notices of a low balance' }).click();
    await page.getByLabel(/^Amounts in NGN/).fill('500\n100');
    await page.getByLabel(/^E-mail addresses/).fill('ada@example.com');
    expect(await wrongInAll(page, 'billing-notices')).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('500.00, 100.00').waitFor();
    expect(await wrongInAll(page, 'billing')).toEqual([]);
    await page
      .getByRole('button', { name: 'Remove the budget of the account for the month' })
      .click();
    await page.getByRole('button', { name: 'Remove', exact: true }).last().click();
    await page.getByText('No budgets').waitFor();
  });

  it('the page has the balance in the shell, the entries, and the month by channel and country', async () => {
    await open('billing');
    await page.setViewportSize({ width: 1280, height: 860 });
    const shell = page.getByRole('link', { name: /^Available/ });
    expect(await shell.innerText()).toMatch(/12,464\.75 NGN/);
    const rows = page.getByRole('table', { name: 'Messages by channel and country' });
    expect(await rows.locator('tbody tr').allInnerTexts()).toEqual([
      expect.stringMatching(/SMS\s+Canada\s+1\s+1\s+9\.50/),
      expect.stringMatching(/SMS\s+United Kingdom\s+1\s+1\s+12\.25/),
      expect.stringMatching(/SMS\s+Nigeria\s+2\s+2\s+9\.00/),
    ]);
    await page.getByRole('table', { name: 'Entries' }).getByText('INV-17: Bank transfer').waitFor();
  });

  it('the statement passes axe on screen, and has no buttons on paper', async () => {
    browser.complaints.length = 0;
    await open(`billing/${MONTH}`);
    expect(await wrongInAll(page, 'billing-statement')).toEqual([]);
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('button', { name: 'Print' }).isVisible()).toBe(false);
    expect(await page.locator('.sidebar').isVisible()).toBe(false);
    expect(await page.getByText('12,469.25 NGN').isVisible()).toBe(true);
    await page.emulateMedia({ media: 'screen' });
    expect(browser.complaints).toEqual([]);
  });
});
