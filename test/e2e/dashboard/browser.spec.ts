import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DashboardAccess } from '@dundun/dashboard';
import {
  ContactsService,
  EmailService,
  MessagingService,
  SmsService,
  WhatsAppService,
} from '@dundun/messaging';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { SqliteDriver } from '../../../src/config/sqlite-driver.js';
import { DashboardApp, type Platform } from '../../integration/dashboard/dashboard-app.js';
import { Browser } from '../../support/browser.js';
import { eventually } from '../../support/eventually.js';
import { firstLoadOf } from '../../support/first-load.js';
import { sendThousands } from '../../support/many-messages.js';
import { shown, wrongInAll } from '../../support/page-check.js';
import { describeWithServer } from '../../support/servers.js';
import { buildPages } from '../../support/builds.js';

const FROM = { from: 'ACME', body: 'Your order is on its way' };
const REPLYING = '2348012349910';
/** The answer of the provider is always lost. */
const LOST = '2348012349909';
const TENANT = { tenant: 'acme' };

describeWithServer('chromium', 'the dashboard of a plain app', () => {
  beforeAll(() => buildPages());

  it('the first load has at most 60 KiB', async () => {
    const built = join(import.meta.dirname, '../../../libs/dashboard/dist/ui');
    expect(await firstLoadOf(built)).toBeLessThanOrEqual(60 * 1_024);
  });

  describe.each([
    ['express', 'v1/inner'],
    ['fastify', ''],
  ] as const)('on %s below %j', (platform: Platform, prefix) => {
    const file = join(tmpdir(), `dundun-dashboard-${process.pid}-${platform}.sqlite`);
    let dashboard: DashboardApp;
    let browser: Browser;
    let page: Page;
    let act: boolean;
    let tenants: DashboardAccess['tenants'] = 'all';
    const ids: Record<string, string> = {};

    beforeAll(async () => {
      dashboard = await DashboardApp.start({
        database: { type: 'better-sqlite3', database: file, driver: SqliteDriver },
        platform,
        dashboard: {
          path: 'admin/messaging',
          environment: 'staging',
          access: () => ({ tenants, act, reveal: act }),
        },
        configure: (app) => void (prefix && app.setGlobalPrefix(prefix)),
        // A message whose answer is lost stays in doubt.
        messaging: { dispatch: { maxAttempts: 1_000 } },
      });
      act = true;
      const part = <T>(type: abstract new (...given: never[]) => T): T =>
        dashboard.app.get(type, { strict: false });
      if (process.env['SCREENSHOTS']) await sendThousands(dashboard.app, TENANT.tenant);
      const to = ['2348012345601', '2348012345602', '2348012349901', '2348012349903'];
      ids['batch'] = (await part(SmsService).send({ ...FROM, to }, TENANT)).id;
      const [contact] = await part(ContactsService).upsert({ phone: REPLYING }, TENANT);
      ids['contact'] = contact!.id;
      await part(ContactsService).optIn(REPLYING, {
        ...TENANT,
        channel: 'whatsapp',
        source: 'web form',
      });
      const template = { to: REPLYING, template: 'order_update', language: 'en', params: ['Ada'] };
      await part(WhatsAppService).sendTemplate(template, TENANT);
      await part(EmailService).send(
        { from: 'hello@acme.test', to: 'ada@example.com', subject: 'Order', text: 'On its way' },
        TENANT,
      );
      await eventually(async () => {
        const { status } = await part(SmsService).batch(ids['batch']!, TENANT);
        if (status !== 'completed') throw new Error(`the batch is ${status}`);
      });
      browser = await Browser.open(dashboard.url, undefined, { 'x-key': 'open' });
      page = await browser.page();
      // The messages of the pictures take longer.
    }, 300_000);
    afterAll(async () => {
      await browser?.close();
      await dashboard?.close();
      await rm(file, { force: true });
    });

    const open = async (address = ''): Promise<void> => {
      const root = `${dashboard.url}${prefix && `/${prefix}`}/admin/messaging`;
      await page.goto(address === '' ? root : `${root}/${address}`);
      await shown(page);
    };

    it('every page opens at its address, passes axe, and logs no error', async () => {
      const pages: Readonly<Record<string, string>> = {
        root: '',
        overview: 'overview',
        messages: 'messages',
        message: `messages/${ids['batch']}-3`,
        batches: 'batches',
        batch: `batches/${ids['batch']}`,
        contacts: 'contacts?tenant=acme',
        contact: `contacts/${ids['contact']}`,
        phone: 'phone',
        lanes: 'lanes',
      };
      for (const [name, address] of Object.entries(pages)) {
        await open(address);
        expect(await wrongInAll(page, `dashboard-${platform}-${name}`)).toEqual([]);
      }
      expect(browser.complaints).toEqual([]);
    });

    it('a message is sent from the page, and its delivery shows without a reload', async () => {
      await page.setViewportSize({ width: 1280, height: 860 });
      await open('messages');
      await page.getByRole('button', { name: 'Send a message' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('From').fill('ACME');
      await dialog.getByLabel('Tenant').fill('acme');
      await dialog.getByLabel('To').fill('2348012345699');
      await dialog.getByLabel('Text').fill('Sent from the page');
      await dialog.getByRole('button', { name: 'Send', exact: true }).click();
      await page.getByRole('heading', { name: 'Timeline' }).waitFor();
      await page.locator('main h1').getByText('delivered').waitFor();
      expect(await page.locator('main h1').textContent()).toMatch(/^\+234 801 ••• 5699/);
      expect(browser.complaints).toEqual([]);
    });

    it('a lane with a request without an outcome shows it beside its state', async () => {
      const sms = dashboard.app.get(SmsService, { strict: false });
      await sms.send({ ...FROM, to: LOST }, { tenant: 'in-doubt' });
      const messaging = dashboard.app.get(MessagingService, { strict: false });
      await eventually(async () =>
        expect(await messaging.lanes()).toMatchObject([{ doubt: { errorCode: 'answer_lost' } }]),
      );
      await open('lanes');
      const lane = page.locator('main tr', { hasText: 'in-doubt:sms' });
      await lane.getByText('1 request without an outcome').waitFor();
      expect(await lane.textContent()).toContain('The answer of the provider was lost.');
      expect(await wrongInAll(page, `dashboard-${platform}-doubt`)).toEqual([]);
      expect(browser.complaints).toEqual([]);
    });

    it('a caller of several tenants sees the tenant of each row and page, and chooses one', async () => {
      const sms = dashboard.app.get(SmsService, { strict: false });
      const { id } = await sms.send({ ...FROM, to: '2348012345601' }, { tenant: 'globex' });
      const headers = async () => page.locator('main th').allTextContents();
      const rows = page.locator('main tbody tr');
      for (const address of ['messages', 'batches']) {
        await open(address);
        expect(await headers()).toContain('Tenant');
        await page.getByLabel('Tenant', { exact: true }).fill('globex');
        await page.keyboard.press('Enter');
        await page.waitForURL(/tenant=globex/);
        await eventually(async () => expect(await rows.count()).toBe(1));
        expect(await rows.first().textContent()).toContain('globex');
        expect(await wrongInAll(page, `dashboard-${platform}-tenant-${address}`)).toEqual([]);
      }
      const facts = page.locator('main dl').filter({ hasText: 'Tenant' });
      for (const address of [`messages/${id}-0`, `batches/${id}`]) {
        await open(address);
        expect(await facts.textContent()).toContain('globex');
      }
      await open(`contacts/${ids['contact']}`);
      expect(await facts.textContent()).toContain('acme');
      await open('overview?tenant=globex');
      const funnel = page.getByRole('list', { name: 'Funnel' }).getByRole('listitem');
      expect(await funnel.first().locator('strong').textContent()).toBe('1');
      tenants = ['acme'];
      await open('messages');
      expect(await headers()).not.toContain('Tenant');
      expect(await page.getByLabel('Tenant', { exact: true }).count()).toBe(0);
      tenants = 'all';
      expect(browser.complaints).toEqual([]);
    });

    it('a view of a list is kept in the browser, which knows no users', async () => {
      await open('batches?status=completed');
      await page.getByRole('button', { name: 'Save view' }).click();
      await page.getByLabel('Name').fill('Ended');
      expect(await page.getByLabel('Share it').count()).toBe(0);
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.waitForURL(/view=Ended/);
      await open('batches');
      await page.getByLabel('Saved view').selectOption('Ended');
      await page.waitForURL(/status=completed&view=Ended/);
      await page.getByRole('button', { name: 'Delete view' }).click();
      await page.getByLabel('Saved view').waitFor({ state: 'detached' });
      expect(browser.complaints).toEqual([]);
    });

    it('a caller without the right to act sees no button for a change', async () => {
      act = false;
      for (const address of ['messages', `messages/${ids['batch']}-0`, 'contacts?tenant=acme']) {
        await open(address);
        const names = await page.locator('main').getByRole('button').allTextContents();
        expect(names.filter((name) => /send|import|reveal/i.test(name))).toEqual([]);
      }
      expect(await page.getByRole('link', { name: 'Phone' }).count()).toBe(0);
      act = true;
    });

    it('without the guard’s key nothing is served', async () => {
      const stranger = await Browser.open(dashboard.url);
      try {
        const visitor = await stranger.page();
        const answer = await visitor.goto(
          `${dashboard.url}${prefix && `/${prefix}`}/admin/messaging/messages`,
        );
        expect(answer?.status()).toBe(403);
        expect(await visitor.locator('script').count()).toBe(0);
      } finally {
        await stranger.close();
      }
    });
  });
});
