import type { Page } from '../app/product.js';
import { lazily } from '../components/lazily.js';
import { MessagesPage } from './messages-page.js';
import { OverviewPage } from './overview-page.js';

/** Pages that the dashboard and the portal share. */
export const overview: Page = {
  name: 'overview',
  title: 'Overview',
  icon: 'home',
  key: 'o',
  view: OverviewPage,
};

export const messages: Page = {
  name: 'messages',
  title: 'Messages',
  icon: 'message',
  key: 'm',
  view: MessagesPage,
};

export const batches: Page = {
  name: 'batches',
  title: 'Batches',
  icon: 'layers',
  key: 'b',
  view: lazily(async () => (await import('./batches-page.js')).BatchesPage),
};

export const contacts: Page = {
  name: 'contacts',
  title: 'Contacts',
  icon: 'users',
  key: 'c',
  view: lazily(async () => (await import('./contacts-page.js')).ContactsPage),
};

export const lanes: Page = {
  name: 'lanes',
  title: 'Lanes',
  icon: 'lane',
  key: 'l',
  group: 'Operations',
  shown: ({ operate }) => operate,
  view: lazily(async () => (await import('./lanes-page.js')).LanesPage),
};

export const phone: Page = {
  name: 'phone',
  title: 'Phone',
  icon: 'phone',
  key: 'p',
  shown: ({ simulator, act }) => simulator && act,
  view: lazily(async () => (await import('./phone-page.js')).PhonePage),
};
