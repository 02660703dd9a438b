import {
  batches,
  call,
  contacts,
  lanes,
  messages,
  overview,
  type Page,
  phone,
  type Product,
} from '@dundun/dashboard/ui';
import type { Senders, Session } from '../portal-api.js';
import { curlWith } from './curl.js';
import { AccountsPage } from './pages/accounts-page.js';
import { alerts } from './pages/alerts-page.js';
import { CarriersPage } from './pages/carriers-page.js';
import { EmailPage } from './pages/email-page.js';
import { GroupsPage } from './pages/groups-page.js';
import { health } from './pages/health-page.js';
import { InsightsPage } from './pages/insights-page.js';
import { OrdersPage } from './pages/orders-page.js';
import { requests } from './pages/requests-page.js';
import { SendersPage } from './pages/senders-page.js';
import { SettingsPage } from './pages/settings-page.js';
import { TemplatesPage } from './pages/templates-page.js';

const groups: Page = {
  name: 'groups',
  title: 'Groups',
  icon: 'tag',
  key: 'r',
  group: 'Audience',
  view: GroupsPage,
};

const insights: Page = {
  name: 'insights',
  title: 'Insights',
  icon: 'chart',
  key: 'i',
  view: InsightsPage,
};

const orders: Page = {
  name: 'orders',
  title: 'Orders',
  icon: 'bag',
  key: 'd',
  shown: ({ channels }) => channels.some(({ name }) => name === 'vas'),
  view: OrdersPage,
};

const templates: Page = {
  name: 'templates',
  title: 'Templates',
  icon: 'template',
  key: 't',
  group: 'Sending',
  view: TemplatesPage,
};

const senders: Page = {
  name: 'senders',
  title: 'Senders',
  icon: 'at',
  key: 's',
  group: 'Sending',
  view: SendersPage,
};

const email: Page = {
  name: 'email',
  title: 'Email',
  icon: 'mail',
  key: 'e',
  group: 'Sending',
  view: EmailPage,
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
  view: AccountsPage,
};

const carriers: Page = {
  name: 'carriers',
  title: 'Carriers',
  icon: 'tower',
  group: 'Operations',
  view: CarriersPage,
};

/** The pages of operators, which are of no account. */
export const OPERATION: readonly Page[] = [accounts, lanes, carriers, health];

/** The pages that operators have of all accounts together, too. */
export const OF_ALL_ACCOUNTS: readonly Page[] = [insights, alerts];

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
        settings,
      ]
    : [];
  const operation = session.user?.isOperator ? OPERATION : [];
  return {
    pages: session.account
      ? [...ofAccount, ...operation]
      : [...operation, ...(session.user?.isOperator ? OF_ALL_ACCOUNTS : []), settings],
    curl: curlWith(session.curls),
    tenant: 'Account',
    templates: 'api/templates?limit=100',
    senders: async (channel) => {
      const { ofChannels } = await call<Senders>('GET', 'api/senders');
      return ofChannels[channel] ?? [];
    },
  };
}
