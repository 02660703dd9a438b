import { messageIdOf, submissionIdOf } from '../../message/ids.js';
import { STATUS_RANK } from '../../message/status.js';
import type { Clock } from '../../ports/clock.js';
import { ConcurrentChangeError, fastOrSlow } from '../database/concurrent-change.error.js';
import { isUnavailable } from '../database/database-errors.js';
import { GroupCommit } from '../database/group-commit.js';
import type { Sql, StoreDatabase, Transaction } from '../database/store-database.js';
import { LARGE_BATCH } from '../rows/batch-counts.js';
import { BATCH_STATE } from '../rows/batch-state.js';
import {
  acceptedChanges,
  detailsOfOutcome,
  inLockOrder,
  isPlain,
  type Outcome,
  type OutcomeOf,
  type PlainOutcome,
  reasonOf,
  referenceOf,
  setsBack,
} from '../rows/outcome.js';
import { changeEntry, detailsOf, type LogEntry } from '../rows/received-report.js';
import { announce, type LockedMessage, raise, type StatusChange } from '../rows/status.js';
import type { BatchCompletion, CompletedBatch } from '../upkeep/completion.js';
import type { SettleFastPath } from '../store.js';
import type { StoreListeners } from '../store-listeners.js';
import { ALL, type BatchDeferral, type SetBack, statementsFor } from './settle-statements.js';
import type { StatusWriter } from './status-writer.js';

/** Event of a message that the provider refuses for now. */
const DELAYED = 'delayed';

interface SubmittedMessage extends LockedMessage {
  readonly submission: number;
}

/** Locked messages by submission. */
type LockedMessages = ReadonlyMap<string, readonly SubmittedMessage[]>;

interface Settled {
  readonly changes: readonly StatusChange[];
  readonly completed: readonly CompletedBatch[];
  /** Some rows were not as assumed: the slow path records all outcomes again. */
  readonly isMissed?: boolean;
}

/** An outcome that sets its messages, or some of them, back to `queued`. */
type SettingBack = OutcomeOf<'refused' | 'withdrawn' | 'accepted'>;

interface SortedOutcomes {
  /** Outcomes that raise the status of their messages. */
  readonly facts: readonly Outcome[];
  readonly setBacks: readonly SettingBack[];
  readonly cancelled: ReadonlySet<string>;
}

/**
 * Records the outcomes of submits, many per commit: `sending → sent | rejected | failed | unknown`,
 * and the only step back, `sending → queued`, after a definite refusal.
 */
export class OutcomeRecorder {
  readonly #group: GroupCommit<Outcome, void>;
  readonly #sql: ReturnType<typeof statementsFor>;
  #learning = Promise.resolve();
  /** Number of requests under way; each will have an outcome. */
  #expected = 0;

