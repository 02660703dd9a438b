import type { JSX } from 'preact';
import type { MessageItem } from '../../src/api.js';
import { queryOf } from '../app/api-client.js';
import { allStatuses, useContextData } from '../app/context.js';
import { type Route, setQuery } from '../app/router.js';
import { useList } from '../app/use-data.js';
import { ChannelName, CodeBadge, StatusBadge, words } from '../components/badge.js';
import { Button, Card, Empty, PageHeader, Time } from '../components/basics.js';
import { CurlButton } from '../components/curl.js';
import { Filter } from '../components/field.js';
import { ExportButton } from '../components/export-button.js';
import { SearchBox } from '../components/search-box.js';
import { ChannelFilter } from '../components/channel-filter.js';
import { List } from '../components/table.js';
import { TenantFilter, useTenant, useTenantColumn } from '../components/tenant-filter.js';
import { MessagePage } from './message-page.js';
import { SendButton } from './send-button.js';

const FILTERS = [
  'tenant',
  'channel',
  'status',
  'from',
  'tag',
  'provider',
  'since',
  'until',
] as const;

export function MessagesPage({ route }: { route: Route }): JSX.Element {
  return route.id ? <MessagePage id={route.id} /> : <MessageList route={route} />;
}

/** The filter of the address as the API takes it. */
function filterOf({ query }: Route): Record<string, string | undefined> {
  const search = query.get('q')?.trim() ?? '';
  const since = query.get('age');
  return {
    ...Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? undefined])),
    ...(since && AGES[since] ? { since: sinceOf(AGES[since].ms) } : {}),
    ...(search && (isAddress(search) ? { to: search } : { reference: search })),
  };
}

/** A number or an e-mail address; all else is an id. */
const isAddress = (text: string): boolean =>
  /^\+?[\d\s().-]{6,20}$/.test(text) || text.includes('@');

const AGES: Readonly<Record<string, { title: string; ms: number }>> = {
  '1h': { title: 'Last hour', ms: 3_600_000 },
  '24h': { title: 'Last 24 hours', ms: 86_400_000 },
  '7d': { title: 'Last 7 days', ms: 604_800_000 },
};

/** To the minute, so that the address of the request stays the same between two live reads. */
const sinceOf = (ms: number): string =>
  new Date(Math.floor(Date.now() / 60_000) * 60_000 - ms).toISOString();

function MessageList({ route }: { route: Route }): JSX.Element {
  const { channels, act, reveal } = useContextData();
  const tenant = useTenant(route);
  const tenantColumn = useTenantColumn<MessageItem>();
  const filter = filterOf(route);
  const get = (name: string): string => route.query.get(name) ?? '';
  const filtered = Object.values(filter).some(Boolean);
  const query = queryOf({ ...filter, cursor: get('cursor') });
  const list = useList<MessageItem>(`api/messages${query}`, true);
  return (
    <>
      <PageHeader title="Messages" description="Newest first; the list follows while you watch.">
        <CurlButton
          title="Read messages by API"
          action={{ action: 'messages', channel: get('channel') || (channels[0]?.name ?? '') }}
        />
        <ExportButton
          what="messages"
          masked={`api/messages/export${queryOf(filter)}`}
          whole={reveal && `api/messages/export${queryOf({ ...filter, reveal: 'true' })}`}
        />
        <SendButton />
      </PageHeader>
      <div class="filters" role="search" aria-label="Messages">
        <SearchBox placeholder="Number, address, message id or reference" />
        <TenantFilter tenant={tenant} />
        <ChannelFilter channel={get('channel')} />
        <Filter
          label="Status"
          value={get('status')}
          all="All statuses"
          options={allStatuses(channels, get('channel')).map((name) => [name, words(name)])}
          onChange={(status) => setQuery({ status })}
        />
        <Filter
          label="Time"
          value={get('age')}
          all="Any time"
          options={Object.entries(AGES).map(([name, { title }]) => [name, title])}
          onChange={(age) => setQuery({ age, since: undefined })}
        />
        {(['from', 'tag', 'provider', 'since', 'until'] as const).map(
          (name) =>
            get(name) && (
              <Button key={name} icon="close" onClick={() => setQuery({ [name]: undefined })}>
                {words(name)}: {get(name)}
              </Button>
            ),
        )}
        {filtered && (
          <a class="button quiet" href="messages">
            Clear
          </a>
        )}
      </div>
      <Card flush>
        <List
          label="Messages"
          list={list}
          id={({ id }) => id}
          to={({ id }) => `messages/${id}`}
          columns={[
            { title: 'Recipient', cell: ({ recipient }) => recipient || 'erased' },
            {
              title: 'Status',
              cell: ({ channel, status }) => <StatusBadge channel={channel} status={status} />,
            },
            ...tenantColumn,
            { title: 'Channel', cell: ({ channel }) => <ChannelName channel={channel} /> },
            { title: 'From', cell: ({ sender }) => sender },
            {
              title: 'Reason',
              cell: ({ reason, code, deferredUntil }) =>
                reason ? (
                  <span class="reason">
                    {reason}
                    {deferredUntil && (
                      <>
                        {' '}
                        until <Time at={deferredUntil} />
                      </>
                    )}
                  </span>
                ) : (
                  code && (
                    <span class="reason">
                      One-time code: <CodeBadge code={code} />
                    </span>
                  )
                ),
            },
            { title: 'Accepted', number: true, cell: ({ acceptedAt }) => <Time at={acceptedAt} /> },
          ]}
          empty={
            filtered ? (
              <Empty
                icon="search"
                title="No message matches"
                action={
                  <a class="button plain" href="messages">
                    Clear the filter
                  </a>
                }
              >
                A number is searched in full; ids too.
              </Empty>
            ) : (
              <Empty icon="message" title="No messages yet" action={<SendButton />}>
                {act
                  ? 'Send the first one here or by the API; it appears at once.'
                  : 'Messages appear here as soon as the API accepts them.'}
              </Empty>
            )
          }
        />
      </Card>
    </>
  );
}
