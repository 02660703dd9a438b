import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { Browser } from '../../support/browser.js';
import { shown } from '../../support/page-check.js';
import { describeWithServer } from '../../support/servers.js';
import { buildPages } from '../../support/builds.js';
import { TestGateway } from '../gateway/test-gateway.js';
import { type FilledAccount, fillAccount } from './filled-account.js';

/** Fields that the person fills for a send over each channel, by label. */
const SENDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  sms: { To: '2348012345677', Text: 'It’s "quoted"' },
  whatsapp: { To: '2348012349910', Text: 'Thank you' },
  email: {
    From: 'hello@demo.test',
    To: 'ada@example.com',
    Subject: 'Hello',
    Text: "It's here",
  },
  voice: { To: '2348012345677', 'Text to speak': 'Hello' },
};

describeWithServer('chromium', 'the curl lines of the portal', () => {
  const gateway = new TestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
  let filled: FilledAccount;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    await buildPages('src/portal/ui');
    await gateway.start();
    filled = await fillAccount(gateway);
    browser = await Browser.open(gateway.url, filled.operator.cookie);
    page = await browser.page();
  });
  afterAll(async () => {
    await browser?.close();
    await filled?.receiver.close();
    await gateway.destroy();
  });

  /** Runs the shown command, with the account's secrets in place of the variables. */
  const run = async (command: string): Promise<number> => {
    const [, method = '', url = ''] = /^curl -X (\w+) '([^']+)'/.exec(command) ?? [];
    const secret = command.includes('$API_KEY') ? filled.account.apiKey : filled.account.apiToken;
    const body = / -d '(.*)'$/.exec(command)?.[1]?.replaceAll("'\\''", "'");
    const answer = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body }),
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  const open = async (address: string): Promise<void> => {
    await page.goto(`${gateway.url}/portal/${address}`);
    await shown(page);
  };

  it('the command of each list, message and batch is answered 200', async () => {
    const { data } = await filled.operator.ok<{
      data: { id: string; batchId: string; channel: string }[];
    }>('GET', 'messages?limit=100');
    const ofChannel = new Map(data.map((message) => [message.channel, message]));
    expect([...ofChannel.keys()].toSorted()).toEqual(['email', 'sms', 'vas', 'voice', 'whatsapp']);
    const pages = [...ofChannel.values()].flatMap(({ id, batchId, channel }) => [
      `messages/${id}`,
      `batches/${batchId}`,
      // WhatsApp has no list in the interface.
      ...(channel === 'whatsapp' ? [] : [`messages?channel=${channel}`]),
    ]);
    for (const address of pages) {
      await open(address);
      await page.getByRole('button', { name: 'curl', exact: true }).click();
      const command = await page.getByRole('dialog').locator('pre').innerText();
      expect([address, await run(command)]).toEqual([address, 200]);
    }
  });

  it.each(Object.entries(SENDS))(
    'the command of a send over %s is accepted',
    async (channel, fields) => {
      await open('messages');
      await page.getByRole('button', { name: 'Send a message' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Channel').selectOption(channel);
      for (const [label, value] of Object.entries(fields))
        await dialog.getByLabel(label, { exact: true }).fill(value);
      await dialog.getByLabel('Estimate').getByText('Recipients', { exact: true }).waitFor();
      await dialog.getByText('Show the curl').click();
      expect(await run(await dialog.locator('pre').innerText())).toBe(200);
    },
  );
});
