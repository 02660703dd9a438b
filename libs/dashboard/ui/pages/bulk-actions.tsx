import type { ComponentChildren, JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { BatchItem, MessageItem, ResendBatchAnswer } from '../../src/api.js';
import { call } from '../app/api-client.js';
import { useContextData } from '../app/context.js';
import { plural } from '../app/format.js';
import { newKey } from '../app/new-key.js';
import { Button, Notice } from '../components/basics.js';
import { BulkDialog, once, type Step, type Task } from '../components/bulk-dialog.js';

interface Chosen<T> {
  chosen: readonly T[];
  clear: () => void;
  reload: () => Promise<void>;
}

type BulkKind = 'cancel' | 'resend';

/** Did not reach the recipient, and did not fail. */
const UNSENT: readonly string[] = ['cancelled', 'unknown'];

/** What can be done with the chosen rows of a list of messages. */
export function BulkActions(props: Chosen<MessageItem>): JSX.Element {
  const { chosen, clear, reload } = props;
  const [asked, setAsked] = useState<BulkKind>();
  const key = useRef('');
  const ask = (kind: BulkKind): void => {
    key.current = newKey();
    setAsked(kind);
  };
  const shared = { ended: clear, reload, onClose: () => setAsked(undefined) };
  return (
    <Bar title={`${plural(chosen.length, 'message')} chosen`} label="Chosen messages" clear={clear}>
      <Button onClick={() => ask('cancel')}>Cancel their batches</Button>
      <Button icon="send" onClick={() => ask('resend')}>
        Send again
      </Button>
      {asked === 'cancel' && (
        <CancelDialog {...shared} ids={[...new Set(chosen.map(({ batchId }) => batchId))]} />
      )}
      {asked === 'resend' && (
        <BulkDialog
          {...shared}
          action={`Send ${plural(chosen.length, 'message')} again`}
          done="sent again"
          tasks={chosen.map(({ id }, n) => {
            const body = { idempotencyKey: `${key.current}-${n}` };
            return once(id, () => call('POST', `api/messages/${id}/resend`, body));
          })}
          question={
            <Notice tone="warning" title="Recipients may get a message twice">
              Each is sent as a new message, and charged again. A message that may still leave is
              refused. The audit log gets an entry for each message.
            </Notice>
          }
        />
      )}
    </Bar>
  );
}

/** What can be done with the chosen rows of a list of batches. */
export function BulkBatchActions(props: Chosen<BatchItem>): JSX.Element {
  const { chosen, clear, reload } = props;
  const { channels } = useContextData();
  const [asked, setAsked] = useState<BulkKind>();
  const shared = { ended: clear, reload, onClose: () => setAsked(undefined) };
  const waiting = chosen.filter(({ canCancel }) => canCancel);
  const failed = chosen.flatMap(({ id, channel, counts }) => {
    const { statuses = [], sendable = false } = channels.find(({ name }) => name === channel) ?? {};
    const ended = statuses.filter(
      ({ name, failed: is }) => is && sendable && !UNSENT.includes(name),
    );
    return ended.map(({ name: status }) => ({ id, status, messages: counts?.[status] ?? 0 }));
  });
  const left = failed.filter(({ messages }) => messages > 0);
  const messages = left.reduce((sum, one) => sum + one.messages, 0);
  return (
    <Bar
      title={`${plural(chosen.length, 'batch', 'batches')} chosen`}
      label="Chosen batches"
      clear={clear}
    >
      <Button disabled={waiting.length === 0} onClick={() => setAsked('cancel')}>
        Cancel
      </Button>
      <Button icon="send" disabled={messages === 0} onClick={() => setAsked('resend')}>
        Send failed messages again
      </Button>
      {asked === 'cancel' && <CancelDialog {...shared} ids={waiting.map(({ id }) => id)} />}
      {asked === 'resend' && (
        <BulkDialog
          {...shared}
          action={`Send ${plural(messages, 'failed message')} again`}
          done="sent again"
          before="sent again before"
          tasks={left.map(({ id, status }) => failedOf(id, status))}
          whole={messages}
          question={
            <Notice tone="warning" title="Each is charged again">
              Each failed message of these batches is sent as a new message, through the rules of
              now; one that was sent again before stays as it is. The audit log gets an entry for
              each message.
            </Notice>
          }
        />
      )}
    </Bar>
  );
}

function failedOf(id: string, status: string): Task {
  return {
    id,
    steps: async function* (): AsyncGenerator<Step> {
      let cursor: string | null = null;
      do {
        const body: object = { status, ...(cursor && { cursor }) };
        const piece: ResendBatchAnswer = await call('POST', `api/batches/${id}/resend`, body);
        const refused = piece.refused.map(({ messages: count, message }) => {
          return { id, message, count };
        });
        yield { done: piece.resent, before: piece.repeated, refused };
        cursor = piece.nextCursor;
      } while (cursor);
    },
  };
}

function CancelDialog(props: {
  ids: readonly string[];
  ended: () => void;
  reload: () => Promise<void>;
  onClose: () => void;
}): JSX.Element {
  const { ids, ...shared } = props;
  return (
    <BulkDialog
      {...shared}
      action={`Cancel ${plural(ids.length, 'batch', 'batches')}`}
      danger
      done="cancelled"
      tasks={ids.map((id) => once(id, () => call('POST', `api/batches/${id}/cancel`)))}
      question={
        <p>
          Every message of {ids.length === 1 ? 'this batch' : 'these batches'} that has not started
          is cancelled, also those that are not on this page; a provider that can is asked to cancel
          what it has. The audit log gets an entry for each batch.
        </p>
      }
    />
  );
}

function Bar(props: {
  title: string;
  label: string;
  clear: () => void;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <div class="bulk" role="region" aria-label={props.label}>
      <strong>{props.title}</strong>
      {props.children}
      <Button kind="quiet" onClick={props.clear}>
        Clear
      </Button>
    </div>
  );
}
