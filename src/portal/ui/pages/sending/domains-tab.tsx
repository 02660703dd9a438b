import {
  Badge,
  Button,
  call,
  Card,
  Copy,
  Empty,
  ErrorNotice,
  Facts,
  Field,
  List,
  navigate,
  queryOf,
  type Route,
  Skeleton,
  Time,
  toast,
  type Tone,
  useAction,
  useData,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import type { Domain, DomainRecord, Listed } from '../../../portal-api.js';
import { useMay } from '../../session-data.js';
import { ApiCurl } from '../../components/api-curl.js';
import { ConfirmButton, FormButton } from '../../components/form-button.js';

const TONES: Readonly<Record<Domain['status'] | DomainRecord['status'] | 'not checked', Tone>> = {
  'not checked': 'neutral',
  verified: 'success',
  found: 'success',
  pending: 'info',
  missing: 'warning',
  unreachable: 'warning',
  failed: 'danger',
  mismatch: 'danger',
};

export function DomainsTab({ route }: { route: Route }): JSX.Element {
  return route.tab ? <DomainDetail id={route.tab} /> : <DomainList route={route} />;
}

function DomainList({ route }: { route: Route }): JSX.Element {
  const list = useData<Listed<Domain>>(
    `api/domains${queryOf({ cursor: route.query.get('cursor') })}`,
  );
  const admin = useMay('admin');
  const add = admin && (
    <FormButton
      kind="primary"
      icon="plus"
      label="Add a domain"
      title="Add a domain"
      submit="Add"
      action={async (form) => {
        const { id } = await call<Domain>('POST', 'api/domains', { name: form.get('name') });
        navigate(`email/domains/${id}`);
      }}
    >
      {(refusal) => (
        <>
          <Field
            label="Domain"
            name="name"
            required
            autofocus
            placeholder="mail.example.com"
            error={refusal?.fields['name']}
          />
          <ApiCurl
            method="POST"
            path="email/ng/v1/domains"
            body={{ name: 'mail.example.com' }}
            token="API_KEY"
          />
        </>
      )}
    </FormButton>
  );
  return (
    <Card
      flush
      title="Domains"
      description="E-mail is sent from addresses of verified domains."
      actions={add}
    >
      <List
        label="Domains"
        list={list}
        id={({ id }) => id}
        to={({ id }) => `email/domains/${id}`}
        columns={[
          { title: 'Domain', cell: ({ name }) => name },
          { title: 'Status', cell: ({ status }) => <Badge tone={TONES[status]}>{status}</Badge> },
          { title: 'Verified', number: true, cell: ({ verifiedAt }) => <Time at={verifiedAt} /> },
        ]}
        empty={
          <Empty icon="mail" title="No domains yet" action={add}>
            Add the domain of your sender addresses, then publish its DNS records.
          </Empty>
        }
      />
    </Card>
  );
}

function DomainDetail({ id }: { id: string }): JSX.Element {
  const { data, error, loading, reload } = useData<Domain>(`api/domains/${id}`);
  const admin = useMay('admin');
  const verify = useAction(async () => {
    const domain = await call<Domain>('POST', `api/domains/${id}/verify`);
    toast(domain.status === 'verified' ? 'The domain is verified' : `Still ${domain.status}`);
    await reload();
  });
  if (loading) return <Skeleton />;
  if (error || !data) return <ErrorNotice error={error} retry={reload} />;
  return (
    <>
      <a class="back" href="email/domains">
        Back to the domains
      </a>
      <Card
        title={data.name}
        description={
          <>
            <Badge tone={TONES[data.status]}>{data.status}</Badge> {adviceOn(data)}
          </>
        }
        actions={
          admin && (
            <>
              <ConfirmButton
                label="Delete"
                icon="trash"
                title={`Delete ${data.name}?`}
                confirm="Delete"
                action={async () => {
                  await call('DELETE', `api/domains/${id}`);
                  navigate('email/domains');
                }}
                curl={{ method: 'DELETE', path: `email/ng/v1/domains/${id}`, token: 'API_KEY' }}
              >
                Sends from its addresses are refused.
              </ConfirmButton>
              <ConfirmButton
                label="Rotate keys"
                icon="refresh"
                title="Rotate the signing keys?"
                confirm="Rotate keys"
                action={() => call('POST', `api/domains/${id}/rotate`)}
                done="New keys: publish their records"
                reload={reload}
                curl={{
                  method: 'POST',
                  path: `email/ng/v1/domains/${id}/rotate`,
                  token: 'API_KEY',
                }}
              >
                The new records must be published before the new keys are used.
              </ConfirmButton>
              <Button kind="primary" busy={verify.busy} onClick={() => void verify.run()}>
                Verify
              </Button>
            </>
          )
        }
      >
        <ErrorNotice error={verify.error} />
        <ul>
          {data.records.map((record) => (
            <li key={record.type + record.name} class="record">
              <h3>
                {record.purpose} <RecordBadge record={record} />{' '}
                {!record.required && <span class="muted">optional</span>}
              </h3>
              <Facts
                rows={[
                  ['Type', record.type],
                  ['Name', <Copy key="name" value={record.name} label="name" />],
                  ['Value', <Copy key="value" value={record.value} label="value" />],
                  record.found !== null && ['In DNS now', <code key="found">{record.found}</code>],
                  record.checkedAt !== null && ['Checked', <Time key="at" at={record.checkedAt} />],
                ]}
              />
            </li>
          ))}
        </ul>
      </Card>
    </>
  );
}

function RecordBadge({ record }: { record: DomainRecord }): JSX.Element {
  const status = record.checkedAt === null ? 'not checked' : record.status;
  return <Badge tone={TONES[status]}>{status}</Badge>;
}

function adviceOn({ status, records }: Domain): string {
  if (status !== 'verified') return 'Publish these records at your DNS provider, then verify.';
  const required = records.filter((record) => record.required);
  if (required.every(({ checkedAt }) => checkedAt === null))
    return 'The simulator sends from this domain without DNS records; a carrier needs those below.';
  return required.some((record) => record.status === 'missing' || record.status === 'mismatch')
    ? 'DNS lacks a record now. Publish it within 72 hours, after which the domain is verified no more.'
    : 'All required records are in DNS.';
}