  constructor(
    private readonly database: StoreDatabase,
    private readonly writer: StatusWriter,
    private readonly completion: BatchCompletion,
    private readonly clock: Clock,
    private readonly listeners: Pick<StoreListeners, 'learnt'>,
    private readonly onReferences: (references: readonly string[]) => Promise<void>,
  ) {
    this.#sql = statementsFor(database.dialect);
    this.#group = new GroupCommit((take) => this.#flush(take), {
      maxItems: 2_000,
      weight: ({ firstPosition, lastPosition }) => 1 + (lastPosition - firstPosition) / 2,
      // A listener may throw any error.
      isItemError: (error) => !isUnavailable(error),
      gather: { items: 1_000, milliseconds: 30, silence: 3, expecting: () => this.#expected > 0 },
    });
  }

  /** Expected outcomes can share a commit; a negative number withdraws some. */
  expect(more: number): void {
    this.#expected += more;
  }

  /** Resolves after the commit. */
  record(outcome: Outcome): Promise<void> {
    return this.#group.add(outcome);
  }

  async idle(): Promise<void> {
    await this.#group.idle();
    await this.#learning;
  }

  async #flush(take: () => readonly Outcome[]): Promise<void[]> {
    await this.#settle(take);
    const references = take().flatMap((outcome) => {
      const reference = referenceOf(outcome);
      return [
        ...(reference === undefined ? [] : [reference]),
        ...((outcome.result === 'accepted' && outcome.messageIds?.values()) || []),
      ];
    });
    // A failure here is harmless: the sweep matches the reports that still wait.
    if (references.length > 0) void this.onReferences(references).catch(() => undefined);
    const learnt = take().flatMap((outcome) =>
      outcome.result === 'accepted' ? (outcome.learnt ?? []) : [],
    );
    // Where the process dies before, the next answer says it again.
    if (learnt.length > 0) {
      const before = this.#learning;
      this.#learning = this.listeners.learnt(learnt).then(() => before);
    }
    return take().map(() => undefined);
  }

  async #settle(take: () => readonly Outcome[]): Promise<void> {
    const at = this.clock.now() * 1_000;
    const { settle } = this.database.fastPaths;
    const slow = (outcomes: () => readonly Outcome[]) =>
      this.database.transaction((tx) => this.#slow(tx, outcomes(), at));
    const settled = await fastOrSlow(settle && (() => this.#fast(settle, take, at)), () =>
      slow(take),
    );
    this.#publish(settled);
    if (settled.isMissed) this.#publish(await slow(take));
  }

  #fast(settle: SettleFastPath, take: () => readonly Outcome[], at: number): Promise<Settled> {
    const { channels } = this.database;
    const pollAt = at + this.completion.pollAfter * 1_000;
    const work = async (sql: Sql, tx?: Transaction): Promise<Settled> => {
      const outcomes = take();
      if (!outcomes.every(isPlain) || outcomes.some((one) => this.#isSpecial(one)))
        throw new ConcurrentChangeError();
      const others = outcomes.filter(({ intended }) => !intended.whole);
      // Another submission may complete its batch: only a transaction can look for it.
      if (others.length > 0 && !tx) return this.database.transaction((own) => work(own, own));
      const accepted = outcomes.toSorted(inLockOrder).map((outcome) => {
        const status = channels.acceptedRankOf(outcome.intended.submission.channel);
        return { outcome, status, at, pollAt };
      });
      const changed = await settle(sql, accepted);
      if (changed && tx) throw new ConcurrentChangeError();
      const changes = accepted.flatMap(acceptedChanges);
      const whole = outcomes.filter(({ intended }) => intended.whole).map(batchOf);
      if (tx) {
        await this.writer.notify(tx, changes);
        const completed = [...whole, ...(await this.#complete(tx, others, at))];
        await this.writer.guard(tx, changes);
        return { changes, completed };
      }
      if (!changed) return { changes, completed: whole };
      return {
        changes: changes.filter(({ message }) =>
          changed.raised.has(messageIdOf(message.batch, message.position)),
        ),
        completed: whole.filter(({ id }) => changed.completed.has(id)),
        isMissed: true,
      };
    };
    return this.writer.run(work);
  }

  #complete(tx: Transaction, outcomes: readonly Outcome[], at: number): Promise<CompletedBatch[]> {
    const unknown = outcomes.flatMap(({ batch, result }) => (result === 'unknown' ? [batch] : []));
    const batches = outcomes.map(({ batch }) => batch);
    return this.completion.after(tx, batches, at, new Set(unknown));
  }

  #publish({ changes, completed }: Settled): void {
    this.writer.publish(changes);
    this.completion.publish(completed);
  }

  /** All kinds of outcomes; locks batches, submissions, messages, in this order. `at`: epoch µs. */
  async #slow(tx: Transaction, outcomes: readonly Outcome[], at: number): Promise<Settled> {
    const { facts, setBacks, cancelled } = await this.#sort(tx, outcomes);
    const locked = await this.#close(tx, [...new Set([...facts, ...setBacks])], at);
    await this.#sql.countTries(
      tx,
      facts.flatMap((one) => {
        if (one.result === 'accepted' || one.result === 'refused') return [];
        const { attempts } = one;
        return attempts === undefined ? [] : [{ ...one, attempts }];
      }),
    );
    const changes = await this.#raise(tx, facts, locked, { cancelled, setBacks }, at);
    if (setBacks.length > 0) changes.push(...(await this.#setBack(tx, setBacks, locked, at)));
    const completed = await this.#complete(tx, outcomes, at);
    await this.writer.guard(tx, changes);
    return { changes, completed };
  }

  /**
   * Setting back is a plan to send again, not a fact from the provider: it is dropped where another
   * holder has taken over the submission; in a cancelled batch it cancels the messages.
   */
  async #sort(tx: Transaction, outcomes: readonly Outcome[]): Promise<SortedOutcomes> {
    const facts = outcomes.filter((outcome) => !isPlan(outcome));
    const cancelled = new Set<string>();
    const plans = outcomes.filter(setsBack);
    if (plans.length === 0) return { facts, setBacks: [], cancelled };
    const { lockBatches, ids, lockSubmissions, keys } = this.#sql;
    const batches = [...new Set(plans.map(({ batch }) => batch))];
    for (const { id, state } of await tx.all<{ id: string; state: number }>(
      lockBatches,
      ids.bind(batches),
    ))
      if (state === BATCH_STATE.cancelled) cancelled.add(id);
    const rows = await tx.all<{ batch: string; n: number; fence: string | number }>(
      lockSubmissions,
      keys.bind(plans),
    );
    const fences = new Map(rows.map((row) => [keyOf(row), Number(row.fence)]));
    const setBacks: SettingBack[] = [];
    for (const plan of plans)
      if (fences.get(keyOf(plan)) !== plan.fence) continue;
      else if (!isExhausted(plan) && !cancelled.has(plan.batch)) setBacks.push(plan);
      else if (isPlan(plan)) facts.push(plan);
    return { facts, setBacks, cancelled };
  }

  async #close(tx: Transaction, outcomes: readonly Outcome[], at: number): Promise<LockedMessages> {
    const locked = new Map<string, SubmittedMessage[]>();
    if (outcomes.length === 0) return locked;
    const { submissions, closeSubmissions, lockMessages } = this.#sql;
    const rows = submissions.bind(oneOfEach(outcomes).map((outcome) => ({ outcome, at })));
    await tx.run(closeSubmissions, rows);
    for (const message of await tx.all<SubmittedMessage>(lockMessages, rows)) {
      const key = submissionIdOf(message.batch, message.submission);
      const others = locked.get(key);
      if (others) others.push(message);
      else locked.set(key, [message]);
    }
    return locked;
  }

  async #raise(
    tx: Transaction,
    outcomes: readonly Outcome[],
    locked: LockedMessages,
    { cancelled, setBacks }: Pick<SortedOutcomes, 'cancelled' | 'setBacks'>,
    at: number,
  ): Promise<StatusChange[]> {
    const changes: StatusChange[] = [];
    const log: LogEntry[] = [];
    const named: LockedMessage[] = [];
    const returning = new Set<Outcome>(setBacks);
    for (const outcome of outcomes) {
      const { provider } = outcome;
      const acceptance = outcome.result === 'accepted' ? outcome : undefined;
      const origin = { provider, reference: referenceOf(outcome), rawStatus: 'submit' };
      for (const message of locked.get(keyOf(outcome)) ?? []) {
        const messageId = acceptance?.messageIds?.get(message.position);
        if (messageId) {
          message.reference = messageId;
          named.push(message);
        }
        const returned = acceptance?.returned?.get(message.position);
        if (returned !== undefined && returning.has(outcome)) continue;
        const rejection = acceptance?.rejected?.get(message.position) ?? returned;
        const rank = rejection
          ? STATUS_RANK.rejected
          : this.#rankOf(outcome, message.channel, cancelled.has(outcome.batch));
        if (rank === undefined) continue;
        const raised = raise(message, rank, at, rejection ?? reasonOf(outcome).errorCode ?? null);
        if (!raised) continue;
        const change = { ...withDetails(raised, outcome), provider };
        changes.push(change);
        // Without a hash: a submit raises a status only once. A cancellation is no report.
        if (change.sequence > 0 && rank !== STATUS_RANK.cancelled)
          log.push(changeEntry(change, { ...origin, messageId }));
      }
    }
    // Listeners read the log in the transaction.
    await this.writer.log(tx, log);
    await this.writer.writeUnguarded(tx, changes, named);
    return changes;
  }

  /** @returns the event `delayed` of each refused message whose channel has it */
  async #setBack(
    tx: Transaction,
    outcomes: readonly SettingBack[],
    locked: LockedMessages,
    at: number,
  ): Promise<StatusChange[]> {
    const rows: SetBack[] = [];
    const delays: StatusChange[] = [];
    const log: LogEntry[] = [];
    // Only batches with a message to repeat: a plan would find no work in any other.
    const deferrals = new Map<string, BatchDeferral>();
    for (const outcome of outcomes)
      for (const message of locked.get(keyOf(outcome)) ?? []) {
        if (message.status !== STATUS_RANK.sending) continue;
        const row = setBackOf(outcome, message.position);
        if (!row) continue;
        rows.push(row);
        if (outcome.result === 'refused' && this.#isDelay(outcome, message)) {
          message.status = STATUS_RANK.queued;
          message.error_code = outcome.errorCode;
          const event = announce(message, DELAYED, at, message.error_code);
          const delay = withDetails(event, outcome);
          delays.push(delay);
          log.push(changeEntry(delay, { provider: outcome.provider, rawStatus: DELAYED }));
        }
        const { batch } = outcome;
        const { wait = 0, messages = 0 } = deferrals.get(batch) ?? {};
        const batchWait = outcome.result === 'withdrawn' ? outcome.deferBatchFor : 0;
        deferrals.set(batch, {
          batch,
          wait: Math.max(wait, batchWait, row.deferFor),
          messages: batchWait > 0 ? ALL : messages + 1,
        });
      }
    await this.#sql.setBack(tx, rows);
    await this.#sql.reopenBatches(tx, [...deferrals.values()]);
    await this.writer.writeUnguarded(tx, delays);
    await this.writer.log(tx, log);
    return delays;
  }

  /**
   * Whether an event may have taken the first number of the messages' changes, their acceptance may
   * end a step of a notification, or the counts of their batch are stored.
   */
  #isSpecial({ intended: { submission, whole } }: PlainOutcome): boolean {
    const { channels } = this.database;
    if (whole && submission.recipients.length > LARGE_BATCH) return true;
    const { events = [], accepted = '' } = channels.find(submission.channel) ?? {};
    return (submission.attempt > 1 && events.length > 0) || channels.isTerminal(accepted);
  }

  #hasDelays(channel: string): boolean {
    return this.database.channels.find(channel)?.events?.includes(DELAYED) ?? false;
  }

  /** The first refusal of this message alone. */
  #isDelay({ deferred }: OutcomeOf<'refused'>, { channel, sequence }: LockedMessage): boolean {
    return deferred && sequence === 0 && this.#hasDelays(channel);
  }

  /** `undefined`: the rank does not change. */
  #rankOf(outcome: Outcome, channel: string, cancelled: boolean): number | undefined {
    const { channels } = this.database;
    switch (outcome.result) {
      case 'accepted':
        return channels.acceptedRankOf(channel);
      case 'rejected':
        return (
          (channels.isReported(outcome.status) && channels.rankOf(outcome.status)) ||
          STATUS_RANK.rejected
        );
      case 'unknown':
        return STATUS_RANK.unknown;
      case 'expired':
        return STATUS_RANK.expired;
      case 'refused':
        if (outcome.exhausted) return STATUS_RANK.failed;
        return cancelled ? STATUS_RANK.cancelled : undefined;
      case 'cancelled':
        return STATUS_RANK.cancelled;
      case 'withdrawn':
        return cancelled ? STATUS_RANK.cancelled : undefined;
    }
  }
}

