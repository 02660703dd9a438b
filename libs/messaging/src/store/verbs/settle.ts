import { STATUS_RANK } from '../../message/status.js';
import type { Clock } from '../../ports/clock.js';
import { ConcurrentChangeError, fastOrSlow } from '../database/concurrent-change.error.js';
import { isUnavailable } from '../database/database-errors.js';
import { type Dialect, updater } from '../database/dialect.js';
import { GroupCommit } from '../database/group-commit.js';
import type { Sql, StoreDatabase, Transaction } from '../database/store-database.js';
import { BATCH_STATE, isUnderWay, setBack } from '../rows/batch-state.js';
import {
  acceptedChanges,
  inLockOrder,
  isPlain,
  OUTCOME,
  type Outcome,
  type PlainOutcome,
  SUBMISSION_OUTCOME,
} from '../rows/outcome.js';
import { changeEntry, detailsOf, type LogEntry } from '../rows/received-report.js';
import {
  announce,
  HELD_COLUMNS,
  type HeldMessage,
  raise,
  type StatusChange,
} from '../rows/status.js';
import type { BatchCompletion, CompletedBatch } from '../upkeep/completion.js';
import type { SettleFastPath } from '../store.js';
import type { StatusWriter } from './status-writer.js';

/** Event of a message that the provider refuses for now. */
const DELAYED = 'delayed';

interface SubmittedMessage extends HeldMessage {
  readonly submission: number;
}

/** Locked messages by submission. */
type HeldMessages = ReadonlyMap<string, readonly SubmittedMessage[]>;

interface Settled {
  readonly changes: readonly StatusChange[];
  readonly completed: readonly CompletedBatch[];
  /** Some rows were not as assumed: the slow path records all outcomes again. */
  readonly isMissed?: boolean;
}

interface SortedOutcomes {
  /** Outcomes that raise the status of their messages. */
  readonly facts: readonly Outcome[];
  /** Outcomes that set their messages back to `queued`. */
  readonly setBacks: readonly Outcome[];
  readonly cancelled: ReadonlySet<string>;
}

/**
 * Records the outcomes of submits, many per commit: `sending → sent | rejected | failed | unknown`,
 * and the only step back, `sending → queued`, after a definite refusal.
 */
export class OutcomeRecorder {
  readonly #group: GroupCommit<Outcome, void>;
  readonly #sql: ReturnType<typeof statementsFor>;
  /** Number of requests under way; each will have an outcome. */
  #expected = 0;

