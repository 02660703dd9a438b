import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { answer, Receiver } from '../../integration/webhooks/receiver.js';
import { Browser } from '../../support/browser.js';
import { buildPages } from '../../support/builds.js';
import { eventually } from '../../support/eventually.js';
import { shown } from '../../support/page-check.js';
import { describeWithServer } from '../../support/servers.js';
import { TestGateway } from '../gateway/test-gateway.js';
import { PASSWORD } from './portal-client.js';

/** Each task begins on the home page, and goes on by what the page says, without an address or a menu of keys. */
describeWithServer('chromium', 'a newcomer without documents', () => {
  const gateway = new TestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
  let receiver: Receiver;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    await buildPages();
    await gateway.start();
    receiver = await Receiver.start();
    browser = await Browser.open(gateway.url);
    page = await browser.page();
    await page.goto(gateway.running.demo!.setup);
    await page.getByLabel('E-mail').fill('ada@example.com');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button').last().click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });
  afterAll(async () => {
    await browser.close();
    await gateway.destroy();
    await receiver.close();
  });

  const home = async (): Promise<void> => {
    await page.goto(`${gateway.url}/portal`);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await shown(page);
  };
  const press = (name: string | RegExp) => page.getByRole('button', { name }).first().click();
  const follow = (name: string | RegExp) => page.getByRole('link', { name }).first().click();

  it('sends to three people, and finds why one did not get it', async () => {
    await home();
    await press('Send a message');
    const dialog = page.getByRole('dialog');
    await dialog
      .getByLabel('To', { exact: true })
      .fill('2348012345601, 2348012345602, 2348012349901');
    await dialog.getByLabel('Text', { exact: true }).fill('We open at nine');
    await dialog.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('heading', { name: /^Batch/ }).waitFor();
    await page.getByText('100%').waitFor();
    await home();
    await follow(/undelivered SMS The phone was switched off/);
    await page.getByRole('heading', { name: 'Messages' }).waitFor();
    expect(await page.locator('tr.linked').count()).toBe(1);
    await page.locator('tr.linked').getByText('The phone was switched off').waitFor();
    await page.locator('tr.linked a').first().click();
    await page.getByText('What to do:').waitFor();
    expect(browser.complaints).toEqual([]);
  });

  it('makes a webhook, sees an attempt fail, and replays it', async () => {
    receiver.respond = answer(500);
    await home();
    await follow('Add an endpoint');
    await press('Add an endpoint');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Address').fill(`${receiver.url}/hooks`);
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.getByText('It is not shown again').waitFor();
    await dialog
      .getByRole('button', { name: /Close|Done/ })
      .last()
      .click();
    await follow(`${receiver.url}/hooks`);
    await press('Send a test event');
    await page.getByRole('table', { name: 'Attempts' }).getByText('500').first().waitFor();
    receiver.respond = answer(204);
    await page
      .getByRole('button', { name: /^Redeliver webhook.test/ })
      .first()
      .click();
    await page.getByRole('table', { name: 'Attempts' }).getByText('204').first().waitFor();
    expect(browser.complaints).toEqual([]);
  });

  it('invites a colleague', async () => {
    await home();
    await follow('Open Members');
    await press('Invite');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Role').selectOption({ index: 1 });
    await press('Make the link');
    await dialog.getByText(/\/portal\/setup#code=/).waitFor();
    expect(browser.complaints).toEqual([]);
  });

  it('finds out what the day cost', async () => {
    await home();
    await follow('Billing');
    const spent = page.locator('dl div', { hasText: 'Spent today' });
    // Three messages of 4.50: one that was not delivered costs the same.
    await eventually(async () => expect(await spent.innerText()).toMatch(/13\.50 NGN/));
    expect(browser.complaints).toEqual([]);
  });
});
