import { Logger } from '@nestjs/common';
import { type HoldWatch, NOT_READ } from '../../dispatch/hold-watch.js';
import {
  type FallbackReason,
  NOTIFICATION_DOUBLED,
  NOTIFICATION_ENDED,
  NOTIFICATION_FELL_BACK,
  type NotificationChange,
} from '../../message/events.js';
import { doubledWait } from '../../message/doubled-wait.js';
import type { Channel } from '../../message/message.js';
import type { Clock } from '../../ports/clock.js';
import { isUnavailable } from '../../store/database/database-errors.js';
import type { Transaction } from '../../store/database/store-database.js';
import type { MessageStore } from '../../store/message-store.js';
import { RESTORED } from '../../store/rows/hold.js';
import type { NewBatch } from '../../store/rows/new-batch.js';
import type { StatusChange } from '../../store/rows/status.js';
import type { Stopped } from '../../store/verbs/cancel.js';
import type { Enqueuer } from '../enqueuer.js';
import {
  decide,
  LOOK_AGAIN,
  type NotificationDecision,
  type StepState,
} from './notification-decision.js';
import type { NotificationEvents } from './notification-events.js';
import {
  labelsOf,
  type NotificationStore,
  type SeenMessage,
  type StoredNotification,
  type StoredPlan,
  type StoredStep,
} from './notification-store.js';

/** Notifications of one transaction. */
const AT_ONCE = 200;
/** Milliseconds for which a process that asks the policies about a next step has it to itself. */
const CLAIMED = 10_000;
/** Wait until a message that another transaction has locked is looked at again. */
const LOCKED_AGAIN = 500;
/** First and longest wait of a notification that fails, doubled each time. */
const FAILED_AGAIN = 1_000;
const FAILED_MOST = 300_000;
/** Failing notifications that are remembered. */
const MOST_FAILING = 10_000;

type Seen = ReadonlyMap<string, SeenMessage>;

/** The next message that policy allows, after the steps that it denied; without one, all are. */
interface Candidate {
  readonly denied: readonly StoredStep[];
  readonly batch: NewBatch | undefined;
  readonly left: StoredPlan | null;
}

interface Change {
  readonly before: StoredNotification;
  readonly row: StoredNotification;
  /** Batches to cancel, if nothing of them has started. */
  readonly stop?: readonly string[];
  /** Without the cancel of this batch, the notification stays as it was and is looked at again. */
  readonly onlyIfStopped?: string | undefined;
  readonly begin?: NewBatch | undefined;
  readonly events?: readonly NotificationChange[];
}

/** Result of a transaction. */
interface Round {
  readonly stopped: readonly Stopped[];
  readonly begun: readonly NewBatch[];
  /** Of messages that the spend guard refused. */
  readonly rejected: readonly StatusChange[];
  readonly events: readonly NotificationChange[];
}

/**
 * Ends notifications and begins their next steps, many in one transaction, which has the rows of
 * the notifications locked: of several processes one sees a notification at a time, and a crash
 * leaves it as it was before. Policies are asked between two transactions, the second of which
 * decides again. After an error each notification is looked at by itself: one that fails, as where a
 * listener throws for it, waits, and holds up no other one.
 */
export class NotificationRunner {
  readonly #logger = new Logger('Notifications');
  #running: Promise<void> | undefined;
  #again = false;
  /** How often a notification has failed since it last succeeded. */
  readonly #failures = new Map<string, number>();
  /** Aborts at the stop; `undefined`: this process runs no jobs. */
  #signal: AbortSignal | undefined;

  constructor(
    private readonly store: MessageStore,
    private readonly notifications: NotificationStore,
    private readonly enqueuer: Enqueuer,
    private readonly clock: Clock,
    private readonly holds: Pick<HoldWatch, 'of'>,
    private readonly events: NotificationEvents,
    /** Milliseconds. */
    private readonly giveUpAfter: number,
  ) {}

  /** Runs the due notifications soon, after a status that ended a step. Never throws. */
  wake(): void {
    if (!this.#signal || this.#signal.aborted) return;
    this.run().catch((error: unknown) =>
      this.#logger.error(
        `notifications could not be processed; retrying: ${(error as Error).name}`,
      ),
    );
  }

  /** Looks at all that is due; a call during a run has it look again. From now on wakes do, too. */
  run(signal = this.#signal): Promise<void> {
    this.#signal = signal;
    this.#again = true;
    this.#running ??= this.#runAll().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async idle(): Promise<void> {
    await this.#running?.catch(() => undefined);
  }

