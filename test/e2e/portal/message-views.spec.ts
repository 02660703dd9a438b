import { expect, it } from '@jest/globals';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { firstLoadOf } from '../../support/first-load.js';
import { wrongInAll } from '../../support/page-check.js';
import { describeFilledPortal } from './filled-account.js';

const DIST = join(import.meta.dirname, '../../../dist/portal');

describeFilledPortal('messages in the portal', (portal) => {
  const main = (): Locator => portal.page.locator('main');

  it('the first load has at most 60 KiB, and heavy parts are files of their own', async () => {
    expect(await firstLoadOf(DIST)).toBeLessThanOrEqual(60 * 1_024);
    const all = (await readdir(join(DIST, 'assets'))).join(' ');
    for (const part of ['send-dialog', 'email-view']) expect(all).toContain(part);
  });

  it('the timeline says how long each step took, and the callbacks of the message stand below', async () => {
    await portal.open(`messages/${portal.filled.batchId}-0`);
    const gaps = portal.page.locator('.timeline .gap');
    await gaps.first().waitFor();
    expect(await gaps.first().textContent()).toMatch(/^\+\d+ (?:ms|s).* after the step before$/);
    const entries = await portal.page.locator('.timeline > li').count();
    expect(await gaps.count()).toBe(entries - 1);
    const webhooks = main().locator('section', { hasText: 'Webhooks' });
    await webhooks.getByText('sms.delivery_report').first().waitFor();
    expect(await webhooks.locator('.badge').getByText('500').count()).toBeGreaterThan(0);
  });

  it('a callback that failed is sent again from the page of its message', async () => {
    const { batchId, receiver } = portal.filled;
    await portal.open(`messages/${batchId}-0`);
    const callback = main().locator('.callbacks > li').first();
    const answers = callback.locator('li .badge');
    await answers.getByText('500').first().waitFor();
    const before = receiver.status;
    receiver.status = 200;
    try {
      await callback.getByRole('button', { name: /^Redeliver sms\./ }).click();
      await answers.getByText('200').waitFor();
      await callback.locator('p .badge').getByText('delivered', { exact: true }).waitFor();
      expect(await answers.count()).toBeGreaterThan(1);
    } finally {
      receiver.status = before;
    }
  });

  it('a refused request shows the words of the carrier, with numbers masked', async () => {
    const { operator, failedId } = portal.filled;
    const message = await operator.ok<{ timeline: { answer: string | null }[] }>(
      'GET',
      `messages/${failedId}`,
    );
    const answers = message.timeline.flatMap(({ answer }) => answer ?? []);
    expect(answers).toHaveLength(1);
    expect(answers[0]).not.toMatch(/\d{7}/);
    await portal.open(`messages/${failedId}`);
    expect(await main().locator('.timeline q').allTextContents()).toEqual(answers);
  });

  const sendEmail = async (html: string): Promise<string> => {
    const { body } = await portal.gateway.call('POST', '/email/ng/v1/messages', {
      token: portal.filled.account.apiKey,
      body: {
        from: 'Acme <hello@demo.test>',
        to: ['grace@example.com'],
        subject: 'Your invoice',
        text: 'The invoice is attached.',
        html,
        headers: { 'X-Entity-Ref-ID': 'INV-17' },
        attachments: [
          { filename: 'invoice.pdf', content_type: 'application/pdf', content: 'JVBERi0xLjQK' },
        ],
      },
    });
    return `${String(body['reference_id'])}-0`;
  };

  it('an e-mail is drawn for phone, desktop and dark, with its text, headers, source, files and links', async () => {
    const { page, browser } = portal;
    browser.complaints.length = 0;
    const id = await sendEmail(
      `<style>p { color: #123456 }</style><p style="font-size: 20px">Pay <a href="https://pay.acme.test/17">here</a>,
       <a href="http://pay.acme.test">there</a> or <a href="https://evil.test/">acme.test</a></p>
       <img src="https://images.example.com/open.gif">`,
    );
    await page.setViewportSize({ width: 1280, height: 860 });
    const failures: (string | undefined)[] = [];
    page.on('requestfailed', (request) => {
      if (request.url().includes('images.example.com')) failures.push(request.failure()?.errorText);
    });
    await portal.open(`messages/${id}`);
    expect(await main().getByText('Your invoice').count()).toBe(0);
    await page.getByRole('button', { name: 'Reveal' }).click();
    const view = main().locator('.email-view');
    const frame = view.getByTitle('The e-mail as its reader sees it');
    await frame.waitFor();
    expect(await frame.getAttribute('sandbox')).toBe('');
    await page.frameLocator('iframe').getByText('Pay').waitFor();
    const press = (name: string | RegExp) => view.getByRole('button', { name }).click();
    const width = async () => (await frame.boundingBox())!.width;
    expect(await width()).toBeGreaterThan(600);
    await press('Phone');
    expect(await width()).toBe(375);
    await press('Dark');
    await view.getByText('drawn as programs that invert light e-mails').waitFor();
    expect(await wrongInAll(page, 'message-email')).toEqual([]);
    await press('Text');
    await view.getByText('The invoice is attached.').waitFor();
    await press('Headers');
    await view.getByText('INV-17').waitFor();
    await press('Source');
    await view.getByText('font-size: 20px').waitFor();
    await press('Files (1)');
    await view.getByText('invoice.pdf').waitFor();
    await press('Links (2 faults)');
    await view.getByText('is not encrypted: use https').waitFor();
    await view.getByText('shows acme.test, and leads to evil.test').waitFor();
    expect(await wrongInAll(page, 'message-email-links')).toEqual([]);
    expect(await view.getByText('Gmail clips').count()).toBe(0);
    // Its picture is refused by the policy of the frame, before a request leaves.
    expect(browser.complaints.filter((one) => !one.includes('images.example.com'))).toEqual([]);
    expect(failures).toEqual(['csp']);
    browser.complaints.length = 0;
  });

  it('an e-mail with more than 102 KB of HTML says that Gmail clips it', async () => {
    const id = await sendEmail(`<p>${'long '.repeat(22_000)}</p>`);
    await portal.open(`messages/${id}`);
    await portal.page.getByRole('button', { name: 'Reveal' }).click();
    await main().getByText('Its HTML has 107 KB').waitFor();
    expect(portal.browser.complaints).toEqual([]);
  });

  it('the bubble shows the parts of a text, the characters that cost, and text from right to left', async () => {
    const { page } = portal;
    await page.setViewportSize({ width: 1280, height: 860 });
    await portal.open('messages');
    await page.getByRole('button', { name: 'Send a message' }).click();
    const dialog = page.getByRole('dialog');
    const bubble = dialog.locator('.sms-bubble');
    const text = dialog.getByLabel('Text', { exact: true });
    await dialog.getByLabel('From').fill('ACME');
    await text.fill('x'.repeat(160));
    await dialog.getByText('1 part, GSM-7, 160 units; 0 more fit').waitFor();
    await text.fill(`${'x'.repeat(160)}€`);
    await dialog.getByText('2 parts, GSM-7, 162 units; 144 more fit').waitFor();
    expect(await bubble.locator('.part-end').allTextContents()).toEqual(['2']);
    expect(await bubble.locator('mark').allTextContents()).toEqual(['€']);
    expect(await wrongInAll(page, 'dialog-send-parts')).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 860 });
    await text.fill('Your order “1001”');
    await dialog.getByText('““” “”” are not in the alphabet of SMS').waitFor();
    expect(await bubble.locator('mark').allTextContents()).toEqual(['“', '”']);
    await text.fill('طلبك في الطريق');
    const direction = `getComputedStyle(document.querySelector('.sms-bubble')).direction`;
    expect(await page.evaluate(direction)).toBe('rtl');
    await dialog.getByLabel('Channel').selectOption('whatsapp');
    await dialog.getByLabel('Content').selectOption('template');
    await dialog.getByLabel('Template').selectOption('order_update/en');
    await dialog.getByLabel('Value {{1}}').fill('Ada');
    await bubble.getByText('{{1}} Ada').waitFor();
    expect(await dialog.getByLabel('Parts', { exact: true }).count()).toBe(0);
    await page.keyboard.press('Escape');
  });

  it('a send to more than 100 recipients asks once more, and another draft asks anew', async () => {
    const { page } = portal;
    await portal.open('messages');
    await page.getByRole('button', { name: 'Send a message' }).click();
    const dialog = page.getByRole('dialog');
    const numbers = (count: number) =>
      Array.from({ length: count }, (_, n) => `23480${12_000_000 + n}`).join(' ');
    await dialog.getByLabel('From').fill('ACME');
    await dialog.getByLabel('To').fill(numbers(101));
    await dialog.getByLabel('Text', { exact: true }).fill('Hello');
    await dialog.getByRole('button', { name: 'Send', exact: true }).click();
    const question = dialog.getByText('Send to 101 recipients?');
    await question.waitFor();
    expect(await wrongInAll(page, 'dialog-send-many')).toEqual([]);
    // It is seen on a small screen, above the buttons and not behind them.
    const size = page.viewportSize()!;
    await page.setViewportSize({ width: 375, height: 667 });
    const [asked, button] = [
      await question.boundingBox(),
      await dialog.getByRole('button', { name: 'Send to 101 recipients' }).boundingBox(),
    ];
    expect(asked!.y + asked!.height).toBeLessThanOrEqual(button!.y);
    expect(button!.y + button!.height).toBeLessThanOrEqual(667);
    expect(asked!.y).toBeGreaterThan(0);
    await page.setViewportSize(size);
    await dialog.getByLabel('To').fill(numbers(102));
    await dialog.getByText('Send to 101 recipients?').waitFor({ state: 'detached' });
    await dialog.getByRole('button', { name: 'Send', exact: true }).click();
    await dialog.getByRole('button', { name: 'Send to 102 recipients' }).click();
    await page.waitForURL(/batches\/[\w-]+$/);
    await dialog.waitFor({ state: 'detached' });
  });

  it('the text of a template opens as a bubble, with the places of its values', async () => {
    const { page, filled } = portal;
    await filled.operator.ok('POST', 'templates', {
      name: 'greeting',
      language: 'en',
      category: 'utility',
      status: 'approved',
      paramsCount: 1,
      body: 'Hello {{1}}, welcome.',
    });
    await portal.open('templates');
    await page.getByRole('button', { name: 'Show greeting (en)' }).click();
    await page.getByRole('dialog').getByText('Hello {{1}}, welcome.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Show order_update (en)' }).click();
    await page.getByRole('dialog').getByText('Its text is not known here').waitFor();
    expect(await wrongInAll(page, 'dialog-template-unknown')).toEqual([]);
    await page.keyboard.press('Escape');
  });

  it('the first steps show the command of each step, and go when the person leaves them', async () => {
    const { page } = portal;
    await portal.open('overview');
    const steps = main().locator('section', { hasText: 'First steps' });
    // The set-up link of the first start is an invitation.
    await steps.getByText('4 of 5 done').waitFor();
    expect(await steps.locator('li.done strong').allTextContents()).toEqual([
      'Choose a sender',
      'Send a first message',
      'Receive reports',
      'Invite your team',
    ]);
    await steps.getByText('/ng/v1/sms').waitFor();
    expect(await wrongInAll(page, 'overview-first-steps')).toEqual([]);
    await steps.getByRole('button', { name: 'Do not show again' }).click();
    await steps.waitFor({ state: 'detached' });
    await page.reload();
    await main().getByRole('list', { name: 'Funnel' }).waitFor();
    expect(await steps.count()).toBe(0);
    await page.evaluate('localStorage.clear()');
  });

  it('operators see all accounts above their list: volume, lanes, carriers and balances', async () => {
    const { page, gateway } = portal;
    await page.goto(`${gateway.url}/portal/accounts`);
    const volume = page.getByRole('list', { name: 'All accounts, last 24 hours' });
    await volume.waitFor();
    const messages = await volume.locator('strong').first().textContent();
    expect(Number(messages?.replaceAll(',', ''))).toBeGreaterThan(5);
    const carriers = page.getByRole('table', { name: 'Carriers' }).locator('tbody tr');
    expect(await carriers.first().textContent()).toContain('simulator');
    await page.getByText('1 account pays.').waitFor();
    await page.getByRole('link', { name: 'Open Lanes' }).waitFor();
    expect(await wrongInAll(page, 'accounts-figures')).toEqual([]);
    expect(portal.browser.complaints).toEqual([]);
  });
});
