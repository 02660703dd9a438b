import {
  Card,
  ChannelFilter,
  Chart,
  clockTime,
  duration,
  Empty,
  ErrorNotice,
  Filter,
  formatNumber,
  fullTime,
  money,
  PageHeader,
  percent,
  queryOf,
  type Route,
  SavedViews,
  setQuery,
  Skeleton,
  Table,
  useChannelTitle,
  useData,
  words,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import type {
  Insights,
  InsightsAmount,
  InsightsDoubt,
  InsightsFigures,
  InsightsGroup,
  InsightsRow,
  InsightsSlot,
  InsightsTimes,
} from '../../portal-api.js';
import { useSession } from '../session-data.js';

/** Milliseconds. */
const DAY = 86_400_000;

const PERIODS = { '24h': 'Last 24 hours', '7d': 'Last 7 days', '30d': 'Last 30 days' };

const GROUPS: Readonly<Record<InsightsGroup, string>> = {
  provider: 'Carrier',
  country: 'Country',
  sender: 'Sender',
  channel: 'Channel',
  tag: 'Template or tag',
  category: 'Category',
  tenant: 'Account',
};

/** Filters of the list of messages, by what is grouped by. */
const LISTED: Partial<Record<InsightsGroup, string>> = {
  provider: 'provider',
  sender: 'from',
  channel: 'channel',
};

/** Filters of this page that its rows set. */
const NARROWED = ['provider', 'country', 'sender', 'tag', 'category'] as const;

export function InsightsPage({ route }: { route: Route }): JSX.Element {
  const { session } = useSession();
  const get = (name: string): string => route.query.get(name) ?? '';
  const by = get('by') || 'provider';
  const groups = Object.entries(GROUPS).filter(
    ([name]) => name !== 'provider' && (name !== 'tenant' || !session.account),
  );
  const narrowed = NARROWED.map((name) => [name, get(name)] as const).filter(([, value]) => value);
  const { data, error, loading, reload } = useData<Insights>(
    `api/insights${queryOf({
      period: get('period'),
      by,
      channel: get('channel'),
      ...Object.fromEntries(narrowed),
    })}`,
  );
  return (
    <>
      <PageHeader
        title="Insights"
        description="Messages by the time of their acceptance, with every report until now, beside the period before."
      >
        <Filter
          label="Period"
          value={get('period') === '24h' ? '' : get('period')}
          all={PERIODS['24h']}
          options={[
            ['7d', PERIODS['7d']],
            ['30d', PERIODS['30d']],
          ]}
          onChange={(period) => setQuery({ period })}
        />
        <Filter
          label="Grouped by"
          value={by === 'provider' ? '' : by}
          all={`By ${GROUPS.provider.toLowerCase()}`}
          options={groups.map(([name, title]) => [name, `By ${title.toLowerCase()}`])}
          onChange={(group) => setQuery({ by: group })}
        />
        <ChannelFilter channel={get('channel')} />
        <SavedViews page="insights" />
      </PageHeader>
      {narrowed.length > 0 && (
        <div class="filters">
          {narrowed.map(([name, value]) => (
            <button
              key={name}
              type="button"
              class="button"
              onClick={() => setQuery({ [name]: undefined })}
            >
              {GROUPS[name]}: {name === 'country' ? countryName(value) : value} ×
            </button>
          ))}
        </div>
      )}
      {loading && <Skeleton lines={10} />}
      <ErrorNotice error={error} retry={reload} />
      {data && data.doubts.length > 0 && <Doubts of={data.doubts} />}
      {data && <Figures insights={data} channel={get('channel')} />}
    </>
  );
}

function Doubts({ of }: { of: readonly InsightsDoubt[] }): JSX.Element {
  const titleOf = useChannelTitle();
  return (
    <Card
      flush
      title="Doubtful delivery reports"
      description="Of the last 24 hours: carriers that report as delivered what may not have arrived"
    >
      <Table
        label="Carriers with doubtful delivery reports"
        rows={of}
        id={({ provider, channel, country, reason }) =>
          `${provider} ${channel} ${country} ${reason}`
        }
        columns={[
          { title: 'Carrier', cell: ({ provider }) => provider },
          { title: 'Channel', cell: ({ channel }) => titleOf(channel) },
          {
            title: 'Country',
            cell: ({ country }) => (country === '' ? '–' : countryName(country)),
          },
          { title: 'Why', cell: ({ reason }) => reason },
        ]}
      />
    </Card>
  );
}

function Figures({ insights, channel }: { insights: Insights; channel: string }): JSX.Element {
  const { total, groups, by, interval } = insights;
  const nameOf = useNames(by);
  const has = (what: 'prices' | 'costs') =>
    [total.current, total.former].some((figures) => figures[what].length > 0);
  if (total.current.messages === 0 && total.former.messages === 0)
    return (
      <Card>
        <Empty icon="chart" title="No messages in this period or the one before">
          A message counts once a carrier or a policy has answered for it.
        </Empty>
      </Card>
    );
  // The last 24 hours are today's, although they begin yesterday.
  const label = ({ start }: InsightsSlot): string =>
    interval === 'hour'
      ? clockTime(start)
      : new Date(new Date(start).getTime() + DAY - 1).toLocaleDateString('en-GB', {
          day: 'numeric',
          month: 'short',
        });
  return (
    <>
      <Card
        title="Delivered share"
        description={`${formatNumber(total.current.delivered)} of ${formatNumber(total.current.messages)} messages; the line is the period before`}
      >
        <Chart
          title="Share of delivered messages"
          series={[{ title: 'Delivered', tone: 'success' }]}
          line="Period before"
          format={(value) => `${Math.round(value)}%`}
          least={100}
          points={insights.slots.map((slot) => ({
            label: label(slot),
            title: fullTime(slot.start),
            values: [share(slot)],
            line: slot.former.messages > 0 ? share(slot.former) : undefined,
          }))}
        />
      </Card>
      <Card
        flush
        title={`By ${GROUPS[by].toLowerCase()}`}
        description="The grey figures are of the period before."
      >
        <Table
          label={`Messages by ${GROUPS[by].toLowerCase()}`}
          rows={[...groups, { name: 'All', isTotal: true, ...total }]}
          id={(row) => ('isTotal' in row ? 'total' : `of ${row.name}`)}
          columns={[
            {
              title: GROUPS[by],
              cell: (row) => {
                const to = 'isTotal' in row ? undefined : linkOf(row, insights, channel);
                const name = 'isTotal' in row ? <strong>All</strong> : nameOf(row.name);
                return to ? <a href={to}>{name}</a> : name;
              },
            },
            {
              title: 'Messages',
              number: true,
              cell: (row) => <Both of={row} figure={({ messages }) => formatNumber(messages)} />,
            },
            {
              title: 'Delivered',
              number: true,
              cell: (row) => (
                <Both of={row} figure={(one) => percent(one.delivered, one.messages)} />
              ),
            },
            {
              title: 'Failed',
              number: true,
              cell: (row) => <Both of={row} figure={(one) => percent(one.failed, one.messages)} />,
            },
            {
              title: 'To the carrier',
              number: true,
              cell: (row) => <Both of={row} figure={({ toSent }) => times(toSent)} />,
            },
            {
              title: 'To the recipient',
              number: true,
              cell: (row) => <Both of={row} figure={({ toDelivered }) => times(toDelivered)} />,
            },
            {
              title: 'Parts',
              number: true,
              cell: (row) => <Both of={row} figure={({ parts }) => formatNumber(parts)} />,
            },
            ...(has('prices') ? [moneyColumn('Price', total, ({ prices }) => prices)] : []),
            ...(has('costs') ? [moneyColumn('Cost', total, ({ costs }) => costs)] : []),
          ]}
        />
      </Card>
      <p class="muted">
        Times are from when a message was due: half of the messages, and 95% of them, were faster.
        They are estimates from counts of up to 100, 250 and 500 ms, 1, 2.5 and 5 s, and so on.
        {has('prices') && ' Prices are charges less refunds.'}
        {has('costs') && ' Costs are by the prices of the carriers, for what they have taken.'}
      </p>
    </>
  );
}

/** A figure, and below it that of the period before. */
function Both(props: {
  of: Omit<InsightsRow, 'name'>;
  figure: (figures: InsightsFigures) => string;
}): JSX.Element {
  const { current, former } = props.of;
  return (
    <>
      {props.figure(current)}
      <br />
      <span class="muted">
        <span class="hidden">before: </span>
        {props.figure(former)}
      </span>
    </>
  );
}

/** Several currencies stand below each other; the title names a single one. */
function moneyColumn(
  title: string,
  { current, former }: Omit<InsightsRow, 'name'>,
  of: (figures: InsightsFigures) => readonly InsightsAmount[],
) {
  const known = new Set([...of(current), ...of(former)].map(({ currency }) => currency));
  const shown = (figures: InsightsFigures): string =>
    of(figures)
      .map(({ amount, currency }) =>
        known.size > 1 ? `${money(amount)} ${currency}` : money(amount),
      )
      .join('\n') || '–';
  return {
    title: known.size === 1 ? `${title}, ${[...known].join('')}` : title,
    number: true,
    cell: (row: Omit<InsightsRow, 'name'>) => (
      <span class="lines">
        <Both of={row} figure={shown} />
      </span>
    ),
  };
}

const share = ({ messages, delivered }: { messages: number; delivered: number }): number =>
  messages > 0 ? (100 * delivered) / messages : 0;

/** Two times of one unit have it once: `53 · 100 ms`. */
function times(of: InsightsTimes | null): string {
  if (!of) return '–';
  const [half, most] = [duration(of.p50), duration(of.p95)];
  const [, number, unit] = /^(\S+) (\S+)$/.exec(half) ?? [];
  return `${unit !== undefined && most.endsWith(` ${unit}`) ? number : half} · ${most}`;
}

/** The messages of the row, or else the same page for the row alone. */
function linkOf(
  { name }: InsightsRow,
  { by, since }: Insights,
  channel: string,
): string | undefined {
  if (name === '' || by === 'tenant') return undefined;
  const listed = LISTED[by];
  if (listed) return `messages${queryOf({ channel, since, [listed]: name })}`;
  const query = new URLSearchParams(location.search);
  query.set(by, name);
  query.delete('by');
  return `insights?${query.toString()}`;
}

function useNames(by: InsightsGroup): (name: string) => string {
  const titleOf = useChannelTitle();
  return (name) => {
    if (name === '') return by === 'provider' ? 'Never submitted' : 'None';
    if (by === 'country') return countryName(name);
    if (by === 'channel') return titleOf(name);
    return by === 'category' ? words(name) : name;
  };
}

const COUNTRIES = new Intl.DisplayNames(['en'], { type: 'region' });

function countryName(code: string): string {
  try {
    return COUNTRIES.of(code) ?? code;
  } catch {
    return code;
  }
}
