/** Exports from which the gateway's portal builds its own pages; not part of the package. */
export { call, onSignedOut, queryOf } from './app/api-client.js';
export * from './app/format.js';
export type { CurlAction, Page, Product } from './app/product.js';
export { mount, navigate, type Route, useRoute } from './app/router.js';
export { Shell } from './app/shell.js';
export { startPages } from './app/start.js';
export { toast } from './app/toasts.js';
export { forgetData, useAction, useData } from './app/use-data.js';
export { Badge, StatusBadge, type Tone, useChannelTitle, words } from './components/badge.js';
export * from './components/basics.js';
export { Dialog, FormDialog } from './components/dialog.js';
export * from './components/field.js';
export { Icon, type IconName, Logo } from './components/icon.js';
export { List, Table } from './components/table.js';
export { Tabs } from './components/tabs.js';
export * from './pages/pages.js';
export { SearchBox } from './components/search-box.js';
export { localTime } from './pages/batches-page.js';
