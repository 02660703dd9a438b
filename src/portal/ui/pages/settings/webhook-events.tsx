import {
  Card,
  CodeBlock,
  ErrorNotice,
  Filter,
  setQuery,
  Skeleton,
  useData,
  useRoute,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import type { WebhookEvents } from '../../../portal-api.js';

/** Every kind of callback, with its body. */
export function WebhookEventsCard(): JSX.Element {
  const { query } = useRoute();
  const events = useData<WebhookEvents>('api/webhooks/events');
  const kinds = events.data?.data ?? [];
  const shown = kinds.find(({ type }) => type === query.get('event')) ?? kinds[0];
  return (
    <Card
      title="Events"
      description="Each kind of callback, with a body of made-up values."
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
