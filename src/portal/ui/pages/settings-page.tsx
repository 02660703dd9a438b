import { PageHeader, type Route, Tabs } from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import { useMay, useSession } from '../session-data.js';
import { AuditTab } from './audit-tab.js';
import { MembersTab } from './members-tab.js';
import { MissingTab } from './missing-tab.js';
import { SecurityTab } from './security-tab.js';
import { WebhookTab } from './webhook-tab.js';

export function SettingsPage({ route }: { route: Route }): JSX.Element {
  const admin = useMay('admin');
  const { session } = useSession();
  const tab = route.id ?? 'security';
  // An operator without an account sees the password form, and the audit log of all accounts.
  const audits = admin || session.account === null;
  const tabs = [
    ['settings/security', 'Security'] as const,
    ...(session.account ? [['settings/webhook', 'Webhook'] as const] : []),
    ...(admin ? [['settings/members', 'Members'] as const] : []),
    ...(audits ? [['settings/audit', 'Audit'] as const] : []),
  ];
  return (
    <>
      <PageHeader title="Settings" />
      <Tabs label="Settings" tabs={tabs} current={`settings/${tab}`} />
      {tab === 'security' && <SecurityTab admin={admin} />}
      {tab === 'webhook' && session.account && <WebhookTab route={route} />}
      {tab === 'members' && admin && <MembersTab />}
      {tab === 'audit' && audits && <AuditTab route={route} />}
      {!tabs.some(([address]) => address === `settings/${tab}`) && <MissingTab />}
    </>
  );
}