  constructor(
    private readonly database: StoreDatabase,
    private readonly writer: StatusWriter,
    private readonly completion: BatchCompletion,
    private readonly clock: Clock,
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

  idle(): Promise<void> {
    return this.#group.idle();
  }

  async #flush(take: () => readonly Outcome[]): Promise<void[]> {
    await this.#settle(take);
    const references = take().flatMap(({ reference, messageIds }) => [
      ...(reference === undefined ? [] : [reference]),
      ...(messageIds?.values() ?? []),
    ]);
    // A failure here is harmless: the sweep matches the reports that still wait.
    if (references.length > 0) void this.onReferences(references).catch(() => undefined);
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
      if (!outcomes.every(isPlain) || outcomes.some((one) => this.#isAnnounced(one)))
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
        return { changes, completed: [...whole, ...(await this.#complete(tx, others, at))] };
      }
      if (!changed) return { changes, completed: whole };
      return {
        changes: changes.filter(({ message }) =>
          changed.raised.has(`${message.batch}-${message.position}`),
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
    const held = await this.#close(tx, [...facts, ...setBacks], at);
    const changes = await this.#raise(tx, facts, held, cancelled, at);
    if (setBacks.length > 0) changes.push(...(await this.#setBack(tx, setBacks, held, at)));
    const completed = await this.#complete(tx, outcomes, at);
    return { changes, completed };
  }

  /**
   * Setting back is a plan to send again, not a fact from the provider: it is dropped where another
   * holder has taken over the submission; in a cancelled batch it cancels the messages.
   */
  async #sort(tx: Transaction, outcomes: readonly Outcome[]): Promise<SortedOutcomes> {
    const facts = outcomes.filter((outcome) => !isPlan(outcome));
    const cancelled = new Set<string>();
    if (facts.length === outcomes.length) return { facts, setBacks: [], cancelled };
    const plans = outcomes.filter(isPlan);
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
    const setBacks: Outcome[] = [];
    for (const plan of plans)
      if (fences.get(keyOf(plan)) === plan.fence)
        (plan.exhausted || cancelled.has(plan.batch) ? facts : setBacks).push(plan);
    return { facts, setBacks, cancelled };
  }

  async #close(tx: Transaction, outcomes: readonly Outcome[], at: number): Promise<HeldMessages> {
    const held = new Map<string, SubmittedMessage[]>();
    if (outcomes.length === 0) return held;
    const { submissions, closeSubmissions, lockMessages } = this.#sql;
    const rows = submissions.bind(oneOfEach(outcomes).map((outcome) => ({ outcome, at })));
    await tx.run(closeSubmissions, rows);
    for (const message of await tx.all<SubmittedMessage>(lockMessages, rows)) {
      const key = keyOf({ batch: message.batch, n: message.submission });
      const others = held.get(key);
      if (others) others.push(message);
      else held.set(key, [message]);
    }
    return held;
  }

  async #raise(
    tx: Transaction,
    outcomes: readonly Outcome[],
    held: HeldMessages,
    cancelled: ReadonlySet<string>,
    at: number,
  ): Promise<StatusChange[]> {
    const changes: StatusChange[] = [];
    const log: LogEntry[] = [];
    const named: HeldMessage[] = [];
    for (const outcome of outcomes) {
      const { provider, reference } = outcome;
      const origin = { provider, reference, rawStatus: 'submit' };
      for (const message of held.get(keyOf(outcome)) ?? []) {
        const messageId = outcome.messageIds?.get(message.position);
        if (messageId) {
          message.reference = messageId;
          named.push(message);
        }
        const rejection = outcome.rejected?.get(message.position);
        const rank = rejection
          ? STATUS_RANK.rejected
          : this.#rankOf(outcome, message.channel, cancelled.has(outcome.batch));
        if (rank === undefined) continue;
        const raised = raise(message, rank, at, rejection ?? outcome.errorCode ?? null);
        if (!raised) continue;
        const change = withDetails(raised, outcome);
        changes.push(change);
        // Without a hash: a submit raises a status only once. A cancellation is no report.
        if (change.sequence > 0 && rank !== STATUS_RANK.cancelled)
          log.push(changeEntry(change, { ...origin, messageId }));
      }
    }
    // Listeners read the log in the transaction.
    await this.writer.log(tx, log);
    await this.writer.write(tx, changes, named);
    return changes;
  }

  /** @returns the event `delayed` of each refused message whose channel has it */
  async #setBack(
    tx: Transaction,
    outcomes: readonly Outcome[],
    held: HeldMessages,
    at: number,
  ): Promise<StatusChange[]> {
    const rows: SetBack[] = [];
    const delays: StatusChange[] = [];
    const log: LogEntry[] = [];
    // Only batches with a message to repeat are parked: a plan would find no work in any other.
    const parks = new Map<string, number>();
    for (const outcome of outcomes)
      for (const message of held.get(keyOf(outcome)) ?? []) {
        if (message.status !== STATUS_RANK.sending) continue;
        const { batch, parkFor = 0 } = outcome;
        rows.push({ outcome, position: message.position });
        if (this.#isDelay(outcome, message)) {
          message.status = STATUS_RANK.queued;
          message.error_code = outcome.errorCode ?? null;
          const event = announce(message, DELAYED, at, message.error_code);
          const delay = withDetails(event, outcome);
          delays.push(delay);
          log.push(changeEntry(delay, { provider: outcome.provider, rawStatus: DELAYED }));
        }
        parks.set(batch, Math.max(parks.get(batch) ?? 0, parkFor));
      }
    await this.#sql.setBack(tx, rows);
    await this.#sql.reopenBatches(tx, [...parks]);
    await this.writer.write(tx, delays);
    await this.writer.log(tx, log);
    return delays;
  }

  /** Whether an event may have taken the first number of the messages' changes. */
  #isAnnounced({ intended: { submission } }: PlainOutcome): boolean {
    const { events = [] } = this.database.channels.find(submission.channel) ?? {};
    return submission.attempt > 1 && events.length > 0;
  }

  #hasDelays(channel: string): boolean {
    return this.database.channels.find(channel)?.events?.includes(DELAYED) ?? false;
  }

  /** The first refusal of this message alone. */
  #isDelay({ deferFor }: Outcome, { channel, sequence }: HeldMessage): boolean {
    return deferFor !== undefined && sequence === 0 && this.#hasDelays(channel);
  }

  /** `undefined`: the rank does not change. */
  #rankOf(outcome: Outcome, channel: string, cancelled: boolean): number | undefined {
    const { result, exhausted, status } = outcome;
    const { channels } = this.database;
    switch (result) {
      case 'accepted':
        return channels.acceptedRankOf(channel);
      case 'rejected':
        return (channels.isReported(status) && channels.rankOf(status)) || STATUS_RANK.rejected;
      case 'unknown':
        return STATUS_RANK.unknown;
      case 'expired':
        return STATUS_RANK.expired;
      case 'refused':
        if (exhausted) return STATUS_RANK.failed;
        return cancelled ? STATUS_RANK.cancelled : undefined;
      case 'cancelled':
        return STATUS_RANK.cancelled;
      case 'withdrawn':
        return cancelled ? STATUS_RANK.cancelled : undefined;
    }
  }
}

