import { beforeAll, expect, it } from '@jest/globals';
import { WhatsAppService } from '@dundun/messaging';
import { getDataSourceToken } from '@nestjs/typeorm';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page, Request } from 'playwright-core';
import type { DataSource } from 'typeorm';
import { InboundRecorder } from '../../../libs/messaging/src/contacts/inbound.js';
import { TemplateEntity } from '../../../src/accounts/accounts.tables.js';
import { Browser } from '../../support/browser.js';
import { eventually } from '../../support/eventually.js';
import { wrongInAll } from '../../support/page-check.js';
import { describeFilledPortal, type FilledAccount } from './filled-account.js';
import { PASSWORD } from './portal-client.js';

const ROOT = join(import.meta.dirname, '../../..');
/** The documentation's pictures are written anew only on demand: a run changes no tracked file. */
const IMAGES = join(ROOT, process.env['DOCS_IMAGES'] ? 'docs/images' : 'dist/screenshots');

describeFilledPortal('a person at the portal', (portal) => {
  const { gateway } = portal;
  let filled: FilledAccount;
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    ({ filled, browser, page } = portal);
    await mkdir(IMAGES, { recursive: true });
  });

  const open = (address: string): Promise<void> => portal.open(address);
  /** Presses Tab until the control with this name has the focus. */
  const tabTo = async (name: string): Promise<void> => {
    for (let presses = 0; presses < 80; presses++) {
      await page.keyboard.press('Tab');
      const focused = await page.evaluate(
        `(() => { const e = document.activeElement;
          return e.getAttribute('aria-label') ?? e.labels?.[0]?.textContent ?? e.textContent; })()`,
      );
      if (String(focused).trim() === name) return;
    }
    throw new Error(`Tab does not reach “${name}”`);
  };
  const usingToken = async (token: string): Promise<number> => {
    const response = await fetch(`${gateway.url}/ng/v1/sms`, {
      headers: { authorization: `Bearer ${token}` },
    });
    await response.arrayBuffer();
    return response.status;
  };
  const rows = () => page.getByRole('table', { name: 'Messages' }).locator('tbody tr');

  it('the one-time link sets up a person, who signs out and in again', async () => {
    const other = await Browser.open(gateway.url);
    try {
      const visitor = await other.page();
      await visitor.goto(filled.account.setup);
      await visitor.getByLabel('E-mail').fill('first@example.com');
      await visitor.getByLabel('Password').fill(PASSWORD);
      expect(visitor.url()).not.toContain('code');
      // The session ends while the figures are on the way.
      let letGo = (): void => undefined;
      const isLetGo = new Promise<void>((resolve) => (letGo = resolve));
      const ofFigures = (request: Request) => request.url().includes('/api/stats?');
      const figures = Promise.race([
        visitor.waitForEvent('requestfinished', ofFigures),
        visitor.waitForEvent('requestfailed', ofFigures),
      ]);
      await visitor.route('**/api/stats?*', async (route) => {
        await isLetGo;
        await route.continue().catch(() => undefined);
      });
      await visitor.route('**/api/session', async (route) => {
        if (route.request().method() !== 'DELETE') return route.continue();
        const response = await route.fetch();
        letGo();
        await figures;
        await route.fulfill({ response });
      });
      await visitor.getByRole('button').last().click();
      await visitor.getByRole('heading', { name: 'Overview' }).waitFor();
      await visitor.getByRole('button', { name: 'Sign out' }).click();
      await visitor.getByRole('heading', { name: 'Sign in' }).waitFor();
      await visitor.getByLabel('E-mail').fill('first@example.com');
      await visitor.getByLabel('Password').fill(PASSWORD);
      await visitor.getByRole('button', { name: 'Sign in' }).click();
      await visitor.getByRole('heading', { name: 'Overview' }).waitFor();
      expect(other.complaints).toEqual([]);
      await visitor.goto(filled.account.setup);
      await visitor.getByRole('heading', { name: 'This link does not work' }).waitFor();
    } finally {
      await other.close();
    }
  });

  it('a reply and a report chosen on the drawn phone change the conversation', async () => {
    await open('phone');
    await page.getByRole('button', { name: /^Show all/ }).click();
    const phone = page.getByRole('region', { name: 'Phone 2348012345611, WhatsApp' });
    await phone.getByRole('textbox').fill('Where is my order?');
    await page.keyboard.press('Enter');
    await phone.getByText('Where is my order?').waitFor();
    await phone.getByText(/Window open/).waitFor();
    const sms = page.getByRole('region', { name: 'Phone 2348012349901, SMS' });
    await sms.getByRole('button', { name: 'delivered', exact: true }).click();
    const status = sms.locator('legend').getByText('delivered');
    await status.waitFor();
    expect(await status.count()).toBe(1);
  });

  it('a file with whole addresses asks first and is audited, and one with masked addresses is not', async () => {
    const exports = async () => {
      const { data } = await filled.operator.ok<{ data: { action: string }[] }>('GET', 'audit');
      return data.filter(({ action }) => action === 'messages.exported').length;
    };
    const fileOf = async (name: string) => {
      const downloading = page.waitForEvent('download');
      await page.getByRole('dialog').getByRole('link', { name }).click();
      return readFile(await (await downloading).path(), 'utf8');
    };
    const ask = () =>
      page.locator('main').getByRole('button', { name: 'CSV', exact: true }).click();
    await open('messages');
    await ask();
    await page.getByRole('heading', { name: 'Export messages with whole addresses?' }).waitFor();
    expect(await wrongInAll(page, 'portal-dialog-export')).toEqual([]);
    await page.keyboard.press('Escape');
    await ask();
    const masked = await fileOf('Export masked');
    expect(masked).toContain('+234 801 ••• 5601');
    expect(masked).not.toContain('2348012345601');
    expect(await exports()).toBe(0);
    await ask();
    expect(await fileOf('Export whole')).toContain('2348012345601');
    expect(await exports()).toBe(1);
    for (const address of ['contacts', `groups/${filled.groupId}`]) {
      await open(address);
      await ask();
      expect(await fileOf('Export whole')).toContain('234801234');
    }
  });

  it('the figures of the overview add up, and a failure has the reason of its own channel', async () => {
    await open('overview');
    const funnel = page.getByRole('list', { name: 'Funnel' }).getByRole('listitem');
    const numberOf = async (title: string) =>
      Number(await funnel.filter({ hasText: title }).locator('strong').textContent());
    const rowsOf = await page.getByRole('table', { name: 'Channels' }).locator('tbody tr').all();
    const figures = await Promise.all(
      rowsOf.map(async (row) => (await row.getByRole('cell').allTextContents()).map(Number)),
    );
    const sumOf = (column: number) => figures.reduce((sum, row) => sum + (row[column] ?? 0), 0);
    expect(figures.length).toBeGreaterThan(3);
    const columns = { Accepted: 1, Sent: 2, Delivered: 3, Unknown: 5, Failed: 6 };
    for (const [title, column] of Object.entries(columns))
      expect([title, sumOf(column)]).toEqual([title, await numberOf(title)]);
    for (const row of figures) expect(row.slice(3).reduce((sum, one) => sum + one)).toBe(row[1]);
    const failures = page.locator('section', { hasText: 'Open a row to see its messages' });
    const failed = await failures.getByRole('listitem').allTextContents();
    expect(failed).toContainEqual(
      expect.stringMatching(/rejected.*SMS The network refuses this number/),
    );
    expect(failed).toContainEqual(expect.stringMatching(/busy.*Voice The line was busy/));
    expect(await wrongInAll(page, 'portal-overview-figures')).toEqual([]);
    await open('overview?channel=voice');
    await page.getByText(/^From acceptance, of/).waitFor();
  });

  it('Send again asks, says what happened to the first message, and a queued one is not offered', async () => {
    const { accountId } = filled.account;
    const posted: string[] = [];
    const listener = (request: Request) => {
      if (request.method() === 'POST') posted.push(new URL(request.url()).pathname);
    };
    const sendAgain = page.locator('main').getByRole('button', { name: 'Send again' });
    const dialog = page.getByRole('dialog');
    await open(`messages/${filled.scheduledId}-0`);
    expect(await page.getByRole('button', { name: /again/ }).count()).toBe(0);
    await open(`messages/${filled.failedId}`);
    page.on('request', listener);
    await sendAgain.click();
    await dialog.getByRole('heading', { name: 'Send this message again?' }).waitFor();
    await dialog.getByText('The network refuses this number').waitFor();
    await dialog.getByText('Cost of the second').waitFor();
    expect(await dialog.getByText('The recipient may get it twice').count()).toBe(0);
    expect(await wrongInAll(page, 'portal-dialog-resend')).toEqual([]);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(posted).toEqual([]);
    await sendAgain.click();
    await dialog.getByRole('button', { name: 'Send again' }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(filled.failedId));
    expect(posted).toEqual([`/portal/a/${accountId}/api/messages/${filled.failedId}/resend`]);
    page.off('request', listener);
    await open(`messages/${filled.batchId}-0`);
    await sendAgain.click();
    await dialog.getByText('The recipient may get it twice').waitFor();

    await gateway.running.app
      .get<DataSource>(getDataSourceToken(), { strict: false })
      .query(
        `UPDATE messaging_message SET status = 30 WHERE batch = '${filled.batchId}' AND position = 1`,
      );
    await open(`messages/${filled.batchId}-1`);
    await page.getByRole('button', { name: 'Settle or send again' }).click();
    await dialog.getByRole('heading', { name: 'What became of this message?' }).waitFor();
    await dialog.getByLabel('What you found').selectOption('resend');
    await dialog.getByText('its answer was lost').waitFor();
    await dialog.getByLabel('What you found').selectOption('delivered');
    expect(await wrongInAll(page, 'portal-dialog-settle')).toEqual([]);
    await dialog.getByLabel('Note').fill('in the list of the carrier');
    await dialog.getByRole('button', { name: 'Settle as delivered' }).click();
    await page.locator('main h1').getByText('delivered').waitFor();
    const { data } = await filled.operator.ok<{ data: object[] }>('GET', 'audit');
    expect(data).toContainEqual(
      expect.objectContaining({
        action: 'message.settled',
        target: `${filled.batchId}-1`,
        accountId,
      }),
    );
    expect(browser.complaints).toEqual([]);
  });

  it('a file that a person sends is a download in the revealed conversation', async () => {
    const { account, contactId } = filled;
    const bytes = 'the bytes of a file';
    const source = `data:image/png;base64,${Buffer.from(bytes).toString('base64')}`;
    const file = {
      type: 'image',
      contentType: 'image/png',
      filename: 'plan.png',
      size: 19,
    } as const;
    const message = {
      messageId: 'wamid.plan',
      channel: 'whatsapp',
      from: '2348012349910',
      bsuid: null,
      to: '2348000000001',
      text: 'My plan',
      content: { kind: 'media', caption: 'My plan', files: [{ ...file, source }] },
      profileName: 'Ada Obi',
      sentAt: null,
      tenant: account.accountId,
    } as const;
    const recorder = gateway.running.app.get(InboundRecorder, { strict: false });
    await recorder.record([message], { transport: 'simulator' });
    await open(`contacts/${contactId}`);
    const shown = page.getByRole('listitem').filter({ hasText: 'plan.png' });
    await page.getByText('image, 19 bytes').waitFor();
    expect(await shown.count()).toBe(0);
    await page.getByRole('button', { name: 'Reveal' }).click();
    await page.getByText('My plan').waitFor();
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download plan.png, 19 bytes' }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe('plan.png');
    expect(await readFile(await download.path(), 'utf8')).toBe(bytes);
    await open('settings/audit');
    await page.getByText('Downloaded a file of a contact').first().waitFor();
  });

  it('screenshots of Messages and Phone are taken for the docs', async () => {
    await page.setViewportSize({ width: 1280, height: 860 });
    await open('messages');
    await rows().first().waitFor();
    await page.screenshot({ path: join(IMAGES, 'portal-messages.png') });
    await open('phone');
    const shown = page.getByRole('region', { name: /^Phone / }).first();
    await shown.waitFor();
    await page.screenshot({ path: join(IMAGES, 'portal-phone.png') });
    expect(await shown.isVisible()).toBe(true);
  });

  it('twenty sends by the API appear in the open list and the open funnel without a reload', async () => {
    const overview = await browser.page();
    await overview.goto(`${gateway.url}/portal/overview?channel=sms`);
    const accepted = overview.getByRole('list', { name: 'Funnel' }).locator('strong').first();
    await accepted.waitFor();
    const counted = Number(await accepted.textContent());
    await open('messages?channel=sms');
    await rows().first().waitFor();
    const before = await rows().count();
    for (const one of [page, overview]) await one.evaluate('window.notReloaded = true');
    for (let sent = 0; sent < 20; sent++)
      await gateway.call('POST', '/ng/v1/sendsms', {
        token: filled.account.apiToken,
        body: { from: 'ACME', to: [`23480123456${10 + sent}`], body: 'Live' },
      });
    await rows()
      .nth(before + 19)
      .waitFor();
    expect(await rows().count()).toBe(before + 20);
    await accepted.getByText(String(counted + 20), { exact: true }).waitFor();
    for (const one of [page, overview]) expect(await one.evaluate('window.notReloaded')).toBe(true);
    await overview.close();
  });

  it('the filter is in the address, and survives a reload and Back', async () => {
    await open('messages');
    await page.getByRole('combobox', { name: 'Status' }).selectOption('rejected');
    await page.waitForURL(/status=rejected/);
    const statuses = (): Promise<string[]> =>
      rows().locator('td[data-title=Status]').allTextContents();
    await rows().first().waitFor();
    await page.reload();
    await rows().first().waitFor();
    expect(new Set(await statuses())).toEqual(new Set(['rejected']));
    await rows().first().getByRole('link').click();
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    await page.goBack();
    await page.waitForURL(/status=rejected/);
    await rows().first().waitFor();
    expect(await page.getByRole('combobox', { name: 'Status' }).inputValue()).toBe('rejected');
    expect(new Set(await statuses())).toEqual(new Set(['rejected']));
  });

  it('a search without a match among the newest messages says how to go on', async () => {
    const waiting = await gateway.call('POST', '/ng/v1/sendsms', {
      token: filled.account.apiToken,
      body: {
        from: 'ACME',
        to: Array.from({ length: 60_000 }, (_, n) => `2347${10_000_000 + n}`),
        body: 'Later',
        send_at: '2150-01-01T09:00:00Z',
      },
    });
    await open('messages?status=rejected');
    await page.getByText('Nothing found so far').waitFor();
    await page.getByRole('link', { name: 'Search older entries' }).click();
    await rows().first().waitFor();
    expect(await rows().first().textContent()).toContain('rejected');
    const batch = `/ng/v1/sms/${String(waiting.body['reference_id'])}`;
    await gateway.call('DELETE', batch, { token: filled.account.apiToken });
  });

  it('the keyboard alone sends a message, and its timeline opens', async () => {
    await open('messages');
    await tabTo('Send a message');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await tabTo('From');
    await page.keyboard.press('Control+A');
    await page.keyboard.type('ACME');
    await tabTo('To');
    await page.keyboard.type('2348012345699');
    await tabTo('Text');
    await page.keyboard.type('Sent by keyboard');
    await page.getByLabel('Estimate').getByText('Recipients', { exact: true }).waitFor();
    await tabTo('Send');
    await page.keyboard.press('Enter');
    await page.waitForURL(/messages\/.+-0$/);
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    expect(await page.locator('main h1').textContent()).toMatch(/^\+\d+ \d{3} ••• \d\d99/);
  });

  it('a WhatsApp template asks for its named values by their names, and is sent with them', async () => {
    const { accountId } = filled.account;
    await gateway.running.app
      .get<DataSource>(getDataSourceToken(), { strict: false })
      .manager.insert(TemplateEntity, {
        accountId,
        name: 'named',
        language: 'en',
        category: 'utility',
        status: 'approved',
        params_count: 2,
        paramNames: ['order', 'day'],
        waba: '102290129340398',
      });
    await open('messages');
    await page.getByRole('button', { name: 'Send a message' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Channel').selectOption('whatsapp');
    await dialog.getByLabel('Content').selectOption('template');
    await dialog.getByLabel('To').fill('2348012349910');
    await dialog.getByLabel('Template').selectOption('named/en');
    await dialog.getByLabel('Value {{order}}').fill('1001');
    await dialog.getByLabel('Value {{day}}').fill('Friday');
    await dialog.getByRole('button', { name: 'Send', exact: true }).click();
    await page.waitForURL(/messages\/.+-0$/);
    const [, id = ''] = /messages\/(.+)-0$/.exec(page.url()) ?? [];
    const whatsApp = gateway.running.app.get(WhatsAppService, { strict: false });
    const { content } = await whatsApp.batch(id, { tenant: accountId });
    expect(content).toMatchObject({ params: ['1001', 'Friday'], paramNames: ['order', 'day'] });
  });

  it('a refusal of one field stands at this field alone, which takes the focus', async () => {
    await open('settings/members');
    await page.getByRole('button', { name: 'Invite' }).click();
    const dialog = page.getByRole('dialog');
    // The browser takes it, the gateway does not.
    await dialog.getByLabel('E-mail').fill('.ada@example.com');
    await dialog.getByRole('button', { name: 'Make the link' }).click();
    await dialog.locator('.field-error').waitFor();
    expect(await dialog.locator('.field-error').count()).toBe(1);
    expect(await dialog.getByRole('alert').count()).toBe(0);
    expect(await dialog.locator('[aria-invalid=true]:focus').count()).toBe(1);
    browser.complaints.length = 0;
    await page.keyboard.press('Escape');
  });

  it('the result of an action in a dialog stands before the dialog, where it can be dismissed', async () => {
    await open(`settings/webhook/${filled.webhookId}`);
    await page
      .getByRole('button', { name: /^Show sms\./ })
      .first()
      .click();
    await page.getByRole('dialog').getByRole('button', { name: 'Copy webhook-id' }).click();
    const results = page.locator('.toast');
    await results.getByText('Copied').waitFor();
    await results.getByRole('button', { name: 'Dismiss' }).click();
    await results.waitFor({ state: 'detached' });
    expect(await page.getByRole('dialog').count()).toBe(1);
    await page.keyboard.press('Escape');
  });

  it('the keyboard alone redelivers failed callbacks, which are green within two seconds', async () => {
    await open(`settings/webhook/${filled.webhookId}`);
    await tabTo('Redeliver failed');
    const attempts = page.getByRole('table', { name: 'Attempts' });
    const delivered = attempts.locator('.badge').getByText('delivered', { exact: true });
    expect(await delivered.count()).toBe(0);
    filled.receiver.status = 200;
    await page.keyboard.press('Enter');
    await eventually(async () => expect(await delivered.count()).toBeGreaterThan(0), 2_000);
    expect(await attempts.locator('.badge.success').getByText('200').count()).toBeGreaterThan(0);
  });

  it('an operator settles an order without an outcome, and its message shows the settlement', async () => {
    await open('orders?q=shop-2');
    await page.getByRole('button', { name: 'Settle shop-2' }).click();
    await page.getByLabel('What became of it').selectOption('failed');
    await page.getByLabel('Why').fill('not in the book');
    await page.getByRole('button', { name: 'Settle', exact: true }).click();
    await page.getByText(/^settled by operator-/).waitFor();
    await page.getByRole('link', { name: 'shop-2' }).click();
    await page.getByText('not in the book').waitFor();
    expect(await page.getByText(/^as failed by operator-/).count()).toBe(1);
  });

  it('the keyboard alone rotates the token, which is shown once and replaces the old one', async () => {
    await open('settings/security');
    await tabTo('Rotate token');
    await page.keyboard.press('Enter');
    await tabTo('Rotate');
    await page.keyboard.press('Enter');
    const shown = page.getByRole('dialog').locator('code');
    await shown.waitFor();
    const token = (await shown.textContent()) ?? '';
    expect(token).toMatch(/^tok_/);
    expect(await usingToken(token)).toBe(200);
    expect(await usingToken(filled.account.apiToken)).toBe(401);
    await page.keyboard.press('Escape');
    await shown.waitFor({ state: 'detached' });
    const [newest] = await page
      .getByRole('table', { name: 'API tokens' })
      .locator('tbody tr', { hasText: 'active' })
      .allInnerTexts();
    expect(newest).toContain(`tok_…${token.slice(-4)}`);
    expect(await page.content()).not.toContain(token);
    const stored = await page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    );
    expect(stored).not.toContain(token);
    expect(browser.complaints).toEqual([]);
  });
});
