import {
  Badge,
  Button,
  call,
  Card,
  Choices,
  CodeBlock,
  Dialog,
  Empty,
  ErrorNotice,
  Field,
  Filter,
  FormDialog,
  lazily,
  type Route,
  setQuery,
  Skeleton,
  Table,
  Time,
  toast,
  useAction,
  useData,
  useRoute,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import { useCallback, useState } from 'preact/hooks';
import type { Webhook, WebhookEvents, Webhooks, WebhookSecret } from '../../../portal-api.js';
import { useMay } from '../../session-data.js';
import { Attempts } from './attempts.js';
import { ApiCurl } from '../../components/api-curl.js';
import { ConfirmButton } from '../../components/form-button.js';
import { Secret } from '../../components/secret.js';
import { WebhookSuccessCard } from './webhook-success.js';

const WebhookReceivers = lazily(() =>
  import('./webhook-receivers.js').then(({ WebhookReceivers: view }) => view),
);

export function WebhookTab({ route }: { route: Route }): JSX.Element {
  const { data, error, loading, reload, refresh } = useData<Webhooks>('api/webhooks', true);
  const [editing, setEditing] = useState<'new' | Webhook>();
  const [secret, setSecret] = useState<string>();
  const admin = useMay('admin');
  if (loading) return <Skeleton />;
  if (error || !data) return <ErrorNotice error={error} retry={reload} />;
  const chosen = data.data.find(({ id }) => id === route.tab);
  const add = admin && data.data.length < data.most && (
    <Button kind="primary" icon="plus" onClick={() => setEditing('new')}>
      Add an endpoint
    </Button>
  );
  return (
    <>
      {chosen ? (
        <Endpoint
          webhook={chosen}
          kinds={data.kinds}
          admin={admin}
          edit={() => setEditing(chosen)}
          show={setSecret}
          reload={reload}
          refresh={refresh}
        />
      ) : (
        <>
          <Card
            flush
            title="Endpoints"
            description="Delivery reports and inbound messages are posted to these addresses."
            actions={add}
          >
            {data.data.length === 0 ? (
              <Empty icon="reply" title="No endpoint yet" action={add}>
                Add the address of your server; it gets a signed request for each change.
              </Empty>
            ) : (
              <EndpointTable webhooks={data.data} />
            )}
          </Card>
          <WebhookEventsCard />
          <Card title="Verify the signature" description="Receivers that need no package">
            <WebhookReceivers />
          </Card>
        </>
      )}
      {editing && (
        <EndpointDialog
          webhook={editing === 'new' ? undefined : editing}
          kinds={data.kinds}
          show={setSecret}
          done={reload}
          onClose={() => setEditing(undefined)}
        />
      )}
      {secret && (
        <Dialog title="Signing secret" onClose={() => setSecret(undefined)}>
          <p>Your server verifies requests with it.</p>
          <Secret label="signing secret" value={secret} />
        </Dialog>
      )}
    </>
  );
}

function EndpointTable({ webhooks }: { webhooks: readonly Webhook[] }): JSX.Element {
  return (
    <Table
      label="Endpoints"
      rows={webhooks}
      id={({ id }) => id}
      to={({ id }) => `settings/webhook/${id}`}
      columns={[
        { title: 'Address', cell: ({ url }) => url },
        { title: 'State', cell: (webhook) => <EndpointState webhook={webhook} /> },
        { title: 'Events', cell: ({ events }) => events?.join(', ') ?? 'all' },
        { title: 'Since', number: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
      ]}
    />
  );
}

const REASONS = {
  gone: 'disabled: it answered 410',
  failing: 'disabled: no success for five days',
  account: 'disabled',
} as const;

function EndpointState({ webhook }: { webhook: Webhook }): JSX.Element {
  if (webhook.status === 'disabled') {
    return <Badge tone="danger">{REASONS[webhook.disabledReason ?? 'account']}</Badge>;
  }
  if (webhook.failingSince) {
    return (
      <>
        <Badge tone="warning">failing</Badge> <Time at={webhook.failingSince} />
      </>
    );
  }
  return <Badge tone="success">enabled</Badge>;
}

function Endpoint(props: {
  webhook: Webhook;
  kinds: readonly string[];
  admin: boolean;
  edit: () => void;
  show: (secret: string) => void;
  reload: () => Promise<void>;
  refresh: () => Promise<void>;
}): JSX.Element {
  const { webhook, reload, refresh } = props;
  const [attempts, setAttempts] = useState(0);
  // The state and the chart follow the list of attempts.
  const changed = useCallback(() => {
    setAttempts((count) => count + 1);
    void refresh();
  }, [refresh]);
  const path = `api/webhooks/${webhook.id}`;
  const test = useAction(async () => {
    await call('POST', `${path}/test`);
    toast('A test event is on its way');
  });
  const toggle = useAction(async () => {
    await call('PATCH', path, { enabled: webhook.status === 'disabled' });
    await reload();
  });
  return (
    <>
      <a class="back" href="settings/webhook">
        Back to the endpoints
      </a>
      <Card
        title={webhook.url}
        description={
          <>
            <EndpointState webhook={webhook} />
            {webhook.previousSecretUntil && (
              <>
                {' '}
                Requests are also signed with the former secret, until{' '}
                <Time at={webhook.previousSecretUntil} exact />.
              </>
            )}
          </>
        }
      >
        {props.admin && (
          <div class="actions">
            <Button icon="send" busy={test.busy} onClick={() => void test.run()}>
              Send a test event
            </Button>
            <Button onClick={props.edit}>Edit</Button>
            <Button busy={toggle.busy} onClick={() => void toggle.run()}>
              {webhook.status === 'disabled' ? 'Enable' : 'Disable'}
            </Button>
            <ConfirmButton
              label="Rotate secret"
              title="Rotate the signing secret?"
              confirm="Rotate"
              action={async () => {
                const { secret } = await call<WebhookSecret>('POST', `${path}/rotate-secret`);
                props.show(secret);
                void reload();
              }}
              curl={{ method: 'POST', path: `ng/v1/webhooks/${webhook.id}/rotate-secret` }}
            >
              The new secret is shown once. For a day, requests carry signatures of both.
            </ConfirmButton>
            <ConfirmButton
              label="Delete"
              title="Delete the endpoint?"
              confirm="Delete"
              action={() => call('DELETE', path)}
              done="Endpoint deleted"
              reload={reload}
              curl={{ method: 'DELETE', path: `ng/v1/webhooks/${webhook.id}` }}
            >
              Requests that wait for it are dropped.
            </ConfirmButton>
          </div>
        )}
      </Card>
      <ErrorNotice error={test.error ?? toggle.error} />
      <WebhookSuccessCard id={webhook.id} attempts={attempts} />
      <Attempts id={webhook.id} kinds={props.kinds} admin={props.admin} changed={changed} />
    </>
  );
}

function EndpointDialog(props: {
  webhook: Webhook | undefined;
  kinds: readonly string[];
  show: (secret: string) => void;
  done: () => Promise<void>;
  onClose: () => void;
}): JSX.Element {
  const { webhook, kinds } = props;
  return (
    <FormDialog
      title={webhook ? 'Edit the endpoint' : 'Add an endpoint'}
      wide
      submit={webhook ? 'Save' : 'Add'}
      onClose={props.onClose}
      action={async (form) => {
        const chosen = form.getAll('events');
        const events = chosen.length === 0 || chosen.length === kinds.length ? null : chosen;
        const body = { url: form.get('url'), events };
        if (webhook) await call('PATCH', `api/webhooks/${webhook.id}`, body);
        else props.show((await call<WebhookSecret>('POST', 'api/webhooks', body)).secret);
        void props.done();
      }}
    >
      {(refusal) => (
        <>
          <Field
            label="Address"
            name="url"
            type="url"
            required
            autofocus
            placeholder="https://example.com/hooks"
            defaultValue={webhook?.url}
            error={refusal?.fields['url']}
          />
          <Choices
            legend="Events"
            name="events"
            hint="None chosen: all of them, also future ones."
            options={kinds.map((kind) => [kind, kind])}
            chosen={webhook?.events ?? []}
            error={refusal?.fields['events']}
          />
          <ApiCurl
            method={webhook ? 'PATCH' : 'POST'}
            path={webhook ? `ng/v1/webhooks/${webhook.id}` : 'ng/v1/webhooks'}
            body={{ url: webhook?.url ?? 'https://example.com/hooks' }}
          />
        </>
      )}
    </FormDialog>
  );
}

/** Every kind of callback, with its body. */
function WebhookEventsCard(): JSX.Element {
  const { query } = useRoute();
  const events = useData<WebhookEvents>('api/webhooks/events');
  const kinds = events.data?.data ?? [];
  const shown = kinds.find(({ type }) => type === query.get('event')) ?? kinds[0];
  return (
    <Card
      title="Events"
      description="Each kind of callback, with a body of made-up values. Messages that are sent in the portal always ask for them."
      actions={
        shown && (
          <Filter
            label="Event"
            value={shown === kinds[0] ? '' : shown.type}
            all={kinds[0]?.type ?? ''}
            options={kinds.slice(1).map(({ type }) => [type, type])}
            onChange={(event) => setQuery({ event })}
          />
        )
      }
    >
      <ErrorNotice error={events.error} retry={events.reload} />
      {events.loading && <Skeleton lines={6} />}
      {shown && (
        <>
          <p>
            <strong>{shown.summary}.</strong> <Described text={shown.description} />
          </p>
          <CodeBlock label={`Example of ${shown.type}`} code={shown.example} />
        </>
      )}
    </Card>
  );
}

/** A text of the OpenAPI document, whose names stand between backticks. */
function Described({ text }: { text: string }): JSX.Element {
  return (
    <>{text.split('`').map((part, n) => (n % 2 === 1 ? <code key={n}>{part}</code> : part))}</>
  );
}
