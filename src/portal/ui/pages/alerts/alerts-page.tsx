import {
  Badge,
  Card,
  Empty,
  List,
  type Page,
  PageHeader,
  queryOf,
  type Route,
  Tabs,
  Time,
  useData,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import type { AlertRow, Listed } from '../../../portal-api.js';
import { useSession } from '../../session-data.js';
import { RulesTab } from './alert-rules.js';
import { ChannelsTab } from './alert-channels.js';

function AlertsPage({ route }: { route: Route }): JSX.Element {
  const { session } = useSession();
  const operates = session.account === null && (session.user?.isOperator ?? false);
  const tabs = [
    ['alerts', 'Raised'] as const,
    ['alerts?state=resolved', 'Resolved'] as const,
    ...(operates
      ? [['alerts/rules', 'Rules'] as const, ['alerts/channels', 'Channels'] as const]
      : []),
  ];
  const state = route.query.get('state') ?? undefined;
  const current = operates && route.id ? `alerts/${route.id}` : `alerts${queryOf({ state })}`;
  return (
    <>
      <PageHeader
        title="Alerts"
        description={
          operates
            ? 'What needs attention in the gateway and its accounts, by rules that are evaluated once a minute.'
            : 'What needs attention in this account. Webhooks get it as alert.raised and alert.resolved.'
        }
      />
      <Tabs label="Alerts" tabs={tabs} current={current} />
      {current === 'alerts/rules' && <RulesTab />}
      {current === 'alerts/channels' && <ChannelsTab />}
      {!current.startsWith('alerts/') && <AlertList route={route} />}
    </>
  );
}

function AlertList({ route }: { route: Route }): JSX.Element {
  const { session } = useSession();
  const state = route.query.get('state') ?? 'raised';
  const cursor = route.query.get('cursor');
  const list = useData<Listed<AlertRow>>(`api/alerts${queryOf({ state, cursor })}`);
  return (
    <Card flush>
      <List
        label="Alerts"
        list={list}
        id={({ id }) => id}
        columns={[
          {
            title: 'Alert',
            cell: ({ title, detail }) => (
              <div>
                <strong>{title}</strong>
                <br />
                <span class="muted">{detail}</span>
              </div>
            ),
          },
          {
            title: 'State',
            cell: (alert) => (
              <Badge tone={alert.state === 'raised' ? 'danger' : 'success'}>{alert.state}</Badge>
            ),
          },
          ...(session.account === null
            ? [
                {
                  title: 'Account',
                  cell: ({ accountId }: AlertRow) =>
                    accountId === null ? '–' : <code>{accountId}</code>,
                },
              ]
            : []),
          { title: 'Raised', number: true, cell: ({ raisedAt }) => <Time at={raisedAt} /> },
          ...(state === 'resolved'
            ? [
                {
                  title: 'Resolved',
                  number: true,
                  cell: ({ resolvedAt }: AlertRow) => <Time at={resolvedAt} />,
                },
              ]
            : []),
          {
            title: 'Actions',
            actions: true,
            cell: ({ url, title, subject }) => (
              <a
                class="button"
                href={pathOf(url)}
                aria-label={`Open: ${title}, ${subject}`}
                target="_self"
              >
                Open
              </a>
            ),
          },
        ]}
        empty={
          <Empty
            icon="check"
            title={state === 'raised' ? 'Nothing needs attention' : 'No alert has ended yet'}
          />
        }
      />
    </Card>
  );
}

/** The portal may be open under another name than that of the address. */
function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}

export const alerts: Page = {
  name: 'alerts',
  title: 'Alerts',
  icon: 'alert',
  view: AlertsPage,
};
