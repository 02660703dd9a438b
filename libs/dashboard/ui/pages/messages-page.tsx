import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { MessageItem, TotalAnswer } from '../../src/api.js';
import { moneyOfMessage } from '../app/amounts.js';
import { queryOf } from '../app/api-client.js';
import { allStatuses, useContextData } from '../app/context.js';
import { formatNumber, plural } from '../app/format.js';
import { AGES, ALL_TIMES, askedMessages, type MessageFilter } from '../app/message-filter.js';
import { type Route, setQuery } from '../app/router.js';
import { useData, useList } from '../app/use-data.js';
import { ChannelName, CodeBadge, kindWords, StatusBadge, words } from '../components/badge.js';
import { Button, Card, Empty, PageHeader, Time } from '../components/basics.js';
import { CurlButton } from '../components/curl.js';
import { Filter } from '../components/field.js';
import { ExportButton } from '../components/export-button.js';
import { SavedViews } from '../components/saved-views.js';
import { SearchBox } from '../components/search-box.js';
import { ChannelFilter } from '../components/channel-filter.js';
import { lazily } from '../components/lazily.js';
import { List } from '../components/table.js';
import { useSelection } from '../components/selection.js';
import { TenantFilter, useTenant, useTenantColumn } from '../components/tenant-filter.js';
import { FilterChips, MoreFilters, SearchFurther } from './message-filters.js';
import { MessagePage } from './message-page.js';
import { SendButton } from './send-button.js';

const BulkActions = lazily(() => import('./bulk-actions.js').then((part) => part.BulkActions));
const MessagesChart = lazily(() =>
  import('./messages-chart.js').then((part) => part.MessagesChart),
);

/** Milliseconds between two counts of the total. */
const RECOUNT = 30_000;

export function MessagesPage({ route }: { route: Route }): JSX.Element {
  return route.id ? <MessagePage id={route.id} /> : <MessageList route={route} />;
}

function MessageList({ route }: { route: Route }): JSX.Element {
  const { channels, act, reveal } = useContextData();
  const tenant = useTenant(route);
  const tenantColumn = useTenantColumn<MessageItem>();
  const { filter, kind, isNarrowed } = askedMessages(route);
  const get = (name: string): string => route.query.get(name) ?? '';
  const filtered = Object.values(filter).some(Boolean);
  const query = queryOf({ ...filter, cursor: get('cursor') });
  const list = useList<MessageItem>(`api/messages${query}`, true);
  const rows = list.data?.data ?? [];
  const selection = useSelection(rows, ({ id }) => id, `${queryOf(filter)}${get('cursor')}`);
  return (
    <>
      <PageHeader title="Messages" description="Newest first; the list follows while you watch.">
        <CurlButton
          title="Read messages by API"
          action={{ action: 'messages', channel: get('channel') || (channels[0]?.name ?? '') }}
        />
        <ExportButton
          what="messages"
          inPieces
          masked={`api/messages/export${queryOf(filter)}`}
          whole={reveal && `api/messages/export${queryOf({ ...filter, reveal: 'true' })}`}
        />
        <SendButton />
      </PageHeader>
      <div class="filters" role="search" aria-label="Messages">
        <SearchBox placeholder="Number, address, message id or reference" />
        <Filter
          label="Search in"
          value={kind === 'whole' ? '' : kind}
          all="Number or id"
          options={[
            ['part', reveal ? 'Part of a number' : 'Shown digits of a number'],
            ...(reveal ? [['subject', 'Subject'] as const] : []),
          ]}
          onChange={(value) => setQuery({ in: value })}
        />
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
          options={[
            ...Object.entries(AGES).map(([name, { title }]) => [name, title] as const),
            ...(get('age') === ALL_TIMES ? [[ALL_TIMES, 'All times'] as const] : []),
          ]}
          onChange={(age) => setQuery({ age, since: undefined, until: undefined })}
        />
        <MoreFilters />
        <FilterChips />
        <SavedViews page="messages" />
        <Button
          icon="chart"
          aria-pressed={get('chart') === 'on'}
          onClick={() => setQuery({ chart: get('chart') === 'on' ? undefined : 'on' })}
        >
          Chart
        </Button>
        {filtered && (
          <a class="button quiet" href="messages">
            Clear
          </a>
        )}
      </div>
      {get('chart') === 'on' && <MessagesChart filter={filter} />}
      <Total filter={filter} />
      {act && selection.chosen.length > 0 && (
        <BulkActions chosen={selection.chosen} clear={selection.clear} reload={list.reload} />
      )}
      <Card flush>
        <List
          label="Messages"
          list={list}
          id={({ id }) => id}
          to={({ id }) => `messages/${id}`}
          selection={act ? selection : undefined}
          columns={[
            { title: 'Recipient', cell: recipientOf },
            {
              title: 'Status',
              cell: ({ channel, status }) => <StatusBadge channel={channel} status={status} />,
            },
            ...tenantColumn,
            { title: 'Message', cell: messageOf },
            {
              title: 'Reason',
              cell: ({ reason, code, deferredUntil }) =>
                reason ? (
                  <span class="reason">
                    {reason}
                    {deferredUntil && (
                      <>
                        {' '}
                        until <Time at={deferredUntil} exact />
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
                A whole number, an id, a part of a number or a subject can be searched.
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
      {isNarrowed && !list.data?.nextCursor && <SearchFurther />}
    </>
  );
}

function recipientOf({ recipient, country }: MessageItem): JSX.Element {
  return (
    <span class="whole">
      {recipient || 'erased'} {country && <small class="muted">{country}</small>}
    </span>
  );
}

/** Channel, and shape, parts, price and sender of the content; its words are shown once it is revealed. */
function messageOf(message: MessageItem): JSX.Element {
  const { channel, sender, kind, template, parts } = message;
  const shape = [
    kind && kind !== channel && kindWords(kind),
    template,
    parts > 1 && plural(parts, 'part'),
  ];
  const details = [
    sender && `from ${sender}`,
    ...moneyOfMessage(message).map(([title, amount]) =>
      title === 'Price' ? amount : `cost ${amount}`,
    ),
  ];
  return (
    <>
      <ChannelName channel={channel} /> {shape.filter(Boolean).join(', ')}{' '}
      <small class="muted">{details.filter(Boolean).join(' · ')}</small>
    </>
  );
}

/** How many messages match, as far as they are counted. */
function Total({ filter }: { filter: MessageFilter }): JSX.Element {
  const total = useData<TotalAnswer>(`api/messages/total${queryOf(filter)}`);
  const { data, refresh } = total;
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void refresh();
    }, RECOUNT);
    return () => clearInterval(timer);
  }, [refresh]);
  return (
    <p class="total muted" role="status">
      {data
        ? `${formatNumber(data.messages)}${data.more ? '+' : ''} ${data.messages === 1 && !data.more ? 'message' : 'messages'}`
        : '\u00a0'}
    </p>
  );
}
