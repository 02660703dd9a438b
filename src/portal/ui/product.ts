import {
  batches,
  call,
  contacts,
  lanes,
  lazy,
  messages,
  overview,
  type Page,
  type PaletteAction,
  phone,
  type Product,
} from '@dundun/dashboard/ui';
import type { Senders, Session } from '../portal-api.js';
import { curlWith } from './curl.js';
import { health } from './pages/health-page.js';
import { requests } from './pages/requests-page.js';

// The first load has the frame and the first pages; a browser loads these when they are opened.
const AccountsPage = lazy(() =>
  import('./pages/accounts-page.js').then((part) => part.AccountsPage),
);
const CarriersPage = lazy(() =>
  import('./pages/carriers-page.js').then((part) => part.CarriersPage),
);
const EmailPage = lazy(() => import('./pages/email-page.js').then((part) => part.EmailPage));
const GroupsPage = lazy(() => import('./pages/groups-page.js').then((part) => part.GroupsPage));
const InsightsPage = lazy(() =>
  import('./pages/insights-page.js').then((part) => part.InsightsPage),
);
const OrdersPage = lazy(() => import('./pages/orders-page.js').then((part) => part.OrdersPage));
const SendersPage = lazy(() => import('./pages/senders-page.js').then((part) => part.SendersPage));
const SettingsPage = lazy(() =>
  import('./pages/settings-page.js').then((part) => part.SettingsPage),
);
const TemplatesPage = lazy(() =>
  import('./pages/templates-page.js').then((part) => part.TemplatesPage),
);

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
      : [...operation, ...(session.user?.isOperator ? [insights] : []), settings],
    actions: actionsOf(session),
    curl: curlWith(session.curls),
    tenant: 'Account',
    templates: 'api/templates?limit=100',
    senders: async (channel) => {
      const { ofChannels } = await call<Senders>('GET', 'api/senders');
      return ofChannels[channel] ?? [];
    },
  };
}
