import type { Clock } from '../../ports/clock.js';
import { ConcurrentChangeError, fastOrSlow } from '../database/concurrent-change.error.js';
import { isUnavailable } from '../database/database-errors.js';
import { GroupCommit } from '../database/group-commit.js';
import { isPlain, type Outcome, type PlainOutcome, type SettledOutcomes } from '../rows/outcome.js';
import { SlowSettle } from '../slow-path/settle.js';
import type { StatusChange } from '../rows/status.js';
import type { StatusWriter } from './status-writer.js';
import type { Sql, StoreDatabase, Transaction } from '../database/store-database.js';
import type { BatchCompletion, CompletedBatch } from '../upkeep/completion.js';

/** Longest delay of an outcome for a shared commit, in milliseconds. */
const GATHER = 30;
/** Longest time since the last outcome, in milliseconds. */
const SILENCE = 3;
/** Largest number of outcomes in one commit. */
const GROUP = 1_000;

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
    const fast = await this.#fast(take, at);
    if (fast) this.#publish(fast.changes, fast.completed.map(batchOf));
    const done = new Set<Outcome>(fast?.completed);
    if (fast && fast.missed.length === 0 && done.size === take().length) return;
    const rest = await this.database.transaction(async (tx) => {
      const outcomes = take();
      const changes = await this.#slow.settle(tx, fast ? fast.missed : outcomes, at);
      const open = outcomes.filter((outcome) => !done.has(outcome));
      return { changes, completed: await this.#complete(tx, open, at) };
    });
    this.#publish(() => rest.changes, rest.completed);
  }

  /** @returns `undefined` where the outcomes need the slow path */
  #fast(take: () => readonly Outcome[], at: number): Promise<SettledOutcomes | undefined> {
    const { settle } = this.database.fastPaths;
    const { pollAfter } = this.completion;
    const context = { at, pollAfter, acceptedRankOf: this.#acceptedRankOf };
    const work = async (sql: Sql) => {
      const outcomes = take();
      if (!outcomes.every(isPlain)) throw new ConcurrentChangeError();
      return settle!(sql, outcomes, context);
    };
    return fastOrSlow<SettledOutcomes | undefined>(
      settle && (() => this.writer.run(work, ({ changes }) => changes())),
      async () => undefined,
    );
  }

  #complete(tx: Transaction, outcomes: readonly Outcome[], at: number): Promise<CompletedBatch[]> {
    const unknown = outcomes.flatMap(({ batch, result }) => (result === 'unknown' ? [batch] : []));
    const batches = outcomes.map(({ batch }) => batch);
    return this.completion.after(tx, batches, at, new Set(unknown));
  }

  #publish(changes: () => readonly StatusChange[], completed: readonly CompletedBatch[]): void {
    if (this.writer.isObserved) this.writer.publish(changes());
    this.completion.publish(completed);
  }
}

function batchOf({ batch, intended: { submission } }: PlainOutcome): CompletedBatch {
  return { id: batch, tenant: submission.tenant, channel: submission.channel };
}
