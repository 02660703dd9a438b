import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { Browser } from '../../support/browser.js';
import { shown } from '../../support/page-check.js';
import { describeWithServer } from '../../support/servers.js';
import { Processes } from '../gateway/built-gateway.js';
import { buildGateway, buildPages } from '../../support/builds.js';
import { TestGateway } from '../gateway/test-gateway.js';
import { PASSWORD, signedIn } from './portal-client.js';

const PAGES = ['overview', 'messages', 'batches'];

/** A tab for each page, after its event stream has opened. */
async function tabsOf(browser: Browser, url: string): Promise<Page[]> {
  const tabs: Page[] = [];
  for (const path of PAGES) {
    const tab = await browser.page();
    const live = tab.waitForResponse(/\/api\/live$/);
    await tab.goto(`${url}/portal/${path}`);
    await shown(tab);
    expect((await live).status()).toBe(200);
    tabs.push(tab);
  }
  return tabs;
}

async function signedOut(tabs: readonly Page[]): Promise<void> {
  for (const tab of tabs) await tab.getByRole('heading', { name: 'Sign in' }).waitFor();
}

describeWithServer('chromium', 'several open tabs of the portal', () => {
  const gateway = new TestGateway();
  let browser: Browser | undefined;
  beforeAll(async () => {
    await buildPages();
    await gateway.start();
  });
  afterEach(async () => {
    await browser?.close();
    browser = undefined;
  });
  afterAll(() => gateway.destroy());

  it('all tabs show the sign-in page after a sign-out in one tab', async () => {
    const { accountId } = await gateway.account();
    const { cookie } = await signedIn(gateway, 'viewer', accountId);
    browser = await Browser.open(gateway.url, cookie);
    const tabs = await tabsOf(browser, gateway.url);
    await tabs[0]!.getByRole('button', { name: 'Sign out' }).click();
    await signedOut(tabs);
    for (const tab of tabs) expect(await tab.locator('main table').count()).toBe(0);
  });

  it('the tabs of a member show the sign-in page after the suspension of the account', async () => {
    const { accountId } = await gateway.account();
    const { cookie } = await signedIn(gateway, 'admin', accountId);
    const operator = await signedIn(gateway, 'operator');
    browser = await Browser.open(gateway.url, cookie);
    const tabs = await tabsOf(browser, gateway.url);
    await operator.ok('POST', `accounts/${accountId}/suspend`);
    await signedOut(tabs);
    for (const tab of tabs) expect(await tab.locator('main table').count()).toBe(0);
  });

  it('a gateway with three open tabs ends on SIGTERM within its deadline', async () => {
    await buildGateway();
    const processes = new Processes();
    try {
      const running = await processes.gateway();
      const [link = ''] = await running.told(/http\S+\/portal\/setup#code=[\w-]{43}/);
      browser = await Browser.open(running.url);
      const first = await browser.page();
      await first.goto(link);
      await first.getByLabel('E-mail').fill('ada@example.com');
      await first.getByLabel('Password').fill(PASSWORD);
      await first.getByRole('button').last().click();
      await first.getByRole('heading', { name: 'Overview' }).waitFor();
      await tabsOf(browser, running.url);
      const { code, stdout, stderr } = await running.stop('SIGTERM');
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain('"msg":"stopped"');
      expect(stdout).not.toContain('did not stop in time');
    } finally {
      await processes.destroy();
    }
  });
});
