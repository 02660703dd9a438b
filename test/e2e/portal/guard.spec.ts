import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { Browser } from '../../support/browser.js';
import { buildPages } from '../../support/builds.js';
import { eventually } from '../../support/eventually.js';
import { shown, wrongInAll } from '../../support/page-check.js';
import { describeWithServer } from '../../support/servers.js';
import { TestGateway } from '../gateway/test-gateway.js';
import { type PortalClient, signedIn } from './portal-client.js';

describeWithServer('chromium', 'limits against abuse in the portal', () => {
  const gateway = new TestGateway();
  let operator: PortalClient;
  let browser: Browser;
  let page: Page;
  let account: { accountId: string; apiToken: string };

  beforeAll(async () => {
    await buildPages();
    await gateway.start();
    account = await gateway.account('acme');
    operator = await signedIn(gateway, 'operator');
    browser = await Browser.open(gateway.url, operator.cookie);
    page = await browser.page();
    await page.goto(`${gateway.url}/portal/a/${account.accountId}/settings/account`);
    await shown(page);
  });
  afterAll(async () => {
    await browser?.close();
    await gateway.destroy();
  });

  const card = () => page.locator('section', { hasText: 'Guard against abuse' });
  const save = () => card().getByRole('button', { name: 'Save the limits' }).click();
  const guard = async () => (await gateway.accounts.find(account.accountId)).guard;

  it('an operator sets limits, which the next sends meet, and takes them away', async () => {
    expect(await guard()).toBeNull();
    await card().getByLabel('Countries', { exact: true }).selectOption('only');
    await card().getByLabel('Codes of countries').fill('ng, GH');
    await card().getByLabel('Messages to one recipient').fill('10/h');
    await card().getByLabel('Over the limit of a recipient').selectOption('hold');
    await card().getByLabel('Growth of an hour').fill('5');
    await card().getByLabel('Growth counts from').fill('1000');
    await card().getByLabel('Over the growth').selectOption('alert');
    await save();
    await page.getByText('Limits saved').waitFor();
    expect(await guard()).toEqual({
      countries: { only: ['NG', 'GH'], action: 'deny' },
      recipient: { limit: '10/h', action: 'hold' },
      growth: { factor: 5, from: 1_000, action: 'alert' },
    });
    expect(await wrongInAll(page, 'settings-guard')).toEqual([]);
    expect(browser.complaints).toEqual([]);
    await eventually(async () =>
      expect(
        await gateway.call('POST', '/ng/v1/sendsms', {
          token: account.apiToken,
          body: { from: 'ACME', to: ['447400123456'], body: 'Hello' },
        }),
      ).toMatchObject({ status: 422, body: { error: { type: 'policy_error' } } }),
    );
    // The page has what is stored.
    await page.reload();
    await shown(page);
    expect(await card().getByLabel('Codes of countries').inputValue()).toBe('NG, GH');
    expect(await card().getByLabel('Over the limit of a recipient').inputValue()).toBe('hold');
    await card().getByLabel('Countries', { exact: true }).selectOption('all');
    for (const label of ['Messages to one recipient', 'Growth of an hour', 'Growth counts from'])
      await card().getByLabel(label).fill('');
    await save();
    await eventually(async () => expect(await guard()).toBeNull());
    const { data } = await operator.ok<{ data: { action: string; target: string }[] }>(
      'GET',
      'audit',
    );
    expect(data.filter(({ action }) => action === 'account.guard_changed')).toMatchObject([
      { target: 'default' },
      { target: 'own' },
    ]);
  });

  it('a wrong limit is named at its field, as by the command line, and changes nothing', async () => {
    await card().getByLabel('Numbers of a range').fill('20');
    await save();
    await card()
      .getByText(/is no rate/)
      .first()
      .waitFor();
    expect(await wrongInAll(page, 'settings-guard-refused')).toEqual([]);
    const form = { countries: 'all', codes: [], prefix: '', range: '', recipient: '' };
    const growth = { growthFactor: '', growthFrom: '' };
    const actions = Object.fromEntries(
      ['countries', 'recipient', 'prefix', 'range', 'growth'].map((name) => [
        `${name}Action`,
        'deny',
      ]),
    );
    for (const [wrong, path] of [
      [{ prefix: '10/8d' }, 'prefix'],
      [{ countries: 'only' }, 'countries'],
      [{ countries: 'except', codes: ['Ghana'] }, 'countries'],
      [{ growthFactor: '0.5', growthFrom: '10' }, 'growth'],
      [{ rangeAction: 'nothing' }, 'rangeAction'],
    ] as const)
      expect(
        await operator.call('PATCH', `accounts/${account.accountId}/guard`, {
          body: { ...form, ...growth, ...actions, ...wrong },
        }),
      ).toMatchObject({ status: 422, body: { error: { fields: [{ path }] } } });
    expect(await guard()).toBeNull();
  });

  it('an admin of the account neither sees nor changes them', async () => {
    const admin = await signedIn(gateway, 'admin', account.accountId);
    for (const method of ['GET', 'PATCH'])
      expect((await admin.call(method, `accounts/${account.accountId}/guard`)).status).toBe(403);
    const own = await Browser.open(gateway.url, admin.cookie);
    try {
      const visitor = await own.page();
      await visitor.goto(`${gateway.url}/portal/settings/account`);
      await shown(visitor);
      await visitor.getByText('STOP and START').first().waitFor();
      expect(await visitor.getByText('Guard against abuse').count()).toBe(0);
    } finally {
      await own.close();
    }
  });
});
