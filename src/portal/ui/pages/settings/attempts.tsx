import {
  Badge,
  Button,
  call,
  Card,
  Copy,
  Dialog,
  duration,
  Empty,
  ErrorNotice,
  Facts,
  Field,
  Filter,
  fullTime,
  List,
  localTime,
  Notice,
  plural,
  queryOf,
  SearchBox,
  setQuery,
  Time,
  toast,
  useAction,
  useData,
  useRoute,
} from '@dundun/dashboard/ui';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { CallbackState, useCallbackChanges } from '../../components/callback-state.js';
import { ApiCurl } from '../../components/api-curl.js';
import { FormButton } from '../../components/form-button.js';
import type { Listed, Redeliver, Redelivered, WebhookAttempt } from '../../../portal-api.js';

const FILTERS = ['event', 'result', 'code', 'since', 'until'] as const;

const AGES: Readonly<Record<string, readonly [title: string, milliseconds: number]>> = {
  '1h': ['Last hour', 3_600_000],
  '24h': ['Last 24 hours', 86_400_000],
  '7d': ['Last 7 days', 604_800_000],
};

/** To the minute, so that the address of the request stays the same between two reads. */
function sinceOf(age: string | null): { since?: string } {
  const [, milliseconds] = AGES[age ?? ''] ?? [];
  if (milliseconds === undefined) return {};
  return { since: new Date(Math.floor(Date.now() / 60_000) * 60_000 - milliseconds).toISOString() };
}

/** The calls of an endpoint, newest first, and calling it again. */
export function Attempts(props: {
  id: string;
  kinds: readonly string[];
  admin: boolean;
  /** There is a new attempt. */
  changed: () => void;
}): JSX.Element {
  const { id, admin, changed } = props;
  const { query } = useRoute();
  const path = `api/webhooks/${id}`;
  const list = useData<Listed<WebhookAttempt>>(
    `${path}/attempts${queryOf({
      ...Object.fromEntries(FILTERS.map((name) => [name, query.get(name)])),
      ...sinceOf(query.get('age')),
      cursor: query.get('cursor'),
    })}`,
    true,
  );
  useCallbackChanges(list.refresh);
  const [newest] = list.data?.data ?? [];
  const latest = newest && `${newest.deliveryId} ${newest.attempt} ${newest.at}`;
  useEffect(changed, [latest, changed]);
  const sendAgain = async (what: Redeliver): Promise<void> => {
    const { redelivered } = await call<Redelivered>('POST', `${path}/redeliver`, what);
    toast(`${plural(redelivered, 'callback')} queued again`);
    await list.reload();
  };
  const redeliver = useAction(sendAgain);
  const again = ({ type, deliveryId }: WebhookAttempt): JSX.Element | false =>
    admin && (
      <Button
        aria-label={`Redeliver ${type}`}
        disabled={redeliver.busy}
        onClick={() => void redeliver.run({ deliveryId })}
      >
        Redeliver
      </Button>
    );
  const filtered = [...FILTERS, 'age'].some((name) => query.has(name));
  return (
    <Card
      flush
      title="Attempts"
      actions={
        admin && (
          <>
            <Button icon="refresh" busy={redeliver.busy} onClick={() => void redeliver.run({})}>
              Redeliver failed
            </Button>
            <FormButton
              icon="clock"
              label="Redeliver since…"
              title="Redeliver since a time"
              submit="Redeliver"
              action={(form) => {
                const given = form.get('since');
                const at = new Date(typeof given === 'string' ? given : '');
                return sendAgain({ since: at.toISOString() });
              }}
            >
              {(refusal) => (
                <>
                  <Field
                    label="Since"
                    name="since"
                    type="datetime-local"
                    required
                    defaultValue={localTime(null)}
                    hint="Every callback made since then is sent again, also those that were delivered."
                    error={refusal?.fields['since']}
                  />
                  <ApiCurl
                    method="POST"
                    path={`ng/v1/webhooks/${id}/redeliver`}
                    body={{ since: new Date().toISOString() }}
                  />
                </>
              )}
            </FormButton>
          </>
        )
      }
    >
      <ErrorNotice error={redeliver.error} />
      <AttemptFilters kinds={props.kinds} />
      <List
        label="Attempts"
        list={list}
        id={(one) => `${one.deliveryId}-${one.attempt}-${one.at}`}
        columns={[
          {
            title: 'Answer',
            cell: (one) =>
              one.error === null ? (
                <Badge tone="success">{one.statusCode}</Badge>
              ) : (
                <Badge tone="danger">{one.statusCode ?? one.error}</Badge>
              ),
          },
          {
            title: 'Event',
            cell: ({ type, status }) => (
              <>
                <span class="breaks">{type}</span>
                {status && <span class="muted"> {status}</span>}
              </>
            ),
          },
          {
            title: 'Try',
            number: true,
            cell: ({ attempt, redeliveries }) => (
              <>
                {attempt}
                {redeliveries > 0 && <small class="muted"> redelivered</small>}
              </>
            ),
          },
          {
            title: 'Time',
            cell: ({ at, durationMs }) => (
              <>
                <Time at={at} /> <small class="muted whole">took {duration(durationMs)}</small>
              </>
            ),
          },
          {
            title: 'Callback now',
            cell: ({ state, nextAttemptAt }) => (
              <CallbackState state={state} nextAttemptAt={nextAttemptAt} />
            ),
          },
          {
            title: 'Actions',
            actions: true,
            cell: (one) => (
              <>
                <AttemptDetails attempt={one}>{again(one)}</AttemptDetails>
                {again(one)}
              </>
            ),
          },
        ]}
        empty={
          filtered ? (
            <Empty icon="search" title="No attempt matches">
              Attempts are kept for 14 days.
            </Empty>
          ) : (
            <Empty icon="reply" title="No attempt yet">
              Send a test event, or a message.
            </Empty>
          )
        }
      />
    </Card>
  );
}

