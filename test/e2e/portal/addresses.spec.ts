import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { MessagingService, SmsService } from '@dundun/messaging';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { Page } from 'playwright-core';
import type { DataSource } from 'typeorm';
import { MemberEntity, SessionEntity, User } from '../../../src/portal/portal.tables.js';
import { SetUpLinks } from '../../../src/portal/sign-in/set-up-links.js';
import { Browser } from '../../support/browser.js';
import { buildPages } from '../../support/builds.js';
import { shown, wrongInAll } from '../../support/page-check.js';
import { describeWithServer } from '../../support/servers.js';
import { TestGateway } from '../gateway/test-gateway.js';
import { PASSWORD, signedIn } from './portal-client.js';

describeWithServer('chromium', 'addresses of the portal', () => {
  const gateway = new TestGateway();
  let browser: Browser;
  beforeAll(async () => {
    await buildPages();
    await gateway.start();
  });
  afterEach(() => browser.close());
  afterAll(() => gateway.destroy());

  const part = <T>(type: abstract new (...given: never[]) => T): T =>
    gateway.running.app.get(type, { strict: false });
  const source = (): DataSource =>
    gateway.running.app.get<DataSource>(getDataSourceToken(), { strict: false });
  const go = async (page: Page, address: string): Promise<void> => {
    await page.goto(`${gateway.url}/portal/${address}`);
    await shown(page);
  };
  const heading = (page: Page, name: string): Promise<void> =>
    page.getByRole('heading', { name, level: 1 }).waitFor();
  /** A member of two accounts with a message in each. */
  const ofTwo = async () => {
    const [one, two] = [await gateway.account('One'), await gateway.account('Two')];
    const member = await signedIn(gateway, 'admin', one.accountId);
    const { id: userId } = await source().getRepository(User).findOneByOrFail({
      email: member.email,
    });
    await part(MessagingService).transaction((manager) =>
      manager.insert(MemberEntity, {
        accountId: two.accountId,
        userId,
        role: 'viewer',
        createdAt: new Date(),
      }),
    );
    const to = '2348012345601';
    for (const { accountId } of [one, two])
      await part(SmsService).send({ from: 'ACME', to, body: 'Hello' }, { tenant: accountId });
    return { member, one: one.accountId, two: two.accountId };
  };

  it('an operator of no account lands on the list of accounts: after the set-up, at the portal itself, by an old link and after the end of the session', async () => {
    const actor = { userId: null, ip: null, accountId: null };
    const { link } = await part(SetUpLinks).invite(
      { accountId: null, role: null, operator: true },
      actor,
    );
    const code = link.slice(link.indexOf('/setup') + 1);
    browser = await Browser.open(gateway.url);
    const page = await browser.page();
    await page.goto(`${gateway.url}/portal/${code}`);
    await page.getByLabel('E-mail').fill('grace@example.com');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button').last().click();
    await heading(page, 'Accounts');
    for (const address of ['', 'overview', 'messages?status=failed']) {
      await go(page, address);
      await heading(page, 'Accounts');
      expect(page.url()).toBe(`${gateway.url}/portal/accounts`);
    }
    const { id: userId } = await source().getRepository(User).findOneByOrFail({
      email: 'grace@example.com',
    });
    await source().getRepository(SessionEntity).delete({ userId });
    await page.reload();
    await page.getByLabel('E-mail').fill('grace@example.com');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await heading(page, 'Accounts');
    expect(await wrongInAll(page, 'home')).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.getByRole('link', { name: 'Open demo' }).click();
    await heading(page, 'Overview');
    expect(page.url()).toMatch(/\/portal\/a\/acc_\w+\/overview$/);
    await page.getByRole('combobox', { name: 'Account' }).selectOption({ label: 'All accounts' });
    await heading(page, 'Accounts');
  });

  it('two tabs keep their own account', async () => {
    const { member, one, two } = await ofTwo();
    browser = await Browser.open(gateway.url, member.cookie);
    const [first, second] = [await browser.page(), await browser.page()];
    await go(first, `a/${one}/messages`);
    await go(second, `a/${one}/messages`);
    await second.getByRole('combobox', { name: 'Account' }).selectOption({ label: 'Two' });
    await heading(second, 'Overview');
    await first.bringToFront();
    await first.getByRole('link', { name: 'Batches' }).click();
    await heading(first, 'Batches');
    await first.reload();
    await shown(first);
    expect(first.url()).toBe(`${gateway.url}/portal/a/${one}/batches`);
    expect(second.url()).toBe(`${gateway.url}/portal/a/${two}/overview`);
    const chosen = (page: Page) => page.getByRole('combobox', { name: 'Account' }).inputValue();
    expect([await chosen(first), await chosen(second)]).toEqual([one, two]);
    await go(first, `a/${one}/messages`);
    await first.getByRole('button', { name: 'CSV' }).click();
    const exported = await first.evaluate(
      `document.querySelector('[href*="messages/export"]').href`,
    );
    expect(exported).toContain(`/portal/a/${one}/api/messages/export`);
    expect(browser.complaints).toEqual([]);
  });

  it('a link to a message of another account of the person opens that account', async () => {
    const { member, two } = await ofTwo();
    member.account = two;
    const { data } = await member.ok<{ data: { id: string }[] }>('GET', 'messages');
    browser = await Browser.open(gateway.url, member.cookie);
    const page = await browser.page();
    await go(page, `a/${two}/messages/${data[0]?.id}`);
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    expect(await page.getByRole('combobox', { name: 'Account' }).inputValue()).toBe(two);
  });

  it('a link without an account opens the account that was opened last, with its filter', async () => {
    const { member, one, two } = await ofTwo();
    browser = await Browser.open(gateway.url, member.cookie);
    const page = await browser.page();
    await go(page, 'messages?status=failed');
    await heading(page, 'Messages');
    expect(page.url()).toBe(`${gateway.url}/portal/a/${one}/messages?status=failed`);
    await go(page, `a/${two}/overview`);
    await go(page, 'batches');
    await heading(page, 'Batches');
    expect(page.url()).toBe(`${gateway.url}/portal/a/${two}/batches`);
    await go(page, '');
    await heading(page, 'Overview');
  });

  it('the address of an account of others says that there is no such account', async () => {
    const member = await signedIn(gateway, 'viewer', (await gateway.account()).accountId);
    const { accountId } = await gateway.account('Others');
    browser = await Browser.open(gateway.url, member.cookie);
    const page = await browser.page();
    await page.goto(`${gateway.url}/portal/a/${accountId}/messages`);
    await heading(page, 'There is no such account');
    expect(await wrongInAll(page, 'no-account')).toEqual([]);
    await page.getByRole('link', { name: 'Go to your accounts' }).click();
    await heading(page, 'Overview');
  });
});
