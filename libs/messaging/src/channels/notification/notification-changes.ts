import { type HoldWatch, NOT_READ } from '../../dispatch/hold-watch.js';
import {
  type FallbackReason,
  NOTIFICATION_DOUBLED,
  NOTIFICATION_ENDED,
  NOTIFICATION_FELL_BACK,
  type NotificationChange,
} from '../../message/events.js';
import type { Channel } from '../../message/message.js';
import { RESTORED } from '../../store/rows/hold.js';
import type { NewBatch } from '../../store/rows/new-batch.js';
import {
  decide,
  LOOK_AGAIN,
  type NotificationDecision,
  type StepState,
} from './notification-decision.js';
import {
  labelsOf,
  type NotificationStore,
  type SeenMessage,
  type StoredNotification,
  type StoredPlan,
  type StoredStep,
} from './notification-store.js';

const DENIED: FallbackReason = 'denied';

/** A message that has just been accepted. */
const QUEUED: SeenMessage = { state: 'queued', lane: '', status: 'queued', code: null };

export type Seen = ReadonlyMap<string, SeenMessage>;

/** The next message that policy allows, after the steps that it denied; without one, all are. */
export interface Candidate {
  readonly denied: readonly StoredStep[];
  readonly batch: NewBatch | undefined;
  readonly left: StoredPlan | null;
}

export interface Change {
  readonly before: StoredNotification;
  readonly row: StoredNotification;
  /** Batches to cancel, if nothing of them has started. */
  readonly stop?: readonly string[];
  /** Without the cancel of this batch, the notification stays as it was and is looked at again. */
  readonly onlyIfStopped?: string | undefined;
  readonly begin?: NewBatch | undefined;
  readonly events?: readonly NotificationChange[];
}

/**
 * What becomes of a row by the present statuses of its messages: its new steps, the batches to cancel and to
 * begin, and the events.
 */
export class NotificationChanges {
  constructor(
    private readonly notifications: Pick<NotificationStore, 'stateOfStatus'>,
    private readonly holds: Pick<HoldWatch, 'of'>,
    /** Milliseconds. */
    private readonly giveUpAfter: number,
  ) {}

  decide(row: StoredNotification, seen: Seen, now: number): NotificationDecision {
    const { plan, status } = row;
    const steps = begunOf(row).map((step) => ({
      state: this.#stateOf(step, seen),
      at: step.at,
      denied: step.denied ?? false,
    }));
    const { after = null, unless = 'sent', until = null, messages = [] } = plan ?? {};
    const { giveUpAfter } = this;
    return decide({ now, status, steps, left: messages.length, after, unless, until, giveUpAfter });
  }

  #stateOf({ batch, denied, stopped, status }: StoredStep, seen: Seen): StepState {
    if (denied || stopped) return 'failed';
    const message = batch === undefined ? undefined : seen.get(batch);
    if (!message) return this.notifications.stateOfStatus(status);
    if (message.state !== 'queued') return message.state;
    const { reason = '' } = this.holds.of(message.lane) ?? {};
    return reason === RESTORED || reason === NOT_READ ? 'held' : 'queued';
  }

  settled(
    before: StoredNotification,
    row: StoredNotification,
    decision: Exclude<NotificationDecision, { readonly kind: 'next' }>,
    seen: Seen,
    now: number,
  ): Change {
    const steps = row.steps.map((step) => seenStep(step, seen));
    if (decision.kind === 'wait') return { before, row: { ...row, steps, dueAt: decision.at } };
    const deliveredBy = this.#reached(steps);
    const of = {
      tenant: row.tenant,
      notificationId: row.id,
      deliveredBy,
      ...labelsOf(before, seen),
    };
    const isMore = deliveredBy.length > Math.max(1, this.#reached(before.steps).length);
    const doubled: NotificationChange[] = isMore
      ? [{ event: NOTIFICATION_DOUBLED, change: of }]
      : [];
    const batches = (state: StepState) =>
      steps.flatMap(({ batch = '' }) => (seen.get(batch)?.state === state ? batch : []));
    const stop = batches('queued');
    // A message in flight may become queued again; a queued one may have started meanwhile.
    const dueAt = stop.length + batches('sending').length > 0 ? now + LOOK_AGAIN : null;
    if (decision.kind === 'none')
      return { before, row: { ...row, steps, dueAt }, stop, events: doubled };
    const { status } = decision;
    const ended = { ...of, status, previous: row.status };
    return {
      before,
      row: { ...row, steps, status, plan: null, endedAt: row.endedAt ?? now, dueAt },
      stop,
      events: [{ event: NOTIFICATION_ENDED, change: ended }, ...doubled],
    };
  }

  next(
    row: StoredNotification,
    { reason, stop }: Extract<NotificationDecision, { readonly kind: 'next' }>,
    { denied, batch, left }: Candidate,
    seen: Seen,
    now: number,
  ): Change {
    const begun = begunOf(row).map((step) => seenStep(step, seen));
    const last = begun.at(-1)!;
    const stopped = { ...last, stopped: true, status: 'cancelled' } as const;
    const more = [...denied, ...(batch ? [{ channel: batch.channel, batch: batch.id }] : [])];
    const steps = [
      ...begun.slice(0, -1),
      stop ? stopped : last,
      ...more.map((step, n) => ({ ...step, at: now, reason: n === 0 ? reason : DENIED })),
    ];
    const whole = { ...row, steps: [...steps, ...row.steps.slice(steps.length)], plan: left };
    const [next, from] = [steps.at(-1)!, steps.at(-2)!];
    const fellBack = {
      tenant: row.tenant,
      notificationId: row.id,
      reason: next.reason!,
      from: from.channel,
      errorCode: from.code ?? null,
      to: next.channel,
      ...labelsOf(row, seen),
    };
    const events: NotificationChange[] = batch
      ? [
          {
            event: NOTIFICATION_FELL_BACK,
            change: { ...fellBack, messageId: `${batch.id}-0` },
          },
        ]
      : [];
    const nowSeen = batch ? new Map(seen).set(batch.id, QUEUED) : seen;
    const decision = this.decide(whole, nowSeen, now);
    // A step that has just begun waits, and no step begins where policy denied them all.
    if (decision.kind === 'next') throw new Error('a step fell back at its start');
    const change = this.settled(row, whole, decision, nowSeen, now);
    return {
      ...change,
      stop: stop && last.batch !== undefined ? [last.batch] : [],
      onlyIfStopped: stop ? last.batch : undefined,
      begin: batch,
      events: [...events, ...(change.events ?? [])],
    };
  }

  /** The channels of steps whose messages arrived. */
  #reached(steps: readonly StoredStep[]): Channel[] {
    const isReached = ({ status }: StoredStep) =>
      status !== undefined && this.notifications.stateOfStatus(status) === 'reached';
    return steps.filter(isReached).map(({ channel }) => channel);
  }
}

function begunOf({ steps }: Pick<StoredNotification, 'steps'>) {
  return steps.flatMap((step) => (step.at === undefined ? [] : [{ ...step, at: step.at }]));
}

function seenStep(step: StoredStep, seen: Seen): StoredStep {
  const message = step.batch === undefined || step.stopped ? undefined : seen.get(step.batch);
  return message ? { ...step, status: message.status, code: message.code } : step;
}
