import { PageHeader, type Route, Tabs } from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import { useMay } from '../session-data.js';
import { DomainsTab } from './domains-tab.js';
import { KeysTab } from './keys-tab.js';
import { SuppressionsTab } from './suppressions-tab.js';

export function EmailPage({ route }: { route: Route }): JSX.Element {
  const admin = useMay('admin');
  const tab = route.id ?? 'domains';
  return (
    <>
      <PageHeader title="Email" />
      <Tabs
        label="Email"
        current={`email/${tab}`}
        tabs={[
          ['email/domains', 'Domains'],
          ['email/suppressions', 'Suppressions'],
          ...(admin ? [['email/keys', 'API Keys'] as const] : []),
        ]}
      />
      {tab === 'domains' && <DomainsTab route={route} />}
      {tab === 'suppressions' && <SuppressionsTab route={route} />}
      {tab === 'keys' && admin && <KeysTab />}
    </>
  );
}
