import type { Clock } from '../../ports/clock.js';
import { ConcurrentChangeError } from '../database/concurrent-change.error.js';
import { isUnavailable } from '../database/database-errors.js';
import { GroupCommit } from '../database/group-commit.js';
import { isPlain, type Outcome, type PlainOutcome } from '../rows/outcome.js';
import { SlowSettle } from '../slow-path/settle.js';
import type { StatusChange } from '../rows/status.js';
import type { StatusWriter } from './status-writer.js';
import type { SettleContext } from '../store.js';
import type { StoreDatabase, Transaction } from '../database/store-database.js';
import type { BatchCompletion, CompletedBatch } from '../upkeep/completion.js';

/** Longest delay of an outcome for a shared commit, in milliseconds. */
const GATHER = 30;
/** Longest time since the last outcome, in milliseconds. */
const SILENCE = 3;
/** Largest number of outcomes in one commit. */
const GROUP = 1_000;

/** The result of one commit. */
interface Settled {
  readonly changes: () => readonly StatusChange[];
  readonly completed: readonly CompletedBatch[];
}

/**
 * Records the outcomes of submits, many per commit: `sending → sent | rejected | failed | unknown`,
 * and the only step back, `sending → queued`, after a definite refusal.
 */
export class OutcomeRecorder {
  readonly #group: GroupCommit<Outcome, void>;
  readonly #slow: SlowSettle;
  readonly #acceptedRankOf = (channel: string) => this.database.channels.acceptedRankOf(channel);
  /** Number of requests under way; each will have an outcome. */
  #expected = 0;

  constructor(
    private readonly database: StoreDatabase,
    private readonly writer: StatusWriter,
    private readonly completion: BatchCompletion,
    private readonly clock: Clock,
    private readonly onReferences: (references: readonly string[]) => Promise<void>,
  ) {
    this.#slow = new SlowSettle(database, writer);
    this.#group = new GroupCommit((take) => this.#flush(take), {
      maxItems: 2_000,
      weight: ({ firstPosition, lastPosition }) => 1 + (lastPosition - firstPosition) / 2,
      // A listener may throw any error.
      isItemError: (error) => !isUnavailable(error),
      gather: {
        items: GROUP,
        milliseconds: GATHER,
        silence: SILENCE,
        expecting: () => this.#expected > 0,
      },
    });
  }

  /**
   * Announces expected outcomes, so that they can share a commit; a negative number withdraws some.
   */
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
    try {
      if (await this.#settleInOneStatement(take, at)) return;
      await this.#commit(async (tx) => {
        const outcomes = take();
        return (await this.#fastSettle(tx, outcomes, at)) ?? this.#slowSettle(tx, outcomes, at);
      });
    } catch (error) {
      if (!(error instanceof ConcurrentChangeError)) throw error;
      await this.#commit((tx) => this.#slowSettle(tx, take(), at));
    }
  }

  /**
   * @returns false where the outcomes need a transaction: for a listener, or to check whether a
   *   batch is complete
   */
  async #settleInOneStatement(take: () => readonly Outcome[], at: number): Promise<boolean> {
    const fast = this.database.fastPaths.settle;
    if (!fast?.atomic || this.writer.hasListeners) return false;
    const outcomes = take();
    if (!outcomes.every(isWhole) || !fast.takes(outcomes)) return false;
    const { missed, ...settled } = await fast.settle(
      this.database.standalone,
      outcomes,
      this.#context(at),
    );
    this.#publish({ changes: settled.changes, completed: settled.completed.map(batchOf) });
    if (missed.length > 0) await this.#commit((tx) => this.#slowSettle(tx, missed, at));
    return true;
  }

  /** @returns `undefined` where the fast path does not take the outcomes */
  async #fastSettle(
    tx: Transaction,
    outcomes: readonly Outcome[],
    at: number,
  ): Promise<Settled | undefined> {
    const fast = this.database.fastPaths.settle;
    if (!fast || !outcomes.every(isPlain) || !fast.takes(outcomes)) return undefined;
    const { changes, completed, missed } = await fast.settle(tx, outcomes, this.#context(at));
    if (missed.length > 0) throw new ConcurrentChangeError();
    if (this.writer.hasListeners) await this.writer.notify(tx, changes());
    const done = new Set<Outcome>(completed);
    const others = outcomes.filter((outcome) => !done.has(outcome));
    return {
      changes,
      completed: [...completed.map(batchOf), ...(await this.#complete(tx, others, at))],
    };
  }

  async #slowSettle(tx: Transaction, outcomes: readonly Outcome[], at: number): Promise<Settled> {
    const changes = await this.#slow.settle(tx, outcomes, at);
    return { changes: () => changes, completed: await this.#complete(tx, outcomes, at) };
  }

  #complete(tx: Transaction, outcomes: readonly Outcome[], at: number): Promise<CompletedBatch[]> {
    const unknown = outcomes.flatMap(({ batch, result }) => (result === 'unknown' ? [batch] : []));
    const batches = outcomes.map(({ batch }) => batch);
    return this.completion.after(tx, batches, at, new Set(unknown));
  }

  async #commit(work: (tx: Transaction) => Promise<Settled>): Promise<void> {
    this.#publish(await this.database.transaction(work));
  }

  #context(at: number): SettleContext {
    return { at, pollAfter: this.completion.pollAfter, acceptedRankOf: this.#acceptedRankOf };
  }

  #publish({ changes, completed }: Settled): void {
    if (this.writer.isObserved) this.writer.publish(changes());
    this.completion.publish(completed);
  }
}

function isWhole(outcome: Outcome): outcome is PlainOutcome {
  return isPlain(outcome) && outcome.intended.whole;
}

function batchOf({ batch, intended: { submission } }: PlainOutcome): CompletedBatch {
  return { id: batch, tenant: submission.tenant, channel: submission.channel };
}
