import {
  Card,
  Chart,
  ErrorNotice,
  Filter,
  Notice,
  queryOf,
  setQuery,
  Skeleton,
  Time,
  useData,
  useRoute,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { WebhookPeriod, WebhookSuccess } from '../../../portal-api.js';

/** Milliseconds between two reads. */
const REFRESH = 30_000;

const PERIODS: Readonly<Record<WebhookPeriod, { title: string; slot: number }>> = {
  '24h': { title: 'Last 24 hours', slot: 3_600_000 },
  '14d': { title: 'Last 14 days', slot: 86_400_000 },
};

const HOURS = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const DAYS = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** Attempts of an endpoint by hour or day; columns that are drawn over narrow the list below. */
export function WebhookSuccessCard(props: {
  id: string;
  /** Goes up with each new attempt. */
  attempts: number;
}): JSX.Element {
  const { id, attempts } = props;
  const { query } = useRoute();
  const period: WebhookPeriod = query.get('period') === '14d' ? '14d' : '24h';
  const { title, slot } = PERIODS[period];
  const success = useData<WebhookSuccess>(`api/webhooks/${id}/success${queryOf({ period })}`);
  const { data, refresh } = success;
  useEffect(() => {
    if (attempts > 0) void refresh();
    const timer = setInterval(() => void refresh(), REFRESH);
    return () => clearInterval(timer);
  }, [refresh, attempts]);
  const format = period === '24h' ? HOURS : DAYS;
  const choose = (from: number, to: number): void => {
    const [first, last] = [data?.slots[from], data?.slots[to]];
    if (!first || !last) return;
    const until = new Date(new Date(last.at).getTime() + slot).toISOString();
    setQuery({ since: first.at, until });
  };
  return (
    <Card
      title="Success over time"
      description="Attempts by their answer. Drag across columns to list their attempts."
      actions={
        <Filter
          label="Period"
          value={period === '24h' ? '' : period}
          all={PERIODS['24h'].title}
          options={[['14d', PERIODS['14d'].title]]}
          onChange={(value) => setQuery({ period: value })}
        />
      }
    >
      <ErrorNotice error={success.error} retry={success.reload} />
      {success.loading && <Skeleton lines={6} />}
      {data?.countedSince && (
        <Notice tone="info" title="The newest 20,000 attempts are counted">
          Those since <Time at={data.countedSince} exact />.
        </Notice>
      )}
      {data && (
        <Chart
          title={`Attempts, ${title.toLowerCase()}`}
          series={[
            { title: 'Success', tone: 'success' },
            { title: 'Failed', tone: 'danger' },
          ]}
          points={data.slots.map(({ at, succeeded, failed }) => ({
            label: format.format(new Date(at)),
            title: format.format(new Date(at)),
            values: [succeeded, failed],
          }))}
          onRange={choose}
        />
      )}
    </Card>
  );
}
