import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ContactDetail, ConversationAnswer, ConversationEntry } from '../../src/api.js';
import { queryOf } from '../app/api-client.js';
import { useContextData } from '../app/context.js';
import { clockTime } from '../app/format.js';
import { useData } from '../app/use-data.js';
import { ChannelName, kindWords, StatusBadge, words } from '../components/badge.js';
import { Button, Empty, ErrorNotice, Skeleton } from '../components/basics.js';
import { SendDialog } from './send-dialog.js';

/** Messages out and in, newest last, with the way to answer. */
export function Conversation(props: { contact: ContactDetail; revealed: boolean }): JSX.Element {
  const { contact, revealed } = props;
  const { act, channels } = useContextData();
  const [cursor, setCursor] = useState<string>();
  const [answering, setAnswering] = useState(false);
  const path = `api/contacts/${encodeURIComponent(contact.id)}/conversation${queryOf({ cursor, reveal: revealed ? 'true' : '' })}`;
  const { data, error, loading, reload } = useData<ConversationAnswer>(
    path,
    cursor === undefined && !revealed,
  );
  if (loading) return <Skeleton />;
  if (error || !data) return <ErrorNotice error={error} retry={reload} />;
  const windowed = channels.find(({ serviceWindow }) => serviceWindow);
  const open = contact.windows.some(
    ({ windowEndsAt }) => new Date(windowEndsAt).getTime() > Date.now(),
  );
  return (
    <div class="conversation">
      <div class="actions">
        {data.nextCursor && (
          <Button onClick={() => setCursor(data.nextCursor ?? undefined)}>Older messages</Button>
        )}
        {cursor && <Button onClick={() => setCursor(undefined)}>Newest messages</Button>}
      </div>
      {data.data.length === 0 ? (
        <Empty icon="message" title="No messages with this contact" />
      ) : (
        <ol>
          {data.data.map((entry, index) => (
            <Bubble key={entry.id} entry={entry} before={data.data[index - 1]} />
          ))}
        </ol>
      )}
      {act && (
        <Button kind="primary" icon="reply" onClick={() => setAnswering(true)}>
          Write to this contact
        </Button>
      )}
      {answering && (
        <SendDialog
          channel={windowed?.name}
          contact={contact}
          kind={windowed && !open ? 'template' : undefined}
          onClose={() => setAnswering(false)}
        />
      )}
    </div>
  );
}

function Bubble(props: {
  entry: ConversationEntry;
  before: ConversationEntry | undefined;
}): JSX.Element {
  const { entry, before } = props;
  const day = new Date(entry.at).toDateString();
  const { content, text } = entry;
  return (
    <>
      {(!before || new Date(before.at).toDateString() !== day) && <li class="day">{day}</li>}
      <li class={`bubble ${entry.direction}`}>
        <p>
          {text ?? (
            <em class="muted">
              {content?.template
                ? `Template ${content.template}`
                : content
                  ? `${kindWords(content.kind)}${content.product ? `: ${content.product}` : ''}${content.characters ? `, ${content.characters} characters` : ''}`
                  : 'masked or deleted'}
            </em>
          )}
        </p>
        <footer>
          <span class="hidden">{entry.direction === 'in' ? 'Received' : 'Sent'} by </span>
          <ChannelName channel={entry.channel} /> ·{' '}
          <time dateTime={entry.at}>{clockTime(entry.at)}</time>
          {entry.status && (
            <a href={`messages/${entry.id}`} aria-label={`Message, ${words(entry.status)}`}>
              <StatusBadge channel={entry.channel} status={entry.status} />
            </a>
          )}
        </footer>
      </li>
    </>
  );
}
