import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { BatchItem } from '../../src/api.js';
import { call, queryOf } from '../app/api-client.js';
import { useContextData } from '../app/context.js';
import { formatNumber, fullTime, localTime, plural } from '../app/format.js';
import { type Route, setQuery } from '../app/router.js';
import { toast } from '../app/toasts.js';
import { useData, useList } from '../app/use-data.js';
import {
  BatchBadge,
  ChannelName,
  StatusBadge,
  kindWords,
  useTone,
  words,
} from '../components/badge.js';
import {
  Button,
  Card,
  Copy,
  Empty,
  ErrorNotice,
  Facts,
  PageHeader,
  Skeleton,
  Time,
} from '../components/basics.js';
import { ChannelFilter } from '../components/channel-filter.js';
import { Progress } from '../components/chart.js';
import { CurlButton, CurlDetails } from '../components/curl.js';
import { FormDialog } from '../components/dialog.js';
import { ExportButton } from '../components/export-button.js';
import { Field, Filter } from '../components/field.js';
import { lazily } from '../components/lazily.js';
import { SavedViews } from '../components/saved-views.js';
import { useSelection } from '../components/selection.js';
import { List } from '../components/table.js';
import {
  TenantFilter,
  useTenant,
  useTenantColumn,
  useTenantFact,
} from '../components/tenant-filter.js';
import { SendButton } from './send-button.js';

const BulkBatchActions = lazily(() =>
  import('./bulk-actions.js').then((part) => part.BulkBatchActions),
);

const STATUSES = ['scheduled', 'queued', 'sending', 'completed', 'cancelled'] as const;

export function BatchesPage({ route }: { route: Route }): JSX.Element {
  return route.id ? <BatchPage id={route.id} /> : <BatchList route={route} />;
}