  async #runAll(): Promise<void> {
    while (this.#again && !this.#signal?.aborted) {
      this.#again = false;
      if ((await this.#round()) === AT_ONCE) this.#again = true;
    }
  }

  /** @returns the number of notifications that were due, at most {@link AT_ONCE} */
  async #round(): Promise<number> {
    const { database } = this.store;
    const lockDue = (tx: Transaction) => this.notifications.lockDue(tx, this.clock.now(), AT_ONCE);
    try {
      return await this.#look(lockDue);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      const due = await database.transaction(lockDue);
      for (const { id } of due) {
        if (this.#signal?.aborted) break;
        await this.#alone(id, () => this.#look((tx) => this.#lockIfDue(tx, id)));
      }
      return due.length;
    }
  }

  /** @returns the number of notifications that were due */
  async #look(lockDue: (tx: Transaction) => Promise<StoredNotification[]>): Promise<number> {
    const first = await this.store.database.transaction(async (tx) =>
      this.#decideDue(tx, await lockDue(tx)),
    );
    this.#publish(first);
    const { claimed, found } = first;
    this.#succeeded(found.filter((row) => !claimed.includes(row)));
    try {
      await this.#beginNext(claimed);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      for (const row of claimed) await this.#alone(row.id, () => this.#beginNext([row]));
    }
    return found.length;
  }

  async #beginNext(claimed: readonly StoredNotification[]): Promise<void> {
    if (claimed.length === 0) return;
    const candidates = await this.#candidates(claimed);
    this.#publish(await this.store.database.transaction((tx) => this.#begin(tx, candidates)));
    this.#succeeded(claimed);
  }

  /** Another process may have looked at it meanwhile. */
  async #lockIfDue(tx: Transaction, id: string): Promise<StoredNotification[]> {
    const rows = await this.notifications.lock(tx, [id]);
    return rows.filter(({ dueAt }) => dueAt !== null && dueAt <= this.clock.now());
  }

  /** A notification for which `work` fails is due again after a wait. */
  async #alone(id: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (isUnavailable(error)) throw error;
      const failures = (this.#failures.get(id) ?? 0) + 1;
      const [oldest] = this.#failures.keys();
      if (this.#failures.size >= MOST_FAILING) this.#failures.delete(oldest!);
      this.#failures.set(id, failures);
      if (failures === 1)
        this.#logger.error(
          `the notification ${id} could not be processed; retrying: ${(error as Error).name}`,
        );
      const dueAt = this.clock.now() + doubledWait(FAILED_AGAIN, failures - 1, FAILED_MOST);
      await this.store.database.transaction(async (tx) => {
        const rows = await this.notifications.lock(tx, [id]);
        await this.notifications.update(
          tx,
          rows.flatMap((row) => (row.dueAt === null ? [] : { ...row, dueAt })),
        );
      });
    }
  }

  #succeeded(rows: readonly StoredNotification[]): void {
    if (this.#failures.size > 0) for (const { id } of rows) this.#failures.delete(id);
  }

  /** Decides the notifications that need no policy, and claims the rest. */
  async #decideDue(tx: Transaction, due: StoredNotification[]) {
    const now = this.clock.now();
    const seen = await this.notifications.messages(tx, due);
    const claimed: StoredNotification[] = [];
    const changes = due.map((row): Change => {
      const decision = this.#decide(row, seen, now);
      if (decision.kind !== 'next') return this.#settled(row, row, decision, seen, now);
      claimed.push(row);
      return { before: row, row: { ...row, dueAt: now + CLAIMED } };
    });
    return { ...(await this.#apply(tx, changes, now)), claimed, found: due };
  }

  /** Begins next steps, where they are still to begin. */
  async #begin(tx: Transaction, candidates: ReadonlyMap<string, Candidate>): Promise<Round> {
    const now = this.clock.now();
    const rows = await this.notifications.lock(tx, [...candidates.keys()]);
    const seen = await this.notifications.messages(tx, rows);
    const changes = rows.flatMap((row): Change | readonly [] => {
      const decision = this.#decide(row, seen, now);
      if (decision.kind !== 'next') return this.#settled(row, row, decision, seen, now);
      const candidate = candidates.get(row.id)!;
      // Another process has begun the step that the policies were asked about.
      return isOf(row, candidate) ? this.#next(row, decision, candidate, seen, now) : [];
    });
    return this.#apply(tx, changes, now);
  }

  /** Asks the policies about the next messages, and about those after denied ones. */
  async #candidates(
    claimed: readonly StoredNotification[],
  ): Promise<ReadonlyMap<string, Candidate>> {
    const found = new Map<string, Candidate>();
    let asked = claimed.map((row) => ({ row, denied: [] as StoredStep[], plan: row.plan! }));
    while (asked.length > 0) {
      const next = asked.map(({ row, plan }) => nextOf(row, plan, this.clock));
      const denials = await this.enqueuer.denialsOf(next.map(({ batch }) => batch));
      const again: typeof asked = [];
      for (const [index, { row, denied }] of asked.entries()) {
        const { batch, left } = next[index]!;
        const denial = denials[index];
        const step = { channel: batch.channel, denied: true, code: denial?.code } as const;
        const all = denial ? [...denied, step as StoredStep] : denied;
        if (denial && left) again.push({ row, denied: all, plan: left });
        else found.set(row.id, { denied: all, batch: denial ? undefined : batch, left });
      }
      asked = again;
    }
    return found;
  }

  #decide(row: StoredNotification, seen: Seen, now: number): NotificationDecision {
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

  #settled(
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

  #next(
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
    const decision = this.#decide(whole, nowSeen, now);
    // A step that has just begun waits, and no step begins where policy denied them all.
    if (decision.kind === 'next') throw new Error('a step fell back at its start');
    const change = this.#settled(row, whole, decision, nowSeen, now);
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

  /** Cancels first: where that fails, no step begins. */
  async #apply(tx: Transaction, changes: readonly Change[], now: number): Promise<Round> {
    const stop = changes.flatMap((change) => change.stop ?? []);
    const moving = changes.filter(({ stop = [], begin }) => stop.length > 0 || begin);
    // A cancel and an acceptance change the accounts of several tenants.
    await this.store.newBatches.guardTogether(
      tx,
      moving.map(({ row }) => row.tenant),
    );
    const stopped = await this.store.batches.cancelQueued(tx, stop);
    const stoppedIds = new Set(stopped.map(({ rest }) => rest.id));
    const isDone = ({ onlyIfStopped: batch }: Change) =>
      batch === undefined || stoppedIds.has(batch);
    const done = changes.filter(isDone);
    const begun = done.flatMap(({ begin }) => begin ?? []);
    await this.notifications.update(
      tx,
      changes.map((change) =>
        isDone(change) ? change.row : { ...change.before, dueAt: now + LOCKED_AGAIN },
      ),
    );
    // A message that the spend guard refuses is rejected, which makes its notification due again.
    const rejected = await this.enqueuer.storeWithin(tx, begun, 'stored');
    const events = done.flatMap((change) => change.events ?? []);
    await this.events.record(tx, events);
    return { stopped, begun, rejected, events };
  }

  #publish({ stopped, begun, rejected, events }: Round): void {
    this.store.batches.publish(stopped);
    for (const batch of begun) this.enqueuer.begin(batch);
    this.store.newBatches.publish({ changes: rejected });
    this.events.publish(events);
  }
}

