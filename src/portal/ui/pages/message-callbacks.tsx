import {
  Badge,
  Card,
  duration,
  ErrorNotice,
  Facts,
  fullTime,
  Time,
  type Tone,
  useData,
  money,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import type { MessageCallback, MessageCallbacks } from '../../portal-api.js';

const TONES: Readonly<Record<MessageCallback['state'], Tone>> = {
  delivered: 'success',
  due: 'info',
  exhausted: 'danger',
};

/** The charge of a message, and the requests that told the account of it. */
export function MessageCallbacks(props: { message: { readonly id: string } }): JSX.Element | null {
  const { data, error, reload } = useData<MessageCallbacks>(
    `api/callbacks/${encodeURIComponent(props.message.id)}`,
    true,
  );
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
            With what is reserved for those on the way. The price of this message is in its details.
          </p>
        </Card>
      )}
      <Card title="Webhooks">
        {data.data.length === 0 ? (
          <p class="muted">
            {data.asked
              ? 'No callback of this message is kept: the account had no webhook for it, or it is older than 14 days.'
              : 'The send asked for no callbacks; a request with "delivery_report": "yes" does.'}
          </p>
        ) : (
          <ul class="callbacks">
            {data.data.map((callback) => (
              <Callback key={callback.deliveryId} callback={callback} />
            ))}
          </ul>
        )}
      </Card>
    </>
  );
}

function Callback({ callback }: { callback: MessageCallback }): JSX.Element {
  const { type, status, url, webhookId, state, nextAttemptAt, attempts } = callback;
  return (
    <li>
      <p class="timeline-title">
        <strong>{type}</strong> {status && <span class="muted">{status}</span>}{' '}
        <Badge tone={TONES[state]}>{state}</Badge>
        {nextAttemptAt && (
          <span class="muted small">
            next <Time at={nextAttemptAt} />
          </span>
        )}
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
