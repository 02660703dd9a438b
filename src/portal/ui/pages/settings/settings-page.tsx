import {
  Card,
  Empty,
  lazily,
  List,
  PageHeader,
  queryOf,
  type Route,
  Tabs,
  Time,
  useData,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import type { AuditEntry, Listed } from '../../../portal-api.js';
import { useMay, useSession } from '../../session-data.js';
import { MissingTab } from '../../components/missing-tab.js';
import { SecurityTab } from './security-tab.js';

const AccountTab = lazily(async () => (await import('./account-tab.js')).AccountTab);
const MembersTab = lazily(async () => (await import('./members-tab.js')).MembersTab);
const WebhookTab = lazily(async () => (await import('./webhook-tab.js')).WebhookTab);
const SmppTab = lazily(async () => (await import('./smpp-tab.js')).SmppTab);

export function SettingsPage({ route }: { route: Route }): JSX.Element {
  const admin = useMay('admin');
  const { session } = useSession();
  const tab = route.id ?? 'security';
  // An operator without an account sees the password form, and the audit log of all accounts.
  const audits = admin || session.account === null;
  const tabs = [
    ['settings/security', 'Security'] as const,
    ...(session.account ? [['settings/webhook', 'Webhook'] as const] : []),
    ...(admin ? [['settings/account', 'Account'] as const] : []),
    ...(admin ? [['settings/smpp', 'SMPP'] as const] : []),
    ...(admin ? [['settings/members', 'Members'] as const] : []),
    ...(audits ? [['settings/audit', 'Audit'] as const] : []),
  ];
  return (
    <>
      <PageHeader title="Settings" />
      <Tabs label="Settings" tabs={tabs} current={`settings/${tab}`} />
      {tab === 'security' && <SecurityTab admin={admin} />}
      {tab === 'webhook' && session.account && <WebhookTab route={route} />}
      {tab === 'account' && admin && <AccountTab />}
      {tab === 'smpp' && admin && <SmppTab />}
      {tab === 'members' && admin && <MembersTab />}
      {tab === 'audit' && audits && <AuditTab route={route} />}
      {!tabs.some(([address]) => address === `settings/${tab}`) && <MissingTab />}
    </>
  );
}

function AuditTab({ route }: { route: Route }): JSX.Element {
  const list = useData<Listed<AuditEntry>>(
    `api/audit${queryOf({ cursor: route.query.get('cursor') })}`,
  );
  return (
    <Card
      flush
      title="Audit log"
      description="Every change and every reveal, written with the change itself; entries are never changed."
    >
      <List
        label="Audit log"
        list={list}
        id={({ id }) => id}
        columns={[
          { title: 'Action', cell: ({ title }) => <strong>{title}</strong> },
          { title: 'On', cell: (entry) => <Target entry={entry} /> },
          { title: 'By', cell: ({ userEmail }) => userEmail ?? 'command line' },
          { title: 'From', cell: ({ ip }) => ip ?? '' },
          { title: 'Time', number: true, cell: ({ at }) => <Time at={at} /> },
        ]}
        empty={<Empty icon="file" title="No entry yet" />}
      />
    </Card>
  );
}

/** Pages of the objects that an audit entry is on, by the start of its action. */
const PAGES: readonly (readonly [RegExp, string])[] = [
  [/^webhook\.(?!redelivered|deleted)/, 'settings/webhook/'],
  [/^message\.(?!sent)/, 'messages/'],
  [/^batch\./, 'batches/'],
  [/^group\.(?!deleted)/, 'groups/'],
];

function Target({ entry }: { entry: AuditEntry }): JSX.Element | null {
  const { session } = useSession();
  const { action, target, targetText } = entry;
  if (target === null) return null;
  if (targetText !== target) return <span class="breaks">{targetText}</span>;
  const [, page] = PAGES.find(([start]) => start.test(action)) ?? [];
  const [id = ''] = target.split(/[: ]/, 1);
  const text = <code>{target}</code>;
  return page && session.account ? <a href={`${page}${id}`}>{text}</a> : text;
}
