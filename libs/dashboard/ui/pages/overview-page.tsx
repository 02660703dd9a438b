import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type {
  ChannelOutcomes,
  Latency,
  LanesAnswer,
  StatsAnswer,
  StatsPoint,
} from '../../src/api.js';
import { queryOf } from '../app/api-client.js';
import { useContextData } from '../app/context.js';
import {
  clockTime,
  compactNumber,
  duration,
  formatNumber,
  fullTime,
  percent,
  plural,
} from '../app/format.js';
import { useProduct } from '../app/product.js';
import { type Route, setQuery, withQuery } from '../app/router.js';
import { useData } from '../app/use-data.js';
import { ChannelName, StatusBadge, useChannelTitle } from '../components/badge.js';
import {
  Card,
  Empty,
  ErrorNotice,
  Facts,
  Notice,
  PageHeader,
  Skeleton,
} from '../components/basics.js';
import { ChannelFilter } from '../components/channel-filter.js';
import { Chart } from '../components/chart.js';
import { Filter } from '../components/field.js';
import { Table } from '../components/table.js';
import { TenantFilter, useTenant } from '../components/tenant-filter.js';
import { SendButton } from './send-button.js';

const HOUR = 3_600_000;
const PERIODS = {
  '24h': { title: 'Last 24 hours', ms: 24 * HOUR, interval: 'hour' },
  '7d': { title: 'Last 7 days', ms: 7 * 24 * HOUR, interval: 'day' },
  '30d': { title: 'Last 30 days', ms: 30 * 24 * HOUR, interval: 'day' },
} as const;

type Period = keyof typeof PERIODS;

const isPeriod = (value: string): value is Period => value in PERIODS;

export function OverviewPage({ route }: { route: Route }): JSX.Element {
  const { operate } = useContextData();
  const product = useProduct();
  const chosen = route.query.get('period') ?? '';
  const period = isPeriod(chosen) ? chosen : '24h';
  const channel = route.query.get('channel') ?? '';
  const tenant = useTenant(route);
  const { ms, interval } = PERIODS[period];
  // A whole hour, so that the address of the request stays the same between two live reads.
  const until = Math.ceil(Date.now() / HOUR) * HOUR;
  const stats = useData<StatsAnswer>(
    `api/stats${queryOf({
      since: new Date(until - ms).toISOString(),
      until: new Date(until).toISOString(),
      interval,
      channel,
      tenant,
    })}`,
    true,
  );
  const { data, refresh } = stats;
  useEffect(() => {
    if (!data?.readAgainIn) return undefined;
    // The answer may be older than the last change.
    const timer = setTimeout(() => void refresh(), data.readAgainIn);
    return () => clearTimeout(timer);
  }, [data, refresh]);
  return (
    <>
      <PageHeader title="Overview">
        <Filter
          label="Period"
          value={period === '24h' ? '' : period}
          all={PERIODS['24h'].title}
          options={[
            ['7d', PERIODS['7d'].title],
            ['30d', PERIODS['30d'].title],
          ]}
          onChange={(value) => setQuery({ period: value })}
        />
        <TenantFilter tenant={tenant} />
        <ChannelFilter channel={channel} />
        <SendButton />
      </PageHeader>
      {product.welcome && <product.welcome />}
      {operate && <RestingLanes />}
      {stats.loading && <Skeleton lines={10} />}
      <ErrorNotice error={stats.error} retry={stats.reload} />
      {stats.data && <Figures stats={stats.data} channel={channel} tenant={tenant} />}
    </>
  );
}

function RestingLanes(): JSX.Element | null {
  const lanes = useData<LanesAnswer>('api/lanes', true);
  const resting = lanes.data?.data.filter(({ state }) => state === 'paused' || state === 'held');
  const first = resting?.[0];
  if (!first) return null;
  return (
    <Notice
      tone="warning"
      title={`${plural(resting.length, 'lane')} at rest`}
      action={
        <a class="button plain" href="lanes">
          See why
        </a>
      }
    >
      {first.hold?.title ?? first.pause?.title}
    </Notice>
  );
}

