import type { Page } from '../app/product.js';
import { lazy } from '../components/lazy.js';
import { MessagesPage } from './messages-page.js';
import { OverviewPage } from './overview-page.js';

const BatchesPage = lazy(() => import('./batches-page.js').then((part) => part.BatchesPage));
const ContactsPage = lazy(() => import('./contacts-page.js').then((part) => part.ContactsPage));
const LanesPage = lazy(() => import('./lanes-page.js').then((part) => part.LanesPage));
const PhonePage = lazy(() => import('./phone-page.js').then((part) => part.PhonePage));

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
  view: BatchesPage,
};

export const contacts: Page = {
  name: 'contacts',
  title: 'Contacts',
  icon: 'users',
  key: 'c',
  view: ContactsPage,
};

export const lanes: Page = {
  name: 'lanes',
  title: 'Lanes',
  icon: 'lane',
  key: 'l',
  group: 'Operations',
  shown: ({ operate }) => operate,
  view: LanesPage,
};

export const phone: Page = {
  name: 'phone',
  title: 'Phone',
  icon: 'phone',
  key: 'p',
  shown: ({ simulator, act }) => simulator && act,
  view: PhonePage,
};
