import type { JSX } from 'preact';
import type { StatsAnswer } from '../../src/api.js';
import { queryOf } from '../app/api-client.js';
import { fullTime } from '../app/format.js';
import type { MessageFilter } from '../app/message-filter.js';
import { setQuery } from '../app/router.js';
import { useData } from '../app/use-data.js';
import { Card, ErrorNotice, Notice, Skeleton, Time } from '../components/basics.js';
import { Chart } from '../components/chart.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Longest time that is drawn by the hour, and that is drawn at all, in milliseconds. */
const BY_HOUR = 3 * DAY;
const LONGEST = 366 * DAY;

const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const DATE = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** Messages of the time of the filter by hour or day; columns that are drawn over become the time. */
export function MessagesChart({ filter }: { filter: MessageFilter }): JSX.Element {
  const { since, until, interval, length } = timesOf(filter, Date.now());
  const { channel, tenant } = filter;
  const stats = useData<StatsAnswer>(
    `api/stats${queryOf({ since: iso(since), until: iso(until), interval, channel, tenant })}`,
  );
  const { data } = stats;
  const choose = (from: number, to: number): void => {
    const [first, last] = [data?.series[from], data?.series[to]];
    if (!first || !last) return;
    const end = new Date(last.start).getTime() + length;
    setQuery({ since: first.start, until: iso(end), age: undefined });
  };
  const format = interval === 'hour' ? CLOCK : DATE;
  return (
    <Card
      title="Messages over time"
      description="All messages of the account and channel. Draw over columns to list theirs."
    >
      <ErrorNotice error={stats.error} retry={stats.reload} />
      {stats.loading && <Skeleton lines={6} />}
      {data?.countedSince && (
        <Notice tone="info" title="The newest 200,000 messages are counted">
          Those since <Time at={data.countedSince} exact />.
        </Notice>
      )}
      {data && (
        <Chart
          title={`Messages by ${interval}`}
          series={[
            { title: 'Delivered', tone: 'success' },
            { title: 'On the way', tone: 'info' },
            { title: 'Failed', tone: 'danger' },
            { title: 'Others', tone: 'neutral' },
          ]}
          points={data.series.map(({ start, delivered, onTheWay, failed, cancelled, unknown }) => ({
            label: format.format(new Date(start)),
            title: interval === 'hour' ? fullTime(start) : DATE.format(new Date(start)),
            values: [delivered, onTheWay, failed, cancelled + unknown],
          }))}
          onRange={choose}
        />
      )}
    </Card>
  );
}

const iso = (time: number): string => new Date(time).toISOString();

/** Whole hours or days, so that the address of the request stays the same for a while. */
function timesOf(filter: MessageFilter, now: number) {
  const latest = filter['until'] ? new Date(filter['until']).getTime() : now;
  const wanted = filter['since'] ? new Date(filter['since']).getTime() : latest - DAY;
  const earliest = Math.max(Math.min(wanted, latest - HOUR), latest - LONGEST + DAY);
  const interval = latest - earliest <= BY_HOUR ? 'hour' : 'day';
  const length = interval === 'hour' ? HOUR : DAY;
  return {
    interval,
    length,
    since: Math.floor(earliest / length) * length,
    until: Math.ceil(latest / length) * length,
  } as const;
}