function BatchList({ route }: { route: Route }): JSX.Element {
  const get = (name: string): string => route.query.get(name) ?? '';
  const tenant = useTenant(route);
  const { act } = useContextData();
  const tenantColumn = useTenantColumn<BatchItem>();
  const filter = { tenant, channel: get('channel'), status: get('status') };
  const query = queryOf({ ...filter, cursor: get('cursor') });
  const list = useList<BatchItem>(`api/batches${query}`, true);
  const selection = useSelection(list.data?.data ?? [], ({ id }) => id, query);
  return (
    <>
      <PageHeader title="Batches" description="One send each, with all of its recipients.">
        <ExportButton what="batches" inPieces masked={`api/batches/export${queryOf(filter)}`} />
        <SendButton />
      </PageHeader>
      <div class="filters">
        <TenantFilter tenant={tenant} />
        <ChannelFilter channel={get('channel')} />
        <Filter
          label="Status"
          value={get('status')}
          all="All statuses"
          options={STATUSES.map((status) => [status, status])}
          onChange={(status) => setQuery({ status })}
        />
        <SavedViews page="batches" />
      </div>
      {act && selection.chosen.length > 0 && (
        <BulkBatchActions chosen={selection.chosen} clear={selection.clear} reload={list.reload} />
      )}
      <Card flush>
        <List
          label="Batches"
          list={list}
          id={({ id }) => id}
          to={({ id }) => `batches/${id}`}
          selection={act ? selection : undefined}
          columns={[
            { title: 'Batch', cell: ({ id }) => <code class="whole">{shortId(id)}</code> },
            { title: 'Status', cell: ({ status }) => <BatchBadge status={status} /> },
            ...tenantColumn,
            {
              title: 'Channel',
              cell: ({ channel, sender }) => (
                <>
                  <ChannelName channel={channel} />{' '}
                  {sender && <small class="muted">from {sender}</small>}
                </>
              ),
            },
            { title: 'Progress', cell: (batch) => <BatchProgress batch={batch} /> },
            {
              title: 'Recipients',
              number: true,
              cell: ({ recipients }) => formatNumber(recipients),
            },
            { title: 'Created', number: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
          ]}
          empty={
            <Empty icon="layers" title="No batches" action={<SendButton />}>
              Each send is a batch, also one to a single recipient.
            </Empty>
          }
        />
      </Card>
    </>
  );
}

/** The end of a UUIDv7 tells two of the same moment apart. */
const shortId = (id: string): string => `…${id.slice(-8)}`;

function BatchProgress({ batch }: { batch: BatchItem }): JSX.Element {
  const toneOf = useTone(batch.channel);
  if (!batch.counts) return <span title="Open the batch to see it">at work</span>;
  return (
    <Progress
      label="Progress"
      whole={batch.recipients}
      parts={Object.entries(batch.counts)
        .filter(([status]) => status !== 'queued')
        .map(([status, value]) => ({ tone: toneOf(status), value, title: words(status) }))}
    />
  );
}

function BatchPage({ id }: { id: string }): JSX.Element {
  const { data, error, loading, reload } = useData<BatchItem>(
    `api/batches/${encodeURIComponent(id)}`,
    true,
  );
  const back = { to: 'batches', label: 'Back to the list' };
  if (!data) {
    return (
      <>
        <PageHeader title="Batch" back={back} />
        {loading && <Skeleton lines={8} />}
        <ErrorNotice error={error} retry={reload} />
      </>
    );
  }
  return <Batch batch={data} back={back} reload={reload} />;
}

function Batch(props: {
  batch: BatchItem;
  back: { to: string; label: string };
  reload: () => Promise<void>;
}): JSX.Element {
  const { batch } = props;
  const { act, reveal } = useContextData();
  const exported = { reference: batch.id };
  const tenant = useTenantFact(batch.tenant);
  const [dialog, setDialog] = useState<'cancel' | 'reschedule'>();
  const done = batch.done ?? 0;
  const share = batch.recipients ? Math.floor((100 * done) / batch.recipients) : 100;
  return (
    <>
      <PageHeader
        title={`Batch ${shortId(batch.id)}`}
        badge={<BatchBadge status={batch.status} />}
        back={props.back}
        description={
          <>
            <ChannelName channel={batch.channel} />
            {batch.sender && ` from ${batch.sender}`} to {plural(batch.recipients, 'recipient')}
          </>
        }
      >
        <CurlButton
          title="Read this batch by API"
          action={{ action: 'batch', channel: batch.channel, id: batch.id }}
        />
        <ExportButton
          what="messages"
          inPieces
          masked={`api/messages/export${queryOf(exported)}`}
          whole={reveal && `api/messages/export${queryOf({ ...exported, reveal: 'true' })}`}
        />
        {act && batch.canReschedule && (
          <Button icon="clock" onClick={() => setDialog('reschedule')}>
            Reschedule
          </Button>
        )}
        {act && batch.canCancel && (
          <Button kind="danger" icon="close" onClick={() => setDialog('cancel')}>
            Cancel batch
          </Button>
        )}
      </PageHeader>
      <Card
        title="Progress"
        description={`${formatNumber(done)} of ${plural(batch.recipients, 'message')} left the queue`}
      >
        <p class="big-number">{share}%</p>
        <BatchProgress batch={batch} />
        <ul class="counts">
          {Object.entries(batch.counts ?? {}).map(([status, count]) => (
            <li key={status}>
              <a href={`messages${queryOf({ q: batch.id, status })}`}>
                <StatusBadge channel={batch.channel} status={status} />
                <span class="number">{formatNumber(count)}</span>
              </a>
            </li>
          ))}
        </ul>
      </Card>
      <Card title="Details">
        <Facts
          rows={[
            ['Reference', <Copy key="id" value={batch.id} label="reference" />],
            tenant,
            ['Created', fullTime(batch.createdAt)],
            batch.sendAt !== null && ['Scheduled for', fullTime(batch.sendAt)],
            batch.validUntil !== null && ['Valid until', fullTime(batch.validUntil)],
            batch.parts > 0 && ['Parts of each message', batch.parts],
            batch.content !== null && ['Content', kindWords(batch.content.kind)],
            batch.tags.length > 0 && ['Tags', batch.tags.join(', ')],
            [
              'Messages',
              <a key="messages" href={`messages${queryOf({ q: batch.id })}`}>
                See all of this batch
              </a>,
            ],
          ]}
        />
      </Card>
      {dialog === 'cancel' && (
        <CancelDialog batch={batch} done={props.reload} onClose={() => setDialog(undefined)} />
      )}
      {dialog === 'reschedule' && (
        <RescheduleDialog batch={batch} done={props.reload} onClose={() => setDialog(undefined)} />
      )}
    </>
  );
}

interface BatchDialog {
  batch: BatchItem;
  done: () => Promise<void>;
  onClose: () => void;
}

function CancelDialog({ batch, done, onClose }: BatchDialog): JSX.Element {
  const left = batch.recipients - (batch.done ?? 0);
  return (
    <FormDialog
      title="Cancel this batch?"
      submit="Cancel the batch"
      dismiss="Keep the batch"
      danger
      onClose={onClose}
      action={async () => {
        await call('POST', `api/batches/${batch.id}/cancel`);
        toast('Batch cancelled');
        await done();
      }}
    >
      <p>{plural(left, 'message')} will not be sent. What has left stays as it is.</p>
      <CurlDetails action={{ action: 'cancel', channel: batch.channel, id: batch.id }} />
    </FormDialog>
  );
}

function RescheduleDialog({ batch, done, onClose }: BatchDialog): JSX.Element {
  const [at, setAt] = useState(localTime(batch.sendAt));
  return (
    <FormDialog
      title="Reschedule this batch"
      submit="Reschedule"
      onClose={onClose}
      action={async () => {
        const sendAt = new Date(at).toISOString();
        await call('POST', `api/batches/${batch.id}/reschedule`, { sendAt });
        toast(`Moved to ${fullTime(sendAt)}`);
        await done();
      }}
    >
      {(error) => (
        <>
          <Field
            label="Send at"
            name="sendAt"
            type="datetime-local"
            required
            value={at}
            onInput={(event) => setAt(event.currentTarget.value)}
            hint={`In your time zone, ${Intl.DateTimeFormat().resolvedOptions().timeZone}. A past time sends at once.`}
            error={error?.fields['sendAt']}
          />
          {at && (
            <CurlDetails
              action={{
                action: 'reschedule',
                channel: batch.channel,
                id: batch.id,
                sendAt: new Date(at).toISOString(),
              }}
            />
          )}
        </>
      )}
    </FormDialog>
  );
}