/** The filter of the list, in the address. */
function AttemptFilters({ kinds }: { kinds: readonly string[] }): JSX.Element {
  const { query } = useRoute();
  const get = (name: string): string => query.get(name) ?? '';
  const [since, until] = [get('since'), get('until')];
  return (
    <div class="filters inside" role="search" aria-label="Attempts">
      <SearchBox name="code" placeholder="Code, such as 500 or timeout" />
      <Filter
        label="Event"
        value={get('event')}
        all="All events"
        options={[...kinds, 'webhook.test'].map((kind) => [kind, kind])}
        onChange={(event) => setQuery({ event })}
      />
      <Filter
        label="Result"
        value={get('result')}
        all="All results"
        options={[
          ['success', 'Success'],
          ['failed', 'Failed'],
        ]}
        onChange={(result) => setQuery({ result })}
      />
      <Filter
        label="Time"
        value={get('age')}
        all="Any time"
        options={Object.entries(AGES).map(([name, [title]]) => [name, title])}
        onChange={(age) => setQuery({ age, since: undefined, until: undefined })}
      />
      {since && until && (
        <Button icon="close" onClick={() => setQuery({ since: undefined, until: undefined })}>
          {fullTime(since)} to {fullTime(until)}
        </Button>
      )}
    </div>
  );
}

function AttemptDetails(props: {
  attempt: WebhookAttempt;
  /** Actions of its dialog. */
  children: ComponentChildren;
}): JSX.Element {
  const { attempt } = props;
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button kind="quiet" onClick={() => setOpen(true)} aria-label={`Show ${attempt.type}`}>
        Show
      </Button>
      {open && (
        <AttemptDialog attempt={attempt} actions={props.children} onClose={() => setOpen(false)} />
      )}
    </>
  );
}

function AttemptDialog(props: {
  attempt: WebhookAttempt;
  actions: ComponentChildren;
  onClose: () => void;
}): JSX.Element {
  const { attempt } = props;
  const again = attempt.redeliveries > 0 ? ', redelivered' : '';
  return (
    <Dialog title={attempt.type} wide onClose={props.onClose} footer={props.actions}>
      {attempt.errorText && (
        <Notice tone="warning" title="This attempt failed">
          {attempt.errorText}
        </Notice>
      )}
      <Facts
        rows={[
          ['Time', fullTime(attempt.at)],
          ['Try', `${attempt.attempt}${again}`],
          ['Answer', attempt.statusCode ?? 'none'],
          ['Took', duration(attempt.durationMs)],
          ['webhook-id', <Copy key="id" value={attempt.deliveryId} label="webhook-id" />],
          [
            'Message',
            <a key="message" href={`messages/${attempt.messageId}`}>
              <code>{attempt.messageId}</code>
            </a>,
          ],
        ]}
      />
      <div class="attempt">
        <h3>Request</h3>
        <p class="muted small">
          Addresses and texts are masked on this page; your server gets them whole.
        </p>
        <pre tabIndex={0}>
          <code>{pretty(attempt.request)}</code>
        </pre>
      </div>
      <div class="attempt">
        <h3>Answer</h3>
        <pre tabIndex={0}>
          <code>{attempt.response || 'empty'}</code>
        </pre>
      </div>
    </Dialog>
  );
}

function pretty(json: string | null): string {
  if (json === null) return 'Deleted after 14 days.';
  try {
    return JSON.stringify(JSON.parse(json), undefined, 2);
  } catch {
    return json;
  }
}
