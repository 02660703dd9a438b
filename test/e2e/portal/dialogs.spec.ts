import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { Browser } from '../../support/browser.js';
import { shown, wrongInAll } from '../../support/page-check.js';
import { describeWithServer } from '../../support/servers.js';
import { buildPages } from '../../support/builds.js';
import { TestGateway } from '../gateway/test-gateway.js';
import { type FilledAccount, fillAccount } from './filled-account.js';
import { PASSWORD, signedIn } from './portal-client.js';

type Step = string | RegExp | { readonly label: string; readonly value: string };

/** Address of each dialog, and the buttons and fields that lead to it. */
const DIALOGS: Readonly<
  Record<string, readonly [address: (filled: FilledAccount) => string, ...steps: Step[]]>
> = {
  send: [() => 'messages', 'Send a message'],
  curl: [() => 'messages', 'curl'],
  keys: [() => 'overview', 'Keyboard shortcuts'],
  reschedule: [({ scheduledId }) => `batches/${scheduledId}`, 'Reschedule'],
  cancel: [({ scheduledId }) => `batches/${scheduledId}`, 'Cancel batch'],
  import: [() => 'contacts', 'Import CSV'],
  'group-new': [() => 'groups', 'New group'],
  'group-members': [({ groupId }) => `groups/${groupId}`, 'Add members'],
  'group-member-remove': [({ groupId }) => `groups/${groupId}`, /^Remove •/],
  'group-delete': [({ groupId }) => `groups/${groupId}`, 'Delete'],
  template: [() => 'templates', 'Add a template'],
  'sender-add': [() => 'senders', 'Add a sender ID'],
  'caller-add': [() => 'senders', 'Add a caller id'],
  'do-not-call-add': [() => 'senders/do-not-call', 'Add a number'],
  'sender-remove': [() => 'senders', 'Remove ACMENEWS'],
  endpoint: [() => 'settings/webhook', 'Add an endpoint'],
  'endpoint-edit': [({ webhookId }) => `settings/webhook/${webhookId}`, 'Edit'],
  'endpoint-delete': [({ webhookId }) => `settings/webhook/${webhookId}`, 'Delete'],
  'secret-rotate': [({ webhookId }) => `settings/webhook/${webhookId}`, 'Rotate secret'],
  'secret-shown': [({ webhookId }) => `settings/webhook/${webhookId}`, 'Rotate secret', 'Rotate'],
  'redeliver-since': [({ webhookId }) => `settings/webhook/${webhookId}`, 'Redeliver since…'],
  attempt: [({ webhookId }) => `settings/webhook/${webhookId}`, /^Show /],
  invite: [() => 'settings/members', 'Invite'],
  'invite-link': [() => 'settings/members', 'Invite', 'Make the link'],
  'invite-withdraw': [() => 'settings/members', /^Withdraw/],
  'member-remove': [() => 'settings/members', /^Remove viewer/],
  domain: [() => 'email/domains', 'Add a domain'],
  suppression: [() => 'email/suppressions', 'Add an address'],
  key: [() => 'email/keys', /^New /],
  'key-revoke': [() => 'email/keys', /^Revoke/],
  account: [() => 'accounts', 'New account'],
  'account-made': [() => 'accounts', 'New account', { label: 'Name', value: 'Globex' }, 'Create'],
  'account-suspend': [() => 'accounts', 'Suspend Globex'],
  'account-resume': [() => 'accounts', 'Suspend Globex', 'Suspend', 'Resume Globex'],
  settle: [() => 'orders', 'Settle shop-2'],
  'token-rotate': [() => 'settings/security', 'Rotate token'],
  'token-shown': [() => 'settings/security', 'Rotate token', 'Rotate'],
};

describeWithServer('chromium', 'the dialogs of the portal', () => {
  const gateway = new TestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
  let filled: FilledAccount;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    await buildPages('src/portal/ui');
    await gateway.start();
    filled = await fillAccount(gateway);
    await signedIn(gateway, 'viewer', filled.account.accountId);
    browser = await Browser.open(gateway.url, filled.operator.cookie);
    page = await browser.page();
  });
  afterAll(async () => {
    await browser?.close();
    await filled?.receiver.close();
    await gateway.destroy();
  });

  const press = (name: string | RegExp): Promise<void> =>
    page.getByRole('button', { name, exact: true }).first().click();

  it.each(Object.entries(DIALOGS))(
    'the dialog %s passes axe, and Escape closes it',
    async (name, [address, ...steps]) => {
      browser.complaints.length = 0;
      await page.setViewportSize({ width: 1280, height: 860 });
      await page.goto(`${gateway.url}/portal/${address(filled)}`);
      await shown(page);
      for (const step of steps)
        if (typeof step === 'string' || step instanceof RegExp) await press(step);
        else await page.getByLabel(step.label, { exact: true }).fill(step.value);
      await page.getByRole('dialog').waitFor();
      expect(await wrongInAll(page, `dialog-${name}`)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(browser.complaints).toEqual([]);
    },
  );

  it('set-up, a wrong link, sign-in and a wrong password pass axe', async () => {
    const other = await Browser.open(gateway.url);
    try {
      const visitor = await other.page();
      const wrong: string[] = [];
      await visitor.goto(`${gateway.url}/portal/setup`);
      await visitor.getByRole('heading', { name: 'This link does not work' }).waitFor();
      wrong.push(...(await wrongInAll(visitor, 'setup-wrong')));
      await visitor.goto(filled.account.setup);
      await visitor.getByRole('button').last().waitFor();
      wrong.push(...(await wrongInAll(visitor, 'setup')));
      await visitor.goto(`${gateway.url}/portal/messages`);
      await visitor.getByRole('heading', { name: 'Sign in' }).waitFor();
      wrong.push(...(await wrongInAll(visitor, 'sign-in')));
      expect(other.complaints).toEqual([]);
      await visitor.getByLabel('E-mail').fill('nobody@example.com');
      await visitor.getByLabel('Password').fill(PASSWORD);
      await visitor.getByRole('button', { name: 'Sign in' }).click();
      await visitor.getByText('The e-mail address or the password is wrong').waitFor();
      wrong.push(...(await wrongInAll(visitor, 'sign-in-wrong')));
      expect(wrong).toEqual([]);
    } finally {
      await other.close();
    }
  });
});
