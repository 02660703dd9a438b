import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { DataSource } from 'typeorm';
import { BillingService } from '../../../src/billing/ledger/billing.service.js';
import { amountText } from '../../../src/billing/money.js';
import { RateCards } from '../../../src/billing/rate-cards/rate-cards.service.js';
import { Browser } from '../../support/browser.js';
import { buildPages } from '../../support/builds.js';
import { eventually } from '../../support/eventually.js';
import { shown, wrongInAll } from '../../support/page-check.js';
import { describeWithServer } from '../../support/servers.js';
import { TestGateway } from '../gateway/test-gateway.js';
import { signedIn } from './portal-client.js';

const nothing = () => Promise.resolve();
const FILE = {
  currency: 'NGN',
  carriers: {
    near: { type: 'simulator', prices: '234=3.25 *=10' },
    far: { type: 'simulator' },
  },
  routes: [{ channel: 'sms', to: ['44'], use: 'far' }, { use: 'near' }],
};

describeWithServer('chromium', 'the page Margins', () => {
  let gateway: TestGateway;
  let directory: string;
  let browser: Browser;
  let page: Page;
  let accountId: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dundun-margins-'));
    const file = join(directory, 'carriers.json');
    await writeFile(file, JSON.stringify(FILE));
    await buildPages();
    gateway = new TestGateway({
      CARRIERS_FILE: file,
      SMS_PRICES: 'NGN *=9.5 234=4.500001 44=12.25',
    });
    await gateway.start();
    const account = await gateway.account('Acme');
    ({ accountId } = account);
    const billing = gateway.running.app.get(BillingService, { strict: false });
    const topUp = { amount: '1250', reference: 'INV-17', userId: null };
    await billing.topUp(accountId, topUp, nothing);
    await billing.setMode(accountId, { mode: 'prepaid' }, nothing);
    const cards = gateway.running.app.get(RateCards, { strict: false });
    await eventually(async () => {
      if (!cards.pays(accountId)) throw new Error('the account does not pay yet');
    });
    const to = ['2348012340001', '2348012340002', '447500000123', '14165550001'];
    await gateway.call('POST', '/ng/v1/sendsms', {
      token: account.apiToken,
      body: { from: 'ACME', to, body: 'Hello' },
    });
    await eventually(async () => {
      const { reserved } = (await billing.account(accountId)) ?? {};
      if (reserved !== 0n) throw new Error('messages are on their way');
    });
    const operator = await signedIn(gateway, 'operator');
    browser = await Browser.open(gateway.url, operator.cookie);
    page = await browser.page();
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.destroy();
    await rm(directory, { recursive: true });
  });

  const open = async (address: string): Promise<void> => {
    await page.goto(`${gateway.url}/portal/${address}`);
    await shown(page);
    await page.setViewportSize({ width: 1280, height: 860 });
  };
  const rowsOf = async (name: string) =>
    (await page.getByRole('table', { name, exact: true }).locator('tbody tr').allInnerTexts()).map(
      (row) => row.split(/\t/).map((cell) => cell.trim()),
    );

  it('price, cost and margin stand by carrier and country, and their sums are those of the ledger', async () => {
    browser.complaints.length = 0;
    await open('margins');
    expect(await rowsOf('By carrier and country')).toEqual([
      ['far', 'United Kingdom', '1', '12.25 NGN', 'not known', '–', '–'],
      ['near', 'Canada', '1', '9.50 NGN', '10.00 NGN', '-0.50 NGN', '-5.3%'],
      ['near', 'Nigeria', '2', '9.000002 NGN', '6.50 NGN', '2.500002 NGN', '27.8%'],
    ]);
    expect(await rowsOf('Together')).toEqual([
      [
        'NGN',
        '4',
        '30.750002 NGN',
        '16.50 NGN\n1 not known',
        '2.000002 NGN\nof 3 messages',
        '10.8%',
      ],
    ]);
    const [sum] = await gateway.running.app
      .get(DataSource, { strict: false })
      .query<{ charged: string | number }[]>(
        `SELECT SUM(charged) AS charged FROM gateway_billing_batch WHERE account_id = '${accountId}'`,
      );
    expect(amountText(BigInt(sum?.charged ?? 0))).toBe('30.750002');
    await page.getByText('The cost of 1 message is not known.').waitFor();
    expect((await rowsOf('Accounts by balance'))[0]).toEqual(['Acme', '1,219.249998 NGN']);
    expect(await wrongInAll(page, 'margins')).toEqual([]);
    expect(browser.complaints).toEqual([]);
  });

  it('the address has the month and the groups, and Ctrl+K finds the page', async () => {
    await open('margins');
    await page.getByLabel('Grouped by').selectOption('account');
    await page.waitForURL(/by=account/);
    expect((await rowsOf('By account')).map(([name]) => name)).toEqual(['Acme']);
    expect(await wrongInAll(page, 'margins-account')).toEqual([]);
    await open('margins/2020-02');
    await page.getByText('No messages in this month').waitFor();
    expect(await wrongInAll(page, 'margins-none')).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.getByRole('link', { name: 'March 2020' }).click();
    await page.getByRole('heading', { name: 'Margins of March 2020' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /^Page, action/ }).fill('margins');
    await page.getByRole('option', { name: 'Margins Page' }).click();
    await page.getByRole('heading', { name: /^Margins of/ }).waitFor();
    await page.waitForURL(/margins$/);
  });
});
