import { PageHeader, type Route, Tabs } from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import { useMay } from '../../session-data.js';
import { BlockedTab, SUPPRESSIONS } from './blocked-tab.js';
import { DomainsTab } from './domains-tab.js';
import { KeysTab } from './keys-tab.js';
import { MissingTab } from '../../components/missing-tab.js';

export function EmailPage({ route }: { route: Route }): JSX.Element {
  const admin = useMay('admin');
  const tab = route.id ?? 'domains';
  const tabs = [
    ['email/domains', 'Domains'] as const,
    ['email/suppressions', 'Suppressions'] as const,
    ...(admin ? [['email/keys', 'API Keys'] as const] : []),
  ];
  return (
    <>
      <PageHeader title="Email" />
      <Tabs label="Email" tabs={tabs} current={`email/${tab}`} />
      {tab === 'domains' && <DomainsTab route={route} />}
      {tab === 'suppressions' && <BlockedTab route={route} of={SUPPRESSIONS} />}
      {tab === 'keys' && admin && <KeysTab />}
      {!tabs.some(([address]) => address === `email/${tab}`) && <MissingTab />}
    </>
  );
}
