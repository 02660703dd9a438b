import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type {
  ContactDetail,
  ConversationAnswer,
  ConversationEntry,
  ReceivedFile,
} from '../../src/api.js';
import { queryOf } from '../app/api-client.js';
import { useContextData } from '../app/context.js';
import { clockTime, formatNumber } from '../app/format.js';
import { useData } from '../app/use-data.js';
import { ChannelName, kindWords, StatusBadge, words } from '../components/badge.js';
import { Button, Empty, ErrorNotice, Skeleton } from '../components/basics.js';
import { SendDialog } from './send-button.js';

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
        <Empty
          icon="message"
          title={
            data.nextCursor
              ? 'No message with this contact among the newest'
              : `No ${cursor ? 'older ' : ''}messages with this contact`
          }
        >
          {data.nextCursor && 'Older ones are not searched yet.'}
        </Empty>
      ) : (
        <ol>
          {data.data.map((entry, index) => (
            <Bubble
              key={entry.id}
              entry={entry}
              before={data.data[index - 1]}
              filesAt={
                revealed ? `api/contacts/${encodeURIComponent(contact.id)}/media` : undefined
              }
            />
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
  /** Address of files; `undefined`: they are not shown. */
  filesAt: string | undefined;
}): JSX.Element {
  const { entry, before, filesAt } = props;
  const day = new Date(entry.at).toDateString();
  const { content, text, received } = entry;
  return (
    <>
      {(!before || new Date(before.at).toDateString() !== day) && <li class="day">{day}</li>}
      <li class={`bubble ${entry.direction}`}>
        <p>
          {text ?? received?.detail ?? (
            <em class="muted">
              {content?.template
                ? `Template ${content.template}`
                : content
                  ? `${kindWords(content.kind)}${content.product ? `: ${content.product}` : ''}${content.characters ? `, ${content.characters} characters` : ''}`
                  : 'masked or deleted'}
            </em>
          )}
        </p>
        {text !== null && received?.detail && <p class="muted">{received.detail}</p>}
        {received && <Files entry={entry} files={received.files} at={filesAt} />}
        <footer>
          {received?.isReply && <span title="Answers a message">↩ </span>}
          {received?.profileName && <span>{received.profileName} · </span>}
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

/** Files of an inbound message; a link fetches one from the platform. */
function Files(props: {
  entry: ConversationEntry;
  files: readonly ReceivedFile[];
  at: string | undefined;
}): JSX.Element | null {
  const { entry, files, at } = props;
  if (files.length === 0) return null;
  return (
    <ul class="files">
      {files.map(({ type, filename, size }, file) => {
        const name = `${filename ?? words(type)}${size === null ? '' : `, ${formatNumber(size)} bytes`}`;
        return (
          <li key={file}>
            {at === undefined ? (
              name
            ) : (
              <a href={`${at}${queryOf({ message: entry.id, file: String(file) })}`} download>
                Download {name}
              </a>
            )}
          </li>
        );
      })}
    </ul>
  );
}
