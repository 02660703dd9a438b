import {
  Badge,
  Button,
  call,
  Card,
  duration,
  ErrorNotice,
  Facts,
  fullTime,
  money,
  toast,
  useAction,
  useData,
} from '@dundun/dashboard/ui';
import type { ComponentChildren, JSX } from 'preact';
import { CallbackState, useCallbackChanges } from '../components/callback-state.js';
import { useMay } from '../session-data.js';
import type {
  MessageCallback,
  MessageCallbacks,
  Redeliver,
  Redelivered,
} from '../../portal-api.js';

/** The charge of a message, and the requests that told the account of it. */
export function MessageCallbacks(props: { message: { readonly id: string } }): JSX.Element | null {
  const { data, error, reload, refresh } = useData<MessageCallbacks>(
    `api/callbacks/${encodeURIComponent(props.message.id)}`,
    true,
  );
  useCallbackChanges(refresh, data?.data.some(({ state }) => state === 'due') ?? false);
  const redeliver = useAction(async ({ webhookId, deliveryId }: MessageCallback): Promise<void> => {
    const one: Redeliver = { deliveryId };
    await call<Redelivered>('POST', `api/webhooks/${webhookId}/redeliver`, one);
    toast('Callback queued again');
    await reload();
  });
  const admin = useMay('admin');
  if (error) return <ErrorNotice error={error} retry={reload} />;
  if (!data) return null;
  return (
    <>
      {data.charge && (
        <Card title="Charge of the batch">
          <Facts
            rows={[['All its messages', `${money(data.charge.amount)} ${data.charge.currency}`]]}
          />
          <p class="muted small">
            Includes what is reserved for messages that are still on the way. The price of this
            message is under Details.
          </p>
        </Card>
      )}
      <Card title="Webhooks">
        <ErrorNotice error={redeliver.error} />
        {data.data.length === 0 ? (
          <p class="muted">
            {data.asked
              ? 'No callback of this message is kept: the account had no webhook for it, or it is older than 14 days.'
              : 'The send asked for no callbacks; a request with "delivery_report": "yes" does.'}
          </p>
        ) : (
          <ul class="callbacks">
            {data.data.map((callback) => (
              <Callback key={callback.deliveryId} callback={callback}>
                {admin && (
                  <Button
                    kind="quiet"
                    icon="refresh"
                    aria-label={`Redeliver ${callback.type}`}
                    disabled={redeliver.busy}
                    onClick={() => void redeliver.run(callback)}
                  >
                    Redeliver
                  </Button>
                )}
              </Callback>
            ))}
          </ul>
        )}
      </Card>
    </>
  );
}

function Callback(props: {
  callback: MessageCallback;
  /** Actions of the callback. */
  children: ComponentChildren;
}): JSX.Element {
  const { callback } = props;
  const { type, status, url, webhookId, state, nextAttemptAt, attempts } = callback;
  return (
    <li>
      <p class="timeline-title">
        <strong>{type}</strong> {status && <span class="muted">{status}</span>}{' '}
        <CallbackState state={state} nextAttemptAt={nextAttemptAt} isNew={attempts.length === 0} />{' '}
        {props.children}
      </p>
      <p class="small">
        to <a href={`settings/webhook/${webhookId}`}>{url}</a>
      </p>
      <ol>
        {attempts.map(({ at, durationMs, statusCode, error }) => (
          <li key={at} class="small">
            <Badge tone={error === null ? 'success' : 'danger'}>{statusCode ?? error}</Badge>{' '}
            <time dateTime={at}>{fullTime(at)}</time>{' '}
            <span class="muted">took {duration(durationMs)}</span>
          </li>
        ))}
      </ol>
    </li>
  );
}
