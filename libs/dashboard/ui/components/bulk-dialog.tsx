import type { ComponentChildren, JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { ApiError } from '../app/api-client.js';
import { formatNumber } from '../app/format.js';
import { Button } from './basics.js';
import { Dialog } from './dialog.js';

/** What a request of a task changed. */
export interface Step {
  readonly done: number;
  /** Those that an earlier action changed. @default 0 */
  readonly before?: number;
  readonly refused?: readonly Refusal[];
}

interface Refusal {
  /** Batch or message. */
  readonly id: string;
  readonly message: string;
  /** @default 1 */
  readonly count?: number;
}

export interface Task {
  /** Id of the batch or message that a refusal names. */
  readonly id: string;
  /** Requests, one after the other. */
  readonly steps: () => AsyncIterable<Step>;
}

/** A task of one request. */
export const once = (id: string, run: () => Promise<unknown>): Task => ({
  id,
  steps: async function* () {
    await run();
    yield { done: 1 };
  },
});

type Outcome = Required<Step>;

/** Asks, then runs tasks one after the other, says how far it is, and what became of each. */
export function BulkDialog(props: {
  /** The action with its number, such as `Cancel 3 batches`. */
  action: string;
  danger?: boolean;
  /** What is done, such as `cancelled`. */
  done: string;
  /** What was done before, such as `sent again before`. */
  before?: string;
  tasks: readonly Task[];
  /** What all tasks change together. @default one each */
  whole?: number;
  question: ComponentChildren;
  /** Called once something has run. */
  ended: () => void;
  reload: () => Promise<void>;
  onClose: () => void;
}): JSX.Element {
  // The list goes on to follow changes while the dialog is open.
  const [{ tasks, action, whole }] = useState(() => ({
    tasks: props.tasks,
    action: props.action,
    whole: props.whole ?? props.tasks.length,
  }));
  const [outcome, setOutcome] = useState<Outcome>();
  const [isRunning, setRunning] = useState(false);
  const isStopped = useRef(false);
  const run = async (): Promise<void> => {
    setRunning(true);
    let now: Outcome = { done: 0, before: 0, refused: [] };
    setOutcome(now);
    for (const task of tasks) {
      if (isStopped.current) break;
      for await (const step of stepsOf(task)) {
        now = sumOf(now, step);
        setOutcome(now);
        if (isStopped.current) break;
      }
    }
    setRunning(false);
    await props.reload();
  };
  const close = (): void => {
    isStopped.current = true;
    if (outcome) props.ended();
    props.onClose();
  };
  return (
    <Dialog
      title={`${action}?`}
      onClose={close}
      footer={
        outcome ? (
          <Button kind="primary" onClick={close}>
            {isRunning ? 'Stop' : 'Close'}
          </Button>
        ) : (
          <>
            <Button onClick={close}>Keep</Button>
            <Button kind={props.danger ? 'danger' : 'primary'} onClick={() => void run()}>
              {action}
            </Button>
          </>
        )
      }
    >
      {outcome ? (
        <Report {...props} outcome={outcome} whole={whole} isRunning={isRunning} />
      ) : (
        props.question
      )}
    </Dialog>
  );
}

function Report(props: {
  done: string;
  before?: string;
  outcome: Outcome;
  whole: number;
  isRunning: boolean;
}): JSX.Element {
  const { outcome, isRunning } = props;
  const { done, before, refused } = outcome;
  const refusals = refused.reduce((sum, { count = 1 }) => sum + count, 0);
  const ended = done + before + refusals;
  const whole = Math.max(props.whole, ended);
  return (
    <>
      <progress value={ended} max={whole} aria-label="Progress" />
      <p role="status">
        {isRunning ? `${formatNumber(ended)} of ${formatNumber(whole)}: ` : ''}
        {formatNumber(done)} {props.done}
        {before > 0 && `, ${formatNumber(before)} ${props.before ?? ''}`}, {formatNumber(refusals)}{' '}
        refused{!isRunning && ended < whole ? `, ${formatNumber(whole - ended)} not tried` : ''}.
      </p>
      {refused.length > 0 && (
        <ul class="refused" tabIndex={0}>
          {refused.map(({ id, message, count = 1 }, n) => (
            <li key={n}>
              {count > 1 && `${formatNumber(count)} of `}
              <code>{id}</code>: {message}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** The steps of a task, up to a refusal. */
async function* stepsOf({ id, steps }: Task): AsyncGenerator<Step> {
  try {
    yield* steps();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    yield { done: 0, refused: [{ id, message: error.message }] };
  }
}

function sumOf(now: Outcome, { done, before = 0, refused = [] }: Step): Outcome {
  return {
    done: now.done + done,
    before: now.before + before,
    refused: [...now.refused, ...refused],
  };
}
