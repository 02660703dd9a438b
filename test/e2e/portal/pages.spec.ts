import { beforeAll, expect, it } from '@jest/globals';
import { Browser } from '../../support/browser.js';
import { wrongInAll } from '../../support/page-check.js';
import { describeFilledPortal, type FilledAccount } from './filled-account.js';
import { PASSWORD, signedIn } from './portal-client.js';

/** Address of each page. */
const PAGES: Readonly<Record<string, (filled: FilledAccount) => string>> = {
  overview: () => 'overview',
  insights: () => 'insights',
  'insights-country': () => 'insights?by=sender&country=NG&period=7d',
  alerts: () => 'alerts',
  'alerts-resolved': () => 'alerts?state=resolved',
  messages: () => 'messages',
  'messages-none': () => 'messages?q=2340000000000',
  'messages-part': () => 'messages?q=5678&in=part',
  'messages-chart': () =>
    'messages?chart=on&country=NG&from=ACME&since=2026-01-01T00%3A00%3A00.000Z&view=Ours',
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
  'billing-none': () => 'billing',
  phone: () => 'phone',
  security: () => 'settings/security',
  webhook: () => 'settings/webhook',
  'webhook-attempts': ({ webhookId }) => `settings/webhook/${webhookId}`,
  'webhook-attempts-failed': ({ webhookId }) =>
    `settings/webhook/${webhookId}?result=failed&code=500&age=24h&period=14d`,
  'webhook-java': () => 'settings/webhook?language=java&event=email.bounced',
  members: () => 'settings/members',
  'account-settings': () => 'settings/account',
  smpp: () => 'settings/smpp',
  audit: () => 'settings/audit',
  domains: () => 'email/domains',
  domain: ({ domainId }) => `email/domains/${domainId}`,
  suppressions: () => 'email/suppressions',
  'api-keys': () => 'email/keys',
  accounts: () => 'accounts',
  lanes: () => 'lanes',
  carriers: () => 'carriers',
  rates: () => 'rates?number=2348012345678&card=demo',
  'rates-import': () => 'rates/import',
  'rates-compare': () => 'rates/compare',
  margins: () => 'margins',
  'margins-channel': () => 'margins?by=channel',
  health: () => 'health',
  requests: () => 'requests',
  'requests-refused': () => 'requests?refused=true',
  'tab-unknown': () => 'settings/nothing',
  unknown: () => 'nowhere',
};

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

type Step = string | RegExp | { readonly label: string; readonly value: string };

/** Address of each dialog, and the buttons and fields that lead to it. */
const DIALOGS: Readonly<
  Record<string, readonly [address: (filled: FilledAccount) => string, ...steps: Step[]]>
> = {
  send: [() => 'messages', 'Send a message'],
  'go-to': [() => 'messages', 'Go to'],
  'filters-more': [() => 'messages', 'Filters'],
  'view-save': [() => 'messages?status=failed', 'Save view'],
  curl: [() => 'messages', 'curl'],
  keys: [() => 'overview', 'Keyboard shortcuts'],
  reschedule: [({ scheduledId }) => `batches/${scheduledId}`, 'Reschedule'],
  cancel: [({ scheduledId }) => `batches/${scheduledId}`, 'Cancel batch'],
  import: [() => 'contacts', 'Import CSV'],
  'group-new': [() => 'groups', 'New group'],
  'group-members': [({ groupId }) => `groups/${groupId}`, 'Add members'],
  'group-member-remove': [({ groupId }) => `groups/${groupId}`, /^Remove \+.*•/],
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
  'rate-change': [() => 'settings/account', 'Change the rate'],
  'orders-allow': [() => 'settings/account', 'Change the caps'],
  'smpp-add': [() => 'settings/smpp', 'Add a system_id'],
  'smpp-shown': [() => 'settings/smpp', 'Add a system_id', 'Add'],
  'smpp-change': [() => 'settings/smpp', /^Change smpp/],
  'smpp-remove': [() => 'settings/smpp', /^Remove smpp/],
  'template-shown': [() => 'templates', 'Show order_update (en)'],
  'token-rotate': [() => 'settings/security', 'Rotate token'],
  'token-new': [() => 'settings/security', 'New token'],
  'token-shown': [() => 'settings/security', 'Rotate token', 'Rotate'],
};

describeFilledPortal('the portal in a browser', (portal) => {
  const { gateway } = portal;
  beforeAll(() => signedIn(gateway, 'viewer', portal.filled.account.accountId));

  it.each(Object.entries(PAGES))(
    'the page %s passes axe, fits the screen, and logs no error',
    async (name, address) => {
      const { browser, page, filled } = portal;
      browser.complaints.length = 0;
      await page.setViewportSize({ width: 1280, height: 860 });
      await portal.open(address(filled));
      expect(await wrongInAll(page, name)).toEqual([]);
      expect(browser.complaints).toEqual([]);
    },
  );

  it('a window of 720 pixels of height shows the link of each page of an account without scrolling', async () => {
    const { page } = portal;
    await page.setViewportSize({ width: 1280, height: 720 });
    await portal.open('overview');
    const link = page.getByRole('navigation').getByRole('link', { name: 'Settings', exact: true });
    const { y = Infinity, height = 0 } = (await link.boundingBox()) ?? {};
    expect(y + height).toBeLessThan(720);
  });

  /** Runs the shown command, with the account's secrets in place of the variables. */
  const run = async (command: string): Promise<number> => {
    const [, method = '', url = ''] = /^curl -X (\w+) '([^']+)'/.exec(command) ?? [];
    const { apiKey, apiToken } = portal.filled.account;
    const secret = command.includes('$API_KEY') ? apiKey : apiToken;
    const body = / -d '(.*)'$/.exec(command)?.[1]?.replaceAll("'\\''", "'");
    const answer = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body }),
    });
    await answer.arrayBuffer();
    return answer.status;
  };

  it('the command of each list, message and batch is answered 200', async () => {
    const { data } = await portal.filled.operator.ok<{
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
    const { page } = portal;
    for (const address of pages) {
      await portal.open(address);
      await page.getByRole('button', { name: 'curl', exact: true }).click();
      const command = await page.getByRole('dialog').locator('pre').innerText();
      expect([address, await run(command)]).toEqual([address, 200]);
    }
  });

  it.each(Object.entries(SENDS))(
    'the command of a send over %s is accepted',
    async (channel, fields) => {
      const { page } = portal;
      await portal.open('messages');
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

  const press = (name: string | RegExp): Promise<void> =>
    portal.page.getByRole('button', { name, exact: true }).first().click();

  it.each(Object.entries(DIALOGS))(
    'the dialog %s passes axe, and Escape closes it',
    async (name, [address, ...steps]) => {
      const { browser, page, filled } = portal;
      browser.complaints.length = 0;
      await page.setViewportSize({ width: 1280, height: 860 });
      await portal.open(address(filled));
      for (const step of steps)
        if (typeof step === 'string' || step instanceof RegExp) await press(step);
        else await page.getByLabel(step.label, { exact: true }).fill(step.value);
      // The last step may make what its dialog shows.
      await page.locator('button[aria-busy="true"]').first().waitFor({ state: 'detached' });
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
      await visitor.goto(portal.filled.account.setup);
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
