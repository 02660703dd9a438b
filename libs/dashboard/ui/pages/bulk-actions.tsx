import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { MessageItem } from '../../src/api.js';
import { ApiError, call } from '../app/api-client.js';
import { plural } from '../app/format.js';
import { newKey } from '../app/new-key.js';
import { Button, Notice } from '../components/basics.js';
import { Dialog } from '../components/dialog.js';

type BulkKind = 'cancel' | 'resend';

interface Task {
  /** Batch or message. */
  readonly id: string;
  readonly run: () => Promise<unknown>;
}

interface Outcome {
  readonly done: number;
  readonly refused: readonly { readonly id: string; readonly message: string }[];
}

const NONE: Outcome = { done: 0, refused: [] };

/** What can be done with the chosen rows of a list of messages. */
export function BulkActions(props: {
  chosen: readonly MessageItem[];
  clear: () => void;
  reload: () => Promise<void>;
}): JSX.Element {
  const { chosen, clear } = props;
  const [asked, setAsked] = useState<BulkKind>();
  return (
    <div class="bulk" role="region" aria-label="Chosen messages">
      <strong>{plural(chosen.length, 'message')} chosen</strong>
      <Button onClick={() => setAsked('cancel')}>Cancel their batches</Button>
      <Button icon="send" onClick={() => setAsked('resend')}>
        Send again
      </Button>
      <Button kind="quiet" onClick={clear}>
        Clear
      </Button>
      {asked && <BulkDialog {...props} kind={asked} onClose={() => setAsked(undefined)} />}
    </div>
  );
}

function BulkDialog(props: {
  kind: BulkKind;
  chosen: readonly MessageItem[];
  clear: () => void;
  reload: () => Promise<void>;
  onClose: () => void;
}): JSX.Element {
  const { kind, onClose } = props;
  const key = useRef(newKey());
  // The list goes on to follow changes while the dialog is open.
  const [tasks] = useState(() => tasksOf(kind, props.chosen, key.current));
  const [outcome, setOutcome] = useState<Outcome>();
  const [isRunning, setRunning] = useState(false);
  const isStopped = useRef(false);
  const noun = kind === 'cancel' ? 'batch' : 'message';
  const count = plural(tasks.length, noun, kind === 'cancel' ? 'batches' : undefined);
  const run = async (): Promise<void> => {
    setRunning(true);
    let now = NONE;
    setOutcome(now);
    for (const task of tasks) {
      if (isStopped.current) break;
      now = await after(now, task);
      setOutcome(now);
    }
    setRunning(false);
    await props.reload();
  };
  const close = (): void => {
    isStopped.current = true;
    if (outcome) props.clear();
    onClose();
  };
  return (
    <Dialog
      title={kind === 'cancel' ? `Cancel ${count}?` : `Send ${count} again?`}
      onClose={close}
      footer={
        outcome ? (
          <Button kind="primary" onClick={close}>
            {isRunning ? 'Stop' : 'Close'}
          </Button>
        ) : (
          <>
            <Button onClick={close}>Keep</Button>
            <Button kind={kind === 'cancel' ? 'danger' : 'primary'} onClick={() => void run()}>
              {kind === 'cancel' ? `Cancel ${count}` : `Send ${count} again`}
            </Button>
          </>
        )
      }
    >
      {!outcome && <Question kind={kind} />}
      {outcome && (
        <Report kind={kind} outcome={outcome} tasks={tasks.length} isRunning={isRunning} />
      )}
    </Dialog>
  );
}

function Question({ kind }: { kind: BulkKind }): JSX.Element {
  return kind === 'cancel' ? (
    <p>
      Every message of these batches that has not started is cancelled, also those that are not on
      this page; a provider that can is asked to cancel what it has. The audit log gets an entry for
      each batch.
    </p>
  ) : (
    <Notice tone="warning" title="Recipients may get a message twice">
      Each is sent as a new message, and charged again. A message that may still leave is refused.
      The audit log gets an entry for each message.
    </Notice>
  );
}

function Report(props: {
  kind: BulkKind;
  outcome: Outcome;
  tasks: number;
  isRunning: boolean;
}): JSX.Element {
  const { outcome, tasks, isRunning } = props;
  const { done, refused } = outcome;
  const ended = done + refused.length;
  return (
    <>
      <progress value={ended} max={tasks} aria-label="Progress" />
      <p role="status">
        {isRunning ? `${ended} of ${tasks}: ` : ''}
        {done} {props.kind === 'cancel' ? 'cancelled' : 'sent again'}, {refused.length} refused
        {!isRunning && ended < tasks ? `, ${tasks - ended} not tried` : ''}.
      </p>
      {refused.length > 0 && (
        <ul class="refused" tabIndex={0}>
          {refused.map(({ id, message }) => (
            <li key={id}>
              <code>{id}</code>: {message}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function tasksOf(kind: BulkKind, chosen: readonly MessageItem[], key: string): Task[] {
  if (kind === 'cancel') {
    const batches = [...new Set(chosen.map(({ batchId }) => batchId))];
    return batches.map((id) => ({ id, run: () => call('POST', `api/batches/${id}/cancel`) }));
  }
  return chosen.map(({ id }, n) => ({
    id,
    run: () => call('POST', `api/messages/${id}/resend`, { idempotencyKey: `${key}-${n}` }),
  }));
}

async function after({ done, refused }: Outcome, { id, run }: Task): Promise<Outcome> {
  try {
    await run();
    return { done: done + 1, refused };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { done, refused: [...refused, { id, message: error.message }] };
  }
}
