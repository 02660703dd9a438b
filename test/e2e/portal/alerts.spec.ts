import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { Alerts, type RaisedAlert } from '../../../src/alerts/alerts.js';
import { mailOf } from '../../../src/alerts/notice-texts.js';
import { Browser } from '../../support/browser.js';
import { buildPages } from '../../support/builds.js';
import { eventually } from '../../support/eventually.js';
import { shown, wrongInAll } from '../../support/page-check.js';
import { describeWithServer } from '../../support/servers.js';
import { TestGateway } from '../gateway/test-gateway.js';
import { type PortalClient, signedIn } from './portal-client.js';

describeWithServer('chromium', 'alerts in the portal', () => {
  // Nothing evaluates what the test raises.
  const gateway = new TestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true', ALERTS_EVERY: '1h' });
  let operator: PortalClient;
  let browser: Browser;
  let page: Page;
  let accountId: string;

  const alerts = () => gateway.running.app.get(Alerts, { strict: false });
  const ofGateway: RaisedAlert = {
    kind: 'delivered_share',
    subject: 'main NG',
    detail: '61.2 % of 840 messages to NG by main were delivered within 5 min; usually 94.5 % are.',
    figures: {
      messages: 840,
      delivered: 514,
      percent: 61.2,
      usual_percent: 94.5,
      provider: 'main',
    },
    window: {
      since: new Date('2026-11-20T12:00:00Z'),
      until: new Date('2026-11-20T13:00:00Z'),
    },
    page: 'insights?by=country&provider=main&country=NG',
  };
  const ofAccount = (): RaisedAlert => ({
    kind: 'lane_waiting',
    subject: 'sms',
    account: accountId,
    detail: 'The oldest due message on sms has waited for 16 min (held: under_repair).',
    figures: { waited_seconds: 960, channel: 'sms', state: 'held', reason: 'under_repair' },
    page: 'messages?status=queued&channel=sms',
  });

  beforeAll(async () => {
    await buildPages();
    await gateway.start();
    ({ accountId } = await gateway.account());
    operator = await signedIn(gateway, 'operator');
    await alerts().raise(ofGateway);
    await alerts().raise(ofAccount());
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
  };
  const rows = () => page.locator('main tbody tr').count();

  it.each([
    ['alerts', 'alerts', 2],
    ['alerts-resolved', 'alerts?state=resolved', 0],
    ['alerts-rules', 'alerts/rules', 10],
    ['alerts-channels', 'alerts/channels', 0],
  ] as const)('%s passes axe, fits the screen, and logs no error', async (name, address, count) => {
    await page.setViewportSize({ width: 1280, height: 860 });
    await open(address);
    expect(await rows()).toBe(count);
    expect(await wrongInAll(page, name)).toEqual([]);
    expect(browser.complaints).toEqual([]);
  });

  it('an alert leads to the page that shows it', async () => {
    await open('alerts');
    await page.getByRole('link', { name: 'Open: Messages wait, sms' }).click();
    await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor();
    expect(page.url()).toBe(
      `${gateway.url}/portal/a/${accountId}/messages?status=queued&channel=sms`,
    );
  });

  it('members see the alerts of their account alone, without rules and channels', async () => {
    const member = await signedIn(gateway, 'viewer', accountId);
    const { data } = await member.ok<{ data: { subject: string }[] }>('GET', 'alerts');
    expect(data.map(({ subject }) => subject)).toEqual(['sms']);
    expect((await member.call('GET', 'alert-rules')).status).toBe(403);
    const own = await Browser.open(gateway.url, member.cookie);
    try {
      const visitor = await own.page();
      await visitor.goto(`${gateway.url}/portal/alerts`);
      await shown(visitor);
      expect(await visitor.locator('main tbody tr').count()).toBe(1);
      expect(await visitor.getByRole('link', { name: 'Rules' }).count()).toBe(0);
      expect(await wrongInAll(visitor, 'alerts-of-account')).toEqual([]);
      expect(own.complaints).toEqual([]);
    } finally {
      await own.close();
    }
  });

  it('an operator changes a rule in a dialog that names wrong settings, and adds a channel', async () => {
    await page.setViewportSize({ width: 1280, height: 860 });
    await open('alerts/rules');
    await page
      .getByRole('button', { name: 'Change the rule Messages wait of all accounts' })
      .click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('After').fill('soon');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog
      .getByText(/must be a duration/)
      .first()
      .waitFor();
    expect(await wrongInAll(page, 'alerts-dialog-rule')).toEqual([]);
    await dialog.getByLabel('After').fill('20m');
    await dialog.getByLabel('Pause').fill('2h');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('after=20m pause=120m').waitFor();
    await open('alerts/channels');
    await page.getByRole('button', { name: 'Add a channel' }).first().click();
    await dialog.getByLabel('Kind').selectOption('webhook');
    await dialog.getByLabel('Address').fill('http://127.0.0.1:65535/hook?key=secret');
    expect(await wrongInAll(page, 'alerts-dialog-channel')).toEqual([]);
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await page
      .getByText(/whsec_/)
      .first()
      .waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('http://127.0.0.1:65535').first().waitFor();
    expect(await page.content()).not.toContain('key=secret');
    const { data } = await operator.ok<{ data: { action: string }[] }>('GET', 'audit');
    expect(data.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['alert_rule.changed', 'alert_channel.added']),
    );
    await eventually(async () => expect(await rows()).toBe(1));
  });

  it('the e-mail of an alert and of its end pass axe and fit the screen', async () => {
    const { data } = await alerts().list({ account: null, limit: 10, cursor: undefined });
    const [alert] = data.filter(({ kind }) => kind === 'delivered_share');
    const over = { ...alert!, state: 'resolved', resolvedAt: new Date() } as const;
    for (const [name, one] of [
      ['alert-mail', alert],
      ['alert-mail-over', over],
      ['alert-mail-test', undefined],
    ] as const) {
      await page.goto('about:blank');
      await page.setContent(mailOf(one).html);
      expect(await wrongInAll(page, name)).toEqual([]);
    }
  });
});