/** Of a refusal; those of an acceptance belong to its submission. */
function withDetails(change: StatusChange, { result, details }: Outcome): StatusChange {
  return result === 'accepted' || !details ? change : { ...change, details: detailsOf(details) };
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
  return `${batch}-s${n}`;
}

interface SetBack {
  readonly outcome: Outcome;
  readonly position: number;
}

function statementsFor(dialect: Dialect) {
  const ids = dialect.rows<string>({ v_id: ['uuid', (id) => id] });
  const keys = dialect.rows<Outcome>({
    v_batch: ['uuid', ({ batch }) => batch],
    v_n: ['int', ({ n }) => n],
  });
  const submissions = dialect.rows<{ readonly outcome: Outcome; readonly at: number }>({
    ...OUTCOME,
    v_outcome: ['int', ({ outcome }) => SUBMISSION_OUTCOME[outcome.result]],
    v_error: ['key', ({ outcome }) => outcome.errorCode],
  });
  const key = dialect.forceIndex('PRIMARY');
  return {
    ids,
    keys,
    submissions,
    lockBatches: `SELECT b.id, b.state FROM ${ids.keyed}
      ${dialect.join} messaging_batch b ${key} ON b.id = v_id ORDER BY b.id ${dialect.forUpdate('b')}`,
    lockSubmissions: `SELECT s.batch, s.n, s.fence FROM ${keys.keyed}
      ${dialect.join} messaging_submission s ${key} ON s.batch = v_batch AND s.n = v_n
        AND ${dialect.residual('s.outcome IS NULL')}
      ORDER BY s.batch, s.n ${dialect.forUpdate('s')}`,
    closeSubmissions: dialect.updateFrom({
      table: 'messaging_submission',
      rows: submissions,
      set: `outcome = v_outcome, reference = coalesce(v_reference, messaging_submission.reference),
        error_code = v_error, details = v_details, finished_at = v_at`,
      where: `messaging_submission.batch = v_batch AND messaging_submission.n = v_n
        AND ${dialect.residual(`(messaging_submission.outcome IS NULL OR messaging_submission.outcome = ${SUBMISSION_OUTCOME.unknown})`)}`,
    }),
    lockMessages: `SELECT ${HELD_COLUMNS}, m.submission FROM ${submissions.keyed}
      ${dialect.join} messaging_message m ${key}
        ON m.batch = v_batch AND m.position BETWEEN v_first AND v_last AND m.submission = v_n
      JOIN messaging_batch b ${key} ON b.id = m.batch
      ORDER BY m.batch, m.position ${dialect.forUpdate('m')}`,
    setBack: updater<SetBack>(
      dialect,
      {
        v_batch: ['uuid', ({ outcome }) => outcome.batch],
        v_position: ['int', ({ position }) => position],
        v_attempt: ['int', ({ outcome }) => outcome.attempts],
        v_error: ['key', ({ outcome }) => outcome.errorCode],
        v_defer: ['bigint', ({ outcome }) => Math.round((outcome.deferFor ?? 0) * 1_000)],
      },
      {
        table: 'messaging_message',
        set: `status = ${STATUS_RANK.queued}, submission = NULL, error_code = v_error,
        attempt = coalesce(v_attempt, attempt),
        due_at = CASE WHEN v_defer > 0 THEN ${dialect.now} + v_defer END`,
        where: `messaging_message.batch = v_batch AND messaging_message.position = v_position
        AND ${dialect.residual(`messaging_message.status = ${STATUS_RANK.sending}`)}`,
      },
    ),
    // The new revision excludes the batch from slices that were planned before.
    reopenBatches: updater<[batch: string, parkFor: number]>(
      dialect,
      { v_id: ['uuid', ([id]) => id], v_park: ['bigint', ([, wait]) => Math.round(wait * 1_000)] },
      {
        table: 'messaging_batch',
        set: setBack(`CASE WHEN v_park > 0 THEN ${dialect.now} + v_park END`),
        where: `messaging_batch.id = v_id AND ${dialect.residual(isUnderWay('messaging_batch'))}`,
      },
    ),
  };
}
