import { expect, it } from '@jest/globals';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { fingerprint } from '../../../src/accounts/credentials.js';
import { SessionEntity } from '../../../src/portal/portal.tables.js';
import { Browser } from '../../support/browser.js';
import { describeFilledPortal } from './filled-account.js';
import { signedIn } from './portal-client.js';

describeFilledPortal('what a page of the portal shows', (portal) => {
  const visible = (): Promise<string> => portal.page.locator('main').innerText();

  it('a revealed e-mail shows its addresses as an address book writes them', async () => {
    const { data } = await portal.filled.operator.ok<{ data: { id: string; sender: string }[] }>(
      'GET',
      'messages?channel=email',
    );
    await portal.open(`messages/${data.find(({ sender }) => sender === 'hello@demo.test')?.id}`);
    await portal.page.getByRole('button', { name: 'Reveal' }).click();
    const content = portal.page.locator('section', { hasText: 'Content' });
    await content.getByText('Acme <hello@demo.test>').waitFor();
    expect(await content.first().innerText()).not.toMatch(/[{}"[\]]/);
  });

  it('the timeline of a scheduled message has its time in words', async () => {
    await portal.open(`messages/${portal.filled.scheduledId}-0`);
    expect(await visible()).toContain('1 Jan 2150');
    expect(await visible()).not.toMatch(/\d{4}-\d{2}-\d{2}T/);
  });

  it('the timeline begins with the acceptance, and names no app', async () => {
    await portal.open(`messages/${portal.filled.failedId}`);
    const first = portal.page.locator('.timeline > li').first();
    expect(await first.locator('strong').textContent()).toBe('Accepted');
  });

  it('long tags of a message stand apart', async () => {
    const tags = [1, 2, 3, 4].map((n) => `a-rather-long-name-of-a-tag-${n}`);
    const { body } = await portal.gateway.call('POST', '/ng/v1/sendsms', {
      token: portal.filled.account.apiToken,
      body: { from: 'ACME', to: ['2348012345601'], body: 'Tagged', tags },
    });
    await portal.page.setViewportSize({ width: 1024, height: 860 });
    await portal.open(`messages/${String(body['reference_id'])}-0`);
    const boxes = await Promise.all(
      (await portal.page.locator('.chip').all()).map((chip) => chip.boundingBox()),
    );
    expect(boxes).toHaveLength(4);
    for (const [n, box] of boxes.slice(1).entries())
      expect(box!.y).toBeGreaterThanOrEqual(boxes[n]!.y + boxes[n]!.height + 4);
  });

  it('a field for a time says the chosen time in words, in no order of one country', async () => {
    await portal.open(`batches/${portal.filled.scheduledId}`);
    await portal.page.getByRole('button', { name: 'Reschedule' }).click();
    const dialog = portal.page.getByRole('dialog');
    await dialog.getByText('Thursday, 1 January 2150 at 10:00').waitFor();
    await dialog.getByLabel('Send at').fill('2150-03-04T08:30');
    await dialog.getByText('Wednesday, 4 March 2150 at 08:30').waitFor();
    expect(await dialog.innerText()).not.toContain('January');
    await portal.page.keyboard.press('Escape');
  });

  it('the table of orders fits 1024 pixels with a long client reference', async () => {
    const { status } = await portal.gateway.call('POST', '/ng/v1/vas/orders', {
      token: portal.filled.account.apiToken,
      body: {
        product: 'airtime-ng',
        amount: '150',
        to: '2348012345633',
        client_reference: 'shop-of-the-long-names-1234567890-1234567890-1234567890',
      },
    });
    expect(status).toBe(200);
    for (const width of [1440, 1024, 900, 820, 375]) {
      await portal.page.setViewportSize({ width, height: 860 });
      await portal.open('orders');
      const beyond = await portal.page.evaluate(
        `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.table-box'))`,
      );
      expect(beyond).toBe(0);
    }
  });

  it('a printed page has its data alone, in light colours', async () => {
    const { page } = portal;
    await page.setViewportSize({ width: 1024, height: 860 });
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    try {
      await portal.open('messages');
      for (const part of ['.sidebar', '.bar', '.filters', 'main .actions'])
        expect(await page.locator(part).first().isVisible()).toBe(false);
      const main = await page.locator('main').boundingBox();
      expect(main).toMatchObject({ x: 0 });
      expect(await page.getByRole('table', { name: 'Messages' }).isVisible()).toBe(true);
      const ground = await page.evaluate(
        'getComputedStyle(document.documentElement).backgroundColor',
      );
      expect(ground).toBe('rgb(255, 255, 255)');
    } finally {
      await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
    }
  });

  it('records of the domain for tries are not called missing below “verified”', async () => {
    const { data } = await portal.filled.operator.ok<{ data: { id: string; name: string }[] }>(
      'GET',
      'domains',
    );
    await portal.open(`email/domains/${data.find(({ name }) => name === 'demo.test')?.id}`);
    expect(await visible()).toContain('The simulator sends from this domain without DNS records');
    expect(await visible()).not.toContain('missing');
    await portal.open(`email/domains/${portal.filled.domainId}`);
    expect(await visible()).toContain('Publish these records');
  });

  it('the error of a failed request has the id of the request, and a refusal has none', async () => {
    const { page } = portal;
    await page.route(/api\/messages(?:\?|$)/, (route) =>
      route.fulfill({
        status: 500,
        headers: { 'x-request-id': 'req-4711', 'content-type': 'application/json' },
        body: '{"error":{"code":"internal_error","message":"It failed"}}',
      }),
    );
    try {
      await page.goto(`${portal.gateway.url}/portal/messages`);
      await page.getByText('It failed').waitFor();
      await page.getByText('req-4711').waitFor();
    } finally {
      await page.unroute(/api\/messages(?:\?|$)/);
    }
    await portal.open('messages/nothing');
    expect(await visible()).not.toContain('Request id');
    portal.browser.complaints.length = 0;
  });

  it('a page without a connection keeps its list and says so until the server answers', async () => {
    const { page, browser } = portal;
    await portal.open('messages');
    await page.getByRole('link', { name: 'Batches' }).click();
    await page.getByRole('table', { name: 'Batches' }).waitFor();
    await browser.context.setOffline(true);
    try {
      await page.goBack();
      await page.getByText('The server does not answer').waitFor();
      expect(await page.getByRole('table', { name: 'Messages' }).isVisible()).toBe(true);
    } finally {
      await browser.context.setOffline(false);
    }
    await page.getByText('The server does not answer').waitFor({ state: 'detached' });
    expect(await page.getByRole('table', { name: 'Messages' }).isVisible()).toBe(true);
    browser.complaints.length = 0;
  });

  it('the sign-in says why the session ended', async () => {
    const { gateway, filled } = portal;
    const member = await signedIn(gateway, 'viewer', filled.account.accountId);
    const other = await Browser.open(gateway.url, member.cookie);
    try {
      const page = await other.page();
      await page.goto(`${gateway.url}/portal/messages`);
      await page.getByRole('table', { name: 'Messages' }).waitFor();
      const sessions = gateway.running.app
        .get<DataSource>(getDataSourceToken(), { strict: false })
        .getRepository(SessionEntity);
      const id = fingerprint(member.cookie?.split('=')[1] ?? '');
      await sessions.update({ id }, { lastUsedAt: new Date(Date.now() - 13 * 3_600_000) });
      await page.reload();
      await page.getByText('Your session ended after 12 hours without use').waitFor();
      await sessions.delete({ id });
      await page.reload();
      await page.getByText('Your session was ended, by a sign-out').waitFor();
      expect(await page.getByText('without use').count()).toBe(0);
    } finally {
      await other.close();
    }
  });
});