const DENIED: FallbackReason = 'denied';

/** A message that has just been accepted. */
const QUEUED: SeenMessage = { state: 'queued', lane: '', status: 'queued', code: null };

function begunOf({ steps }: Pick<StoredNotification, 'steps'>) {
  return steps.flatMap((step) => (step.at === undefined ? [] : [{ ...step, at: step.at }]));
}

/** Whether the candidate is the next step of the row as it is now. */
function isOf({ plan }: StoredNotification, { denied, batch, left }: Candidate): boolean {
  const taken = denied.length + (batch ? 1 : 0);
  return plan?.messages.length === taken + (left?.messages.length ?? 0);
}

/** The batch of the next message, and the plan without it. */
function nextOf({ id, tenant }: StoredNotification, plan: StoredPlan, clock: Clock) {
  const [message, ...messages] = plan.messages;
  const now = clock.now();
  const left = messages.length > 0 ? { ...plan, messages } : null;
  const batch: NewBatch = {
    ...message!,
    id: clock.id(),
    tenant,
    denied: [],
    createdAt: now,
    sendAt: null,
    validFor: validForOf(plan, left !== null, now),
    idempotencyKey: null,
    fingerprint: null,
    notification: id,
  };
  return { batch, left };
}

/**
 * Longest wait of a message until it starts: a message that another channel takes over from must
 * not start later.
 */
export function validForOf(
  { after, until }: Pick<StoredPlan, 'after' | 'until'>,
  hasNext: boolean,
  from: number,
): number | null {
  const limits = [hasNext ? after : null, until === null ? null : Math.max(1, until - from)];
  const least = Math.min(...limits.map((limit) => limit ?? Infinity));
  return least === Infinity ? null : least;
}

function seenStep(step: StoredStep, seen: Seen): StoredStep {
  const message = step.batch === undefined || step.stopped ? undefined : seen.get(step.batch);
  return message ? { ...step, status: message.status, code: message.code } : step;
}
