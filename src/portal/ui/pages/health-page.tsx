import {
  Badge,
  Button,
  Card,
  ErrorNotice,
  PageHeader,
  plural,
  Skeleton,
  Table,
  useData,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import type { Health, HealthCheck } from '../../portal-api.js';

/** What fails first. */
export function HealthPage(): JSX.Element {
  const { data, error, loading, reload } = useData<Health>('api/health');
  const checks = data?.checks ?? [];
  const failing = checks.filter(({ ok }) => !ok);
  return (
    <>
      <PageHeader
        title="Health"
        description="Carriers, database, clock, disk, DNS and webhooks, as npx dundun doctor examines them. Nothing is sent."
      >
        <Button icon="refresh" busy={loading} onClick={() => void reload()}>
          Examine again
        </Button>
      </PageHeader>
      <Card
        flush
        {...(data && {
          title:
            failing.length === 0
              ? 'Everything is right'
              : `${plural(failing.length, 'check')} failing`,
        })}
      >
        {loading && !data && <Skeleton />}
        <ErrorNotice error={error} retry={reload} />
        {data && (
          <Table
            label="Checks"
            rows={[...failing, ...checks.filter(({ ok }) => ok)]}
            id={({ name }: HealthCheck) => name}
            columns={[
              { title: 'Check', cell: ({ name }) => <strong>{name}</strong> },
              {
                title: 'State',
                cell: ({ ok }) => (
                  <Badge tone={ok ? 'success' : 'danger'}>{ok ? 'ok' : 'fails'}</Badge>
                ),
              },
              {
                title: 'Detail',
                cell: ({ detail, remedy }) => (
                  <>
                    {detail}
                    {remedy !== null && (
                      <>
                        <br />
                        <span class="muted">{remedy}</span>
                      </>
                    )}
                  </>
                ),
              },
            ]}
          />
        )}
      </Card>
    </>
  );
}
