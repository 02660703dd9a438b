import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type {
  Latency,
  LanesAnswer,
  ListAnswer,
  MessageItem,
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
import { type Route, setQuery } from '../app/router.js';
import { useData } from '../app/use-data.js';
import { StatusBadge } from '../components/badge.js';
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
import { SendButton } from './send-dialog.js';

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
  const chosen = route.query.get('period') ?? '';
  const period = isPeriod(chosen) ? chosen : '24h';
  const channel = route.query.get('channel') ?? '';
  const { ms, interval } = PERIODS[period];
  // A whole hour, so that the address of the request stays the same between two live reads.
  const until = Math.ceil(Date.now() / HOUR) * HOUR;
  const stats = useData<StatsAnswer>(
    `api/stats${queryOf({
      since: new Date(until - ms).toISOString(),
      until: new Date(until).toISOString(),
      interval,
      channel,
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
        <ChannelFilter channel={channel} />
        <SendButton />
      </PageHeader>
      {operate && <RestingLanes />}
      {stats.loading && <Skeleton lines={10} />}
      <ErrorNotice error={stats.error} retry={stats.reload} />
      {stats.data && <Figures stats={stats.data} channel={channel} />}
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

function Figures({ stats, channel }: { stats: StatsAnswer; channel: string }): JSX.Element {
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
        <Failures stats={stats} channel={channel} />
      </div>
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

function Failures({ stats, channel }: { stats: StatsAnswer; channel: string }): JSX.Element {
  const failed = useFailed(channel);
  const counts = new Map<string, number>();
  for (const { counts: point } of stats.series) {
    for (const [status, count] of Object.entries(point)) {
      if (failed.has(status)) counts.set(status, (counts.get(status) ?? 0) + count);
    }
  }
  const worst = [...counts].toSorted(([, a], [, b]) => b - a);
  return (
    <Card title="Failures" description="Open a status to see its messages and their reasons">
      {worst.length === 0 ? (
        <p class="muted">No message failed in this period.</p>
      ) : (
        <ul class="rows">
          {worst.map(([status, count]) => (
            <li key={status}>
              <a href={`messages${queryOf({ status, channel, since: stats.since })}`}>
                <StatusBadge status={status} />
                <span class="grow">
                  <LatestReason status={status} channel={channel} />
                </span>
                <span class="number">{formatNumber(count)}</span>
              </a>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function LatestReason(props: { status: string; channel: string }): JSX.Element {
  const { data } = useData<ListAnswer<MessageItem>>(
    `api/messages${queryOf({ status: props.status, channel: props.channel, limit: 1 })}`,
  );
  return <span class="muted">{data?.data[0]?.reason ?? ''}</span>;
}

/** Statuses of messages that did not reach their recipient. */
function useFailed(channel: string): ReadonlySet<string> {
  const { channels } = useContextData();
  return new Set(
    channels
      .filter(({ name }) => !channel || name === channel)
      .flatMap(({ statuses }) => statuses)
      .filter(({ name, failed }) => failed && name !== 'cancelled')
      .map(({ name }) => name),
  );
}

/** In the order of the chart's series. */
function outcomesOf({ accepted, delivered, failed, cancelled }: StatsPoint): number[] {
  return [delivered, accepted - delivered - failed - cancelled, failed, cancelled];
}