/** Adds the details of a refusal; those of an acceptance belong to its submission. */
function withDetails(change: StatusChange, outcome: Outcome): StatusChange {
  const details = outcome.result === 'accepted' ? undefined : detailsOfOutcome(outcome);
  return details ? { ...change, details: detailsOf(details) } : change;
}

/** @returns `undefined` for a message that stays with the provider */
function setBackOf(outcome: SettingBack, position: number): SetBack | undefined {
  const { batch } = outcome;
  switch (outcome.result) {
    case 'refused': {
      const { errorCode, countedFailures, refusedBy, deferFor } = outcome;
      return { batch, position, errorCode, countedFailures, refusedBy, deferFor };
    }
    case 'accepted': {
      const errorCode = outcome.returned?.get(position);
      const { refusedBy } = outcome;
      return errorCode === undefined
        ? undefined
        : { batch, position, errorCode, refusedBy, deferFor: 0 };
    }
    case 'withdrawn':
      return { batch, position, attempts: outcome.attempts, deferFor: 0 };
  }
}

function isExhausted(outcome: SettingBack): boolean {
  return outcome.result === 'refused' && outcome.exhausted;
}

function batchOf({ batch, intended: { submission } }: PlainOutcome): CompletedBatch {
  return { id: batch, tenant: submission.tenant, channel: submission.channel };
}

/** `failed` without further attempts is a plan, too: not to send again. */
function isPlan({ result }: Outcome): boolean {
  return result === 'withdrawn' || result === 'refused';
}

/** An acceptance wins over an unknown outcome, because it has the reference. */
function oneOfEach(outcomes: readonly Outcome[]): Outcome[] {
  const bySubmission = new Map<string, Outcome>();
  for (const outcome of outcomes) {
    const key = keyOf(outcome);
    if (outcome.result === 'accepted' || !bySubmission.has(key)) bySubmission.set(key, outcome);
  }
  return [...bySubmission.values()];
}

function keyOf({ batch, n }: { readonly batch: string; readonly n: number }): string {
  return submissionIdOf(batch, n);
}
