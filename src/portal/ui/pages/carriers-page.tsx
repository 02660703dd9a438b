import {
  Badge,
  Card,
  ErrorNotice,
  PageHeader,
  plural,
  Skeleton,
  Table,
  useChannelTitle,
  useData,
  words,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import type { Carriers } from '../../portal-api.js';

export function CarriersPage(): JSX.Element {
  const { data, error, loading, reload } = useData<Carriers>('api/carriers', true);
  const titleOf = useChannelTitle();
  return (
    <>
      <PageHeader
        title="Carriers"
        description="The ways out: the carriers of CARRIERS_FILE, or of CARRIER and the variables beside it."
      />
      <Card flush>
        {loading && <Skeleton />}
        <ErrorNotice error={error} retry={reload} />
        {data && (
          <Table
            label="Carriers"
            rows={data.data}
            id={({ name, channels }) => name + channels.join(',')}
            columns={[
              { title: 'Carrier', cell: ({ name }) => <strong>{name}</strong> },
              { title: 'Channels', cell: ({ channels }) => channels.map(titleOf).join(', ') },
              { title: 'Rate limit', cell: ({ rateLimit }) => rateLimit ?? 'none' },
              {
                title: 'Lanes at rest',
                cell: ({ pausedLanes }) => {
                  const paused = Object.entries(pausedLanes);
                  return paused.length === 0 ? (
                    <Badge tone="success">none</Badge>
                  ) : (
                    <span class="chips">
                      {paused.map(([reason, count]) => (
                        <Badge key={reason} tone="warning">
                          {plural(count, 'lane')}: {words(reason)}
                        </Badge>
                      ))}
                    </span>
                  );
                },
              },
            ]}
          />
        )}
      </Card>
    </>
  );
}
