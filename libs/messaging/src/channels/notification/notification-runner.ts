import { Logger } from '@nestjs/common';
import { keepNewest } from '../../message/keep-newest.js';
import type { NotificationChange } from '../../message/events.js';
import { doubledWait } from '../../message/doubled-wait.js';
import type { Clock } from '../../ports/clock.js';
import { isUnavailable } from '../../store/database/database-errors.js';
import type { Transaction } from '../../store/database/store-database.js';
import type { MessageStore } from '../../store/message-store.js';
import type { NewBatch } from '../../store/rows/new-batch.js';
import type { StatusChange } from '../../store/rows/status.js';
import type { Stopped } from '../../store/verbs/cancel.js';
import type { Enqueuer } from '../enqueuer.js';
import type { Candidate, Change, NotificationChanges } from './notification-changes.js';
import type { NotificationEvents } from './notification-events.js';
import type {
  NotificationStore,
  StoredNotification,
  StoredPlan,
  StoredStep,
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
    private readonly changes: NotificationChanges,
    private readonly events: NotificationEvents,
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
      this.#failures.set(id, failures);
      keepNewest(this.#failures, MOST_FAILING);
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
      const decision = this.changes.decide(row, seen, now);
      if (decision.kind !== 'next') return this.changes.settled(row, row, decision, seen, now);
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
      const decision = this.changes.decide(row, seen, now);
      if (decision.kind !== 'next') return this.changes.settled(row, row, decision, seen, now);
      const candidate = candidates.get(row.id)!;
      // Another process has begun the step that the policies were asked about.
      return isOf(row, candidate) ? this.changes.next(row, decision, candidate, seen, now) : [];
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
