import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { Browser } from '../../support/browser.js';
import { SCHEMES, shown, WIDTHS, wrongWith } from '../../support/page-check.js';
import { describeWithServer } from '../../support/servers.js';
import { buildPages } from '../../support/builds.js';
import { TestGateway } from '../gateway/test-gateway.js';
import { type FilledAccount, fillAccount } from './filled-account.js';

const PAGES: Readonly<Record<string, (filled: FilledAccount) => string>> = {
  overview: () => 'overview',
  messages: () => 'messages',
  'messages-none': () => 'messages?q=2340000000000',
  message: ({ failedId }) => `messages/${failedId}`,
  batches: () => 'batches',
  batch: ({ batchId }) => `batches/${batchId}`,
  'batch-scheduled': ({ scheduledId }) => `batches/${scheduledId}`,
  contacts: () => 'contacts',
  contact: ({ contactId }) => `contacts/${contactId}`,
  groups: () => 'groups',
  group: ({ groupId }) => `groups/${groupId}`,
  templates: () => 'templates',
  senders: () => 'senders',
  'do-not-call': () => 'senders/do-not-call',
  'message-call': ({ callId }) => `messages/${callId}`,
  'message-order': ({ orderId }) => `messages/${orderId}-0`,
  'message-code': ({ codeId }) => `messages/${codeId}`,
  'messages-voice': () => 'messages?channel=voice',
  orders: () => 'orders',
  'orders-none': () => 'orders?q=nothing',
  phone: () => 'phone',
  security: () => 'settings/security',
  webhook: () => 'settings/webhook',
  'webhook-attempts': ({ webhookId }) => `settings/webhook/${webhookId}`,
  members: () => 'settings/members',
  audit: () => 'settings/audit',
  domains: () => 'email/domains',
  domain: ({ domainId }) => `email/domains/${domainId}`,
  suppressions: () => 'email/suppressions',
  'api-keys': () => 'email/keys',
  accounts: () => 'accounts',
  lanes: () => 'lanes',
  carriers: () => 'carriers',
  'tab-unknown': () => 'settings/nothing',
  unknown: () => 'nowhere',
};

describeWithServer('chromium', 'the pages of the portal', () => {
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

  for (const width of WIDTHS)
    for (const scheme of SCHEMES)
      it.each(Object.entries(PAGES))(
        `%s at ${width} pixels in ${scheme} colours passes axe, fits the screen, and logs no error`,
        async (name, address) => {
          browser.complaints.length = 0;
          await page.setViewportSize({ width, height: 860 });
          await page.goto(`${gateway.url}/portal/${address(filled)}`);
          await shown(page);
          expect(await wrongWith(page, name, width, scheme)).toEqual([]);
          expect(browser.complaints).toEqual([]);
        },
      );
});
