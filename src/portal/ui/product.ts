import {
  batches,
  call,
  contacts,
  lanes,
  lazily,
  messages,
  overview,
  type Page,
  type PaletteAction,
  phone,
  type Product,
} from '@dundun/dashboard/ui';
import type { Senders, Session } from '../portal-api.js';
import { curlWith } from './curl.js';
import { alerts } from './pages/alerts/alerts-page.js';
import { MessageCallbacks } from './pages/message-callbacks.js';
import { SettingsPage } from './pages/settings/settings-page.js';
import { Welcome } from './pages/welcome.js';

const groups: Page = {
  name: 'groups',
  title: 'Groups',
  icon: 'tag',
  key: 'r',
  group: 'Audience',
  view: lazily(async () => (await import('./pages/sending/groups-page.js')).GroupsPage),
};

const insights: Page = {
  name: 'insights',
  title: 'Insights',
  icon: 'chart',
  key: 'i',
  view: lazily(async () => (await import('./pages/insights-page.js')).InsightsPage),
};

const orders: Page = {
  name: 'orders',
  title: 'Orders',
  icon: 'bag',
  key: 'd',
  shown: ({ channels }) => channels.some(({ name }) => name === 'vas'),
  view: lazily(async () => (await import('./pages/sending/orders-page.js')).OrdersPage),
};

const templates: Page = {
  name: 'templates',
  title: 'Templates',
  icon: 'template',
  key: 't',
  group: 'Sending',
  view: lazily(async () => (await import('./pages/sending/templates-page.js')).TemplatesPage),
};

const senders: Page = {
  name: 'senders',
  title: 'Senders',
  icon: 'at',
  key: 's',
  group: 'Sending',
  view: lazily(async () => (await import('./pages/sending/senders-page.js')).SendersPage),
};

const email: Page = {
  name: 'email',
  title: 'Email',
  icon: 'mail',
  key: 'e',
  group: 'Sending',
  view: lazily(async () => (await import('./pages/sending/email-page.js')).EmailPage),
};

const billing: Page = {
  name: 'billing',
  title: 'Billing',
  icon: 'wallet',
  key: 'y',
  group: 'Account',
  view: lazily(async () => (await import('./pages/billing/billing-page.js')).BillingPage),
};

const settings: Page = {
  name: 'settings',
  title: 'Settings',
  icon: 'gear',
  key: ',',
  group: 'Account',
  view: SettingsPage,
};

const accounts: Page = {
  name: 'accounts',
  title: 'Accounts',
  icon: 'users',
  key: 'a',
  group: 'Operations',
  view: lazily(async () => (await import('./pages/accounts-page.js')).AccountsPage),
};

const carriers: Page = {
  name: 'carriers',
  title: 'Carriers',
  icon: 'tower',
  group: 'Operations',
  view: lazily(async () => (await import('./pages/carriers-page.js')).CarriersPage),
};

const rates: Page = {
  name: 'rates',
  title: 'Rates',
  icon: 'file',
  group: 'Operations',
  view: lazily(async () => (await import('./pages/billing/rates-page.js')).RatesPage),
};

const margins: Page = {
  name: 'margins',
  title: 'Margins',
  icon: 'wallet',
  group: 'Operations',
  view: lazily(async () => (await import('./pages/billing/margins-page.js')).MarginsPage),
};

const health: Page = {
  name: 'health',
  title: 'Health',
  icon: 'pulse',
  group: 'Operations',
  view: lazily(async () => (await import('./pages/health-page.js')).HealthPage),
};

const requests: Page = {
  name: 'requests',
  title: 'Requests',
  icon: 'code',
  group: 'Account',
  view: lazily(async () => (await import('./pages/requests-page.js')).RequestsPage),
};
/** The pages of operators, which are of no account. */
export const OPERATION: readonly Page[] = [accounts, lanes, carriers, rates, margins, health];

/** The pages that operators have of all accounts together, too. */
export const OF_ALL_ACCOUNTS: readonly Page[] = [insights, alerts];

function actionsOf({ account }: Session): readonly PaletteAction[] {
  if (!account) return [];
  const own = [
    { title: 'Webhook: events, receivers, attempts', to: 'settings/webhook' },
    { title: 'Change the password, end sessions', to: 'settings/security' },
  ];
  const admin = [
    { title: 'Make an API key', to: 'email/keys' },
    { title: 'Invite a member', to: 'settings/members' },
    { title: 'Audit log', to: 'settings/audit' },
  ];
  return account.role === 'admin' ? [...own, ...admin] : own;
}

/** The pages for the person's role, and the gateway's parts of the shared pages. */
export function portalProduct(session: Session): Product {
  const ofAccount = session.account
    ? [
        overview,
        insights,
        alerts,
        messages,
        batches,
        orders,
        phone,
        { ...contacts, group: 'Audience' },
        groups,
        senders,
        templates,
        email,
        ...(session.account.role === 'admin' ? [requests] : []),
        billing,
        settings,
      ]
    : [];
  const operation = session.user?.isOperator ? OPERATION : [];
  return {
    pages: session.account
      ? [...ofAccount, ...operation]
      : [...operation, ...(session.user?.isOperator ? OF_ALL_ACCOUNTS : []), settings],
    actions: actionsOf(session),
    curl: curlWith(session.curls),
    tenant: 'Account',
    welcome: Welcome,
    ofMessage: MessageCallbacks,
    balance: 'api/balance',
    ...(session.account && {
      views: { path: 'api/views', mayShare: session.account.role === 'admin' },
    }),
    templates: 'api/templates?limit=100',
    senders: async (channel) => {
      const { ofChannels } = await call<Senders>('GET', 'api/senders');
      return ofChannels[channel] ?? [];
    },
  };
}
