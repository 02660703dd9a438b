import {
  Badge,
  Card,
  Empty,
  List,
  PageHeader,
  queryOf,
  type Route,
  Tabs,
  Time,
  useData,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import type { Listed, RequestEntry } from '../../portal-api.js';

export function RequestsPage({ route }: { route: Route }): JSX.Element {
  const [refused, key, cursor] = ['refused', 'key', 'cursor'].map((name) => route.query.get(name));
  const list = useData<Listed<RequestEntry>>(`api/requests${queryOf({ refused, key, cursor })}`);
  const current = `requests${queryOf({ refused })}`;
  return (
    <>
      <PageHeader
        title="Requests"
        description="Requests to the API with keys and tokens of this account, of the last 30 days, without their contents. Of a busy key a sample is kept, of which each request stands for several."
      />
      <Tabs
        label="Requests"
        tabs={[
          ['requests', 'All'],
          ['requests?refused=true', 'Refused'],
        ]}
        current={current}
      />
      <Card flush>
        <List
          label="Requests"
          list={list}
          id={({ requestId }) => requestId}
          columns={[
            {
              title: 'Request',
              cell: ({ method, route: path, requestId }) => (
                <>
                  <code>
                    {method} {path}
                  </code>
                  <br />
                  <small class="muted">
                    id <code>{requestId}</code>
                  </small>
                </>
              ),
            },
            {
              title: 'Answer',
              cell: ({ status, errorCode }) => (
                <Badge tone={status < 400 ? 'success' : status < 500 ? 'warning' : 'danger'}>
                  {errorCode === null ? status : `${status} ${errorCode}`}
                </Badge>
              ),
            },
            {
              title: 'Key',
              cell: ({ key, keyId }) => <code class="whole">{key ?? keyId}</code>,
            },
            { title: 'Stands for', number: true, cell: ({ weight }) => weight },
            { title: 'Took', number: true, cell: ({ latency }) => `${latency} ms` },
            { title: 'Time', number: true, cell: ({ at }) => <Time at={at} /> },
          ]}
          empty={
            <Empty icon="code" title={refused ? 'No request was refused' : 'No request yet'} />
          }
        />
      </Card>
    </>
  );
}
