import { beforeEach, expect, it } from '@jest/globals';
import { SmsService } from '@dundun/messaging';
import { wrongInAll } from '../../support/page-check.js';
import { eventually } from '../../support/eventually.js';
import { Browser } from '../../support/browser.js';
import { describeFilledPortal } from './filled-account.js';
import { signedIn } from './portal-client.js';

describeFilledPortal('lists of messages and the palette in a browser', (portal) => {
  beforeEach(async () => {
    portal.browser.complaints.length = 0;
    await portal.page.setViewportSize({ width: 1280, height: 860 });
  });

  const address = (): URL => new URL(portal.page.url());
  const query = (): Record<string, string> => Object.fromEntries(address().searchParams);
  const rows = () => portal.page.locator('tr.linked');
  const rowOfFocus = (): Promise<number> =>
    portal.page.evaluate(
      `[...document.querySelectorAll('tr.linked')].indexOf(document.activeElement.closest('tr'))`,
    );

  it('filters of the dialog are chips, chips are removed one by one, and the total follows', async () => {
    const { page } = portal;
    await portal.open('messages');
    const all = await page.locator('.total').innerText();
    expect(all).toMatch(/^[\d,]+ messages$/);
    await page.getByRole('button', { name: 'Filters' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Sender').fill('ACME');
    await dialog.getByLabel('Country').fill('ng');
    await dialog.getByRole('button', { name: 'Show messages' }).click();
    await page.getByRole('button', { name: 'Country: NG' }).waitFor();
    expect(query()).toEqual({ from: 'ACME', country: 'NG' });
    await page.getByRole('button', { name: 'Sender: ACME' }).click();
    await page.getByRole('button', { name: 'Country: NG' }).click();
    await page.locator('.total', { hasText: all }).waitFor();
    expect(query()).toEqual({});
  });

  it('a part of a number is searched in the last 7 days, then further', async () => {
    const { page } = portal;
    await portal.open('messages');
    await page.getByRole('searchbox').fill('5678');
    await page.keyboard.press('Enter');
    await page.getByText('The search looked at the last 7 days.').waitFor();
    await page.getByRole('button', { name: 'Search further' }).click();
    await page.getByText('The search looked at the last 7 days.').waitFor({ state: 'detached' });
    expect(query()).toEqual({ q: '5678', age: 'all' });
  });

  it('a view keeps its filter under a name, opens it in any browser, is shared, and is deleted', async () => {
    const { page } = portal;
    await portal.open('messages?status=failed');
    await page.getByRole('button', { name: 'Save view' }).click();
    await page.getByLabel('Name').fill('Went wrong');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Delete view' }).waitFor();
    expect(query()).toEqual({ status: 'failed', view: 'Went wrong' });
    const { accountId } = portal.filled.account;
    const colleague = await signedIn(portal.gateway, 'viewer', accountId);
    const elsewhere = await Browser.open(portal.gateway.url, colleague.cookie);
    try {
      await page.getByRole('button', { name: 'Save view' }).click();
      await page.getByLabel('Share it with every member').check();
      expect(await wrongInAll(page, 'dialog-view-shared')).toEqual([]);
      await page.setViewportSize({ width: 1280, height: 860 });
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.waitForURL(/view=Went\+wrong\+%28shared%29/);
      const theirs = await elsewhere.page();
      await theirs.goto(`${portal.gateway.url}/portal/a/${accountId}/messages`);
      await theirs.getByLabel('Saved view').selectOption('Went wrong (shared)');
      await theirs.waitForURL(/status=failed/);
      await theirs.locator('.total').waitFor();
      expect(await theirs.getByRole('button', { name: 'Delete view' }).count()).toBe(0);
    } finally {
      await elsewhere.close();
    }
    await portal.open('messages');
    await page.getByLabel('Saved view').selectOption('Went wrong (shared)');
    await page.getByRole('button', { name: 'Delete view' }).click();
    await page.getByRole('button', { name: 'Delete view' }).waitFor({ state: 'detached' });
    expect(query()).toEqual({ status: 'failed' });
    expect(portal.browser.complaints).toEqual([]);
  });

  it('views that the browser kept before are moved to the person once', async () => {
    const { page } = portal;
    const key = `dundun.views./portal/a/${portal.filled.account.accountId}/messages`;
    await portal.open('overview');
    const kept = JSON.stringify([{ name: 'Of before', query: 'country=NG' }]);
    await page.evaluate(`localStorage.setItem(${JSON.stringify(key)}, ${JSON.stringify(kept)})`);
    await portal.open('messages');
    await page.getByLabel('Saved view').selectOption('Of before');
    await page.waitForURL(/country=NG/);
    expect(await page.evaluate(`localStorage.getItem(${JSON.stringify(key)})`)).toBeNull();
    await page.reload();
    await page.getByRole('button', { name: 'Delete view' }).click();
    await page.getByRole('button', { name: 'Delete view' }).waitFor({ state: 'detached' });
    expect(portal.browser.complaints).toEqual([]);
  });

  it('j and k walk through the rows, x chooses, Enter opens, and ? lists the keys', async () => {
    const { page } = portal;
    await portal.open('messages');
    await page.locator('main h1').focus();
    for (const [key, place] of [
      ['j', 0],
      ['j', 1],
      ['k', 0],
      ['k', 0],
    ] as const) {
      await page.keyboard.press(key);
      expect([key, await rowOfFocus()]).toEqual([key, place]);
    }
    await page.keyboard.press('x');
    await page.getByText('1 message chosen').waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('Next and former row of a list').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('x');
    await page.getByText('1 message chosen').waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/messages\/[\w-]+$/);
  });

  it('chosen messages are sent again, and batches cancelled, after a question and with a report', async () => {
    const { page, gateway, filled } = portal;
    const sms = gateway.running.app.get(SmsService, { strict: false });
    const tenant = filled.account.accountId;
    const sendAt = new Date(Date.now() + 3_600_000);
    const to = ['2348012345601', '2348012345602'];
    const own = { from: 'ACME', body: 'Later', sendAt };
    await sms.send({ ...own, to, tags: ['bulk'] }, { tenant });
    await portal.open('messages?tag=bulk');
    await page.getByLabel('Choose all rows').check();
    await page.getByText('2 messages chosen').waitFor();
    expect(await wrongInAll(page, 'messages-chosen')).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.getByRole('button', { name: 'Send again' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Recipients may get a message twice').waitFor();
    await dialog.getByRole('button', { name: 'Send 2 messages again' }).click();
    await dialog.getByText('0 sent again, 2 refused.').waitFor();
    await dialog.getByText('it may still leave').first().waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    // The browser writes a refused request into its console.
    portal.browser.complaints.length = 0;
    await page.getByLabel('Choose all rows').check();
    await page.getByRole('button', { name: 'Cancel their batches' }).click();
    expect(await wrongInAll(page, 'dialog-bulk-cancel')).toEqual([]);
    await dialog.getByRole('button', { name: 'Cancel 1 batch' }).click();
    await dialog.getByText('1 cancelled, 0 refused.').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await rows().getByText('cancelled').first().waitFor();
    expect(portal.browser.complaints).toEqual([]);
  });

  it('chosen batches are cancelled, and their failed messages sent again once, with a report', async () => {
    const { page, gateway, filled } = portal;
    const sms = gateway.running.app.get(SmsService, { strict: false });
    const tenant = filled.account.accountId;
    const to = ['2348012379901', '2348012389901', '2348012345641'];
    const failed = await sms.send({ from: 'ACME', to, body: 'Now' }, { tenant });
    const sendAt = new Date(Date.now() + 3_600_000);
    const own = { from: 'ACME', body: 'Later', sendAt };
    const later = await sms.send({ ...own, to: ['2348012345601'] }, { tenant });
    await eventually(async () => {
      const { counts } = await sms.batch(failed.id, { tenant });
      expect(counts).toEqual({ undelivered: 2, delivered: 1 });
    });
    await portal.open('batches');
    const dialog = page.getByRole('dialog');
    const choose = async () => {
      for (const { id } of [failed, later]) await page.getByLabel(`Choose ${id}`).check();
      await page.getByText('2 batches chosen').waitFor();
    };
    await choose();
    expect(await wrongInAll(page, 'batches-chosen')).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await dialog.getByRole('button', { name: 'Cancel 1 batch' }).click();
    await dialog.getByText('1 cancelled, 0 refused.').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    for (const report of [
      '2 sent again, 0 refused.',
      '0 sent again, 2 sent again before, 0 refused.',
    ]) {
      await choose();
      await page.getByRole('button', { name: 'Send failed messages again' }).click();
      expect(await wrongInAll(page, 'dialog-bulk-resend-batches')).toEqual([]);
      await page.setViewportSize({ width: 1280, height: 860 });
      await dialog.getByRole('button', { name: 'Send 2 failed messages again' }).click();
      await dialog.getByText(report).waitFor();
      await dialog.getByRole('button', { name: 'Close' }).last().click();
    }
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'CSV' }).click();
    expect((await download).suggestedFilename()).toBe('batches.csv');
    await page.getByText(/\d+ rows exported/).waitFor();
    expect(portal.browser.complaints).toEqual([]);
  });

  it('an export is read in pieces that together have every message once', async () => {
    const { page, filled } = portal;
    await portal.open('messages');
    const read = (query: string) =>
      page.evaluate(`fetch('api/messages/export?${query}').then(async (answer) => ({
        csv: await answer.text(),
        rows: answer.headers.get('x-rows'),
        next: answer.headers.get('x-next-cursor'),
      }))`) as Promise<{ csv: string; rows: string; next: string | null }>;
    // No message changes between the reads.
    await eventually(async () => expect((await read('')).csv).not.toContain(',sending,'));
    const whole = await read('');
    const lines = whole.csv.trimEnd().split('\r\n').slice(1);
    expect([whole.rows, whole.next]).toEqual([String(lines.length), null]);
    const pieces: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const piece: Awaited<ReturnType<typeof read>> = await read(
        `limit=3${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      pieces.push(...piece.csv.trimEnd().split('\r\n').slice(1));
      cursor = piece.next;
    }
    expect(pieces).toEqual(lines);
    expect(filled.failedId).toMatch(/-\d+$/);
    expect(lines.join('\n')).toContain(filled.failedId);
    await page.getByRole('button', { name: 'CSV', exact: true }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Export masked' }).click();
    expect((await download).suggestedFilename()).toBe('messages.csv');
    await page.getByText(`${lines.length} rows exported`).waitFor();
    expect(portal.browser.complaints).toEqual([]);
  });

  it('drawing over columns of the chart sets the time of the list', async () => {
    const { page } = portal;
    await portal.open('messages?chart=on');
    const plot = page.locator('.plot');
    await plot.waitFor();
    const box = await plot.boundingBox();
    if (!box) throw new Error('the chart is not drawn');
    await page.mouse.move(box.x + box.width * 0.9, box.y + 80);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 4, box.y + 80, { steps: 4 });
    await page.mouse.up();
    await page.getByRole('button', { name: /^Since: / }).waitFor();
    const { since, until, chart } = query();
    expect(chart).toBe('on');
    const drawn = new Date(until ?? '').getTime() - new Date(since ?? '').getTime();
    expect(drawn / 3_600_000).toBeGreaterThanOrEqual(2);
    expect(drawn / 3_600_000).toBeLessThanOrEqual(4);
  });

  it('Ctrl+K finds pages, actions, ids, numbers and batches; arrows choose, Escape returns the focus', async () => {
    const { page, filled } = portal;
    await portal.open('overview');
    const palette = page.getByRole('dialog', { name: 'Go to' });
    const field = palette.getByRole('combobox');
    await page.locator('main h1').focus();
    await page.keyboard.press('Control+k');
    await field.waitFor();
    expect(await page.evaluate(`document.activeElement.getAttribute('role')`)).toBe('combobox');
    expect(await wrongInAll(page, 'palette')).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.keyboard.press('Escape');
    await palette.waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.tagName')).toBe('H1');

    const choose = async (text: string, option: string | RegExp, keys: readonly string[]) => {
      await page.keyboard.press('Control+k');
      await field.fill(text);
      await palette.getByRole('option', { name: option }).first().waitFor();
      for (const key of keys) await page.keyboard.press(key);
    };
    await choose('templ', /^Templates/, ['Enter']);
    await page.waitForURL(/\/templates$/);
    await choose('failed', /^Failed messages of the last 24 hours/, ['Enter']);
    await page.waitForURL(/\/messages\?status=failed&age=24h$/);
    await choose(filled.batchId, /Batch$/, ['ArrowDown', 'Enter']);
    await page.waitForURL(new RegExp(`/batches/${filled.batchId}$`));
    await choose(filled.failedId, /Message$/, ['ArrowDown', 'Enter']);
    await page.waitForURL(new RegExp(`/messages/${filled.failedId}$`));
    await choose('2348012345601', /Message$/, ['ArrowDown', 'Enter']);
    await page.waitForURL(/\/messages\/[\w-]+$/);
    await choose('nothing has this', /^Search messages/, ['Enter']);
    await page.waitForURL(/\/messages\?q=nothing/);
    expect(portal.browser.complaints).toEqual([]);
  });
});
