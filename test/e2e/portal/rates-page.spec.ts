import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { Browser } from '../../support/browser.js';
import { buildPages } from '../../support/builds.js';
import { eventually } from '../../support/eventually.js';
import { shown, wrongInAll } from '../../support/page-check.js';
import { describeWithServer } from '../../support/servers.js';
import { TestGateway } from '../gateway/test-gateway.js';
import { signedIn } from './portal-client.js';

const HEADER = 'channel,prefix,category,price,billing\n';

describeWithServer('chromium', 'the page Rates', () => {
  const gateway = new TestGateway({ SMS_PRICES: 'NGN *=9.5 234=4.5', VOICE_PRICE: 'NGN 15 6/6' });
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    await buildPages();
    await gateway.start();
    const operator = await signedIn(gateway, 'operator');
    await operator.ok('POST', 'rates', {
      csv: `${HEADER}sms,*,,9.5,\nsms,234,,4.5,\nwhatsapp,*,utility,6.7,\n`,
      card: 'partner',
      currency: 'NGN',
    });
    browser = await Browser.open(gateway.url, operator.cookie);
    page = await browser.page();
  });
  afterAll(async () => {
    await browser?.close();
    await gateway.destroy();
  });

  const open = async (address: string): Promise<void> => {
    await page.goto(`${gateway.url}/portal/${address}`);
    await shown(page);
    await page.setViewportSize({ width: 1280, height: 860 });
  };
  const table = (name: string) => page.getByRole('table', { name, exact: true });
  const rowsOf = (name: string) => table(name).locator('tbody tr').allInnerTexts();

  it('an operator uploads a file: its wrong lines are named, and what changes is shown before it is stored', async () => {
    browser.complaints.length = 0;
    await open('rates');
    await page.getByRole('link', { name: 'Import a version' }).click();
    expect(await wrongInAll(page, 'rates-import')).toEqual([]);
    await page.getByLabel('Starts on').fill('2150-01-01');
    const upload = (rows: string) =>
      page.getByLabel('File', { exact: true }).setInputFiles({
        name: 'rates.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from(HEADER + rows),
      });
    await upload('sms,*,,free,\nsms,234,,4,\nfax,1,,1,\n');
    await page.getByRole('button', { name: 'Preview' }).click();
    await table('Wrong lines').waitFor();
    expect(await rowsOf('Wrong lines')).toEqual([
      expect.stringMatching(/line 2\s+price must be a decimal number/),
      expect.stringMatching(/line 4\s+channel must be the name of a channel/),
    ]);
    expect(await wrongInAll(page, 'rates-import-wrong')).toEqual([]);
    browser.complaints.length = 0;
    await upload('sms,*,,9.5,\nsms,234,,4.000001,\nsms,44,,12.25,\n');
    await page.getByRole('button', { name: 'Preview' }).click();
    await table('Changed rates').waitFor();
    expect(await rowsOf('Changed rates')).toEqual([
      expect.stringMatching(/SMS\s+–\s+234\s+4\.5\s+4\.000001/),
    ]);
    expect(await rowsOf('Added rates')).toEqual([expect.stringMatching(/SMS\s+–\s+44\s+12\.25/)]);
    expect(await rowsOf('Removed rates')).toEqual([
      expect.stringMatching(/Voice\s+–\s+every other\s+15, 6\/6 s/),
    ]);
    expect(await wrongInAll(page, 'rates-preview')).toEqual([]);
    await page.getByRole('button', { name: 'Back to the file' }).click();
    expect(await page.getByLabel('Starts on').inputValue()).toBe('2150-01-01');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByRole('button', { name: 'Import this version' }).click();
    await table('Versions').getByText('later').waitFor();
    expect((await rowsOf('Versions')).map((row) => row.split(/\s+/)[0])).toEqual([
      'partner',
      'demo',
      'default',
      'default',
    ]);
    expect(browser.complaints).toEqual([]);
    expect(await wrongInAll(page, 'rates')).toEqual([]);
  });

  it('a number is searched on a card, and the address has the search', async () => {
    await open('rates');
    const box = page.getByLabel('Number with country code');
    await box.fill('+234 803 123 4567');
    await box.press('Enter');
    await eventually(async () => {
      await page.reload();
      await shown(page);
      expect(await rowsOf('Prices of the number')).toHaveLength(3);
    });
    expect((await rowsOf('Prices of the number')).map((row) => row.split(/\s+/))).toEqual([
      expect.arrayContaining(['SMS', '234', '4.5']),
      expect.arrayContaining(['Voice', '15', 'NGN,', '6/6']),
      expect.arrayContaining(['SMS', '234', '4.000001', '2150,']),
    ]);
    await page.getByLabel('Card').selectOption('partner');
    await page.waitForURL(/card=partner/);
    await table('Prices of the number').getByText('utility').waitFor();
    expect(await wrongInAll(page, 'rates-number')).toEqual([]);
  });

  it('two versions are compared, and Ctrl+K finds the page', async () => {
    await open('rates');
    await page.getByRole('link', { name: /^Compare default, 1 Jan 2150/ }).click();
    await table('Changed rates').waitFor();
    expect(await wrongInAll(page, 'rates-compare')).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /^Page, action/ }).fill('rates');
    await page.getByRole('option', { name: 'Rates Page' }).click();
    await page.getByRole('heading', { name: 'Rates', level: 1 }).waitFor();
  });
});