function Figures(props: {
  stats: StatsAnswer;
  channel: string;
  tenant: string | undefined;
}): JSX.Element {
  const { stats, channel, tenant } = props;
  const { funnel, series } = stats;
  if (funnel.accepted === 0) {
    return (
      <Card>
        <Empty icon="chart" title="No messages in this period" action={<SendButton />}>
          Send one, and its way to the recipient appears here while you watch.
        </Empty>
      </Card>
    );
  }
  const label = (point: StatsPoint): string =>
    stats.interval === 'hour'
      ? clockTime(point.start)
      : new Date(point.start).toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
  return (
    <>
      {stats.countedSince && (
        <Notice title={`Counted since ${fullTime(stats.countedSince)}`}>
          The period has more messages than are counted at once: these are the newest.
        </Notice>
      )}
      <FunnelCard stats={stats} />
      <div class="columns">
        <Card title="Messages" description="Accepted messages by what became of them">
          <Chart
            title="Messages by outcome"
            series={[
              { title: 'Delivered', tone: 'success' },
              { title: 'On the way', tone: 'info' },
              { title: 'Unknown', tone: 'warning' },
              { title: 'Failed', tone: 'danger' },
              { title: 'Cancelled', tone: 'neutral' },
            ]}
            points={series.map((point) => ({
              label: label(point),
              title: fullTime(point.start),
              values: outcomesOf(point),
            }))}
          />
        </Card>
        <Card title="Delivery rate" description="Delivered messages of those accepted">
          <Chart
            title="Share of delivered messages"
            series={[{ title: 'Delivered', tone: 'success' }]}
            format={(value) => `${Math.round(value)}%`}
            least={100}
            points={series.map((point) => ({
              label: label(point),
              title: fullTime(point.start),
              values: [point.accepted ? (100 * point.delivered) / point.accepted : 0],
            }))}
          />
        </Card>
      </div>
      <div class="columns">
        <LatencyCard latency={stats.latency} />
        <Failures stats={stats} tenant={tenant} />
      </div>
      {!channel && stats.channels.length > 1 && <Channels channels={stats.channels} />}
    </>
  );
}

function FunnelCard({ stats }: { stats: StatsAnswer }): JSX.Element {
  const { funnel } = stats;
  const steps = [
    ['Accepted', funnel.accepted, 'info'],
    ['Sent', funnel.sent, 'info'],
    ['Delivered', funnel.delivered, 'success'],
    ['Read', funnel.read, 'success'],
    ['Failed', funnel.failed, 'danger'],
    ['Unknown', funnel.unknown, 'warning'],
  ] as const;
  return (
    <ol class="funnel" aria-label="Funnel">
      {steps.map(([title, value, tone]) => (
        <li key={title} class={tone}>
          <span class="funnel-title">{title}</span>
          <strong title={formatNumber(value)}>
            {value < 100_000 ? formatNumber(value) : compactNumber(value)}
          </strong>
          <span class="muted">
            {title === 'Accepted' ? 'messages' : percent(value, funnel.accepted)}
          </span>
          <span class="funnel-bar" aria-hidden="true">
            <span style={{ inlineSize: `${(100 * value) / Math.max(1, funnel.accepted)}%` }} />
          </span>
        </li>
      ))}
    </ol>
  );
}

function LatencyCard({ latency }: { latency: Latency | null }): JSX.Element {
  const rows = (['toSent', 'toDelivered'] as const).map((name) => {
    const times = latency?.[name];
    const title = name === 'toSent' ? 'To the carrier' : 'To the recipient';
    return [
      title,
      times ? `${duration(times.p50)} median · ${duration(times.p95)} for 95%` : '–',
    ] as const;
  });
  return (
    <Card
      title="Time on the way"
      description={
        latency ? `From acceptance, of ${plural(latency.messages, 'message')}` : undefined
      }
    >
      {latency ? <Facts rows={rows} /> : <p class="muted">No report has arrived in this period.</p>}
    </Card>
  );
}

function Failures(props: { stats: StatsAnswer; tenant: string | undefined }): JSX.Element {
  const { stats, tenant } = props;
  const titleOf = useChannelTitle();
  return (
    <Card title="Failures" description="Open a row to see its messages">
      {stats.failures.length === 0 ? (
        <p class="muted">No message failed in this period.</p>
      ) : (
        <ul class="rows">
          {stats.failures.map(({ channel, status, errorCode, reason, messages }) => (
            <li key={`${channel} ${status} ${errorCode}`}>
              <a href={`messages${queryOf({ status, channel, tenant, since: stats.since })}`}>
                <StatusBadge channel={channel} status={status} />
                <span class="grow">
                  {titleOf(channel)} <span class="muted">{reason ?? ''}</span>
                </span>
                <span class="number">{formatNumber(messages)}</span>
              </a>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function Channels({ channels }: { channels: readonly ChannelOutcomes[] }): JSX.Element {
  const columns = [
    ['Accepted', 'accepted'],
    ['Sent', 'sent'],
    ['Delivered', 'delivered'],
    ['On the way', 'onTheWay'],
    ['Unknown', 'unknown'],
    ['Failed', 'failed'],
    ['Cancelled', 'cancelled'],
  ] as const;
  return (
    <Card title="Channels" description="Each message counts once, by its present status" flush>
      <Table
        label="Channels"
        rows={channels}
        id={({ channel }) => channel}
        columns={[
          {
            title: 'Channel',
            cell: ({ channel }) => (
              <a href={withQuery({ channel })}>
                <ChannelName channel={channel} />
              </a>
            ),
          },
          ...columns.map(([title, field]) => ({
            title,
            number: true,
            cell: (row: ChannelOutcomes) => formatNumber(row[field]),
          })),
        ]}
      />
    </Card>
  );
}

/** In the order of the chart's series. */
function outcomesOf({ delivered, onTheWay, unknown, failed, cancelled }: StatsPoint): number[] {
  return [delivered, onTheWay, unknown, failed, cancelled];
}
