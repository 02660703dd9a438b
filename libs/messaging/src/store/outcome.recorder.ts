import type { Clock } from '../ports/clock.js';
import { AcceptedRecorder } from './accepted.recorder.js';
import type { BatchCompletion, CompletedBatch } from './upkeep/completion.js';
import { isUnavailable } from './database-errors.js';
import { GroupCommit } from './group-commit.js';
import { HeldRecorder } from './held.recorder.js';
import type { StoreDatabase, Transaction } from './store-database.js';
import { isPlain, type Outcome, type PlainOutcome } from './outcome.js';
import { ConcurrentChangeError } from './concurrent-change.error.js';
import { outcomeStatements } from './outcome.statements.js';
import type { StatusChange } from './status.js';
import type { StatusWriter } from './status-writer.js';

/** What one commit changed. */
interface Written {
  readonly changes: () => readonly StatusChange[];
  readonly completed: readonly CompletedBatch[];
}

/** Outcomes are collected for so long at most while more keep coming, in milliseconds. */
const GATHER = 30;
/** Unless none came for so long. */
const SILENCE = 3;
/** So many are not kept waiting for more. */
const PLENTY = 1_000;

/**
 * Records submit outcomes, many to a commit, not fenced: `sending → sent | rejected | failed |
 * unknown`, and the one step back, `sending → queued`, after a definite refusal.
 */
export class OutcomeRecorder {
  readonly #group: GroupCommit<Outcome, void>;
  readonly #accepted: AcceptedRecorder;
  readonly #held: HeldRecorder;
  /** Requests under way, of which there will be outcomes. */
  #expected = 0;

  constructor(
    private readonly database: StoreDatabase,
    private readonly writer: StatusWriter,
    private readonly completion: BatchCompletion,
    private readonly clock: Clock,
    private readonly onReferences: (references: readonly string[]) => Promise<void>,
  ) {
    const { dialect } = database;
    const sql = outcomeStatements(dialect);
    this.#held = new HeldRecorder(sql, writer);
    this.#accepted = new AcceptedRecorder(
      dialect,
      (tx, ids, at) => completion.complete(tx, ids, at),
      completion.pollAfter,
    );
    this.#group = new GroupCommit((take) => this.#flush(take), {
      maxItems: 2_000,
      weight: ({ firstPosition, lastPosition }) => 1 + (lastPosition - firstPosition) / 2,
      // A listener may throw whatever it likes.
      isItemError: (error) => !isUnavailable(error),
      gather: {
        items: PLENTY,
        milliseconds: GATHER,
        silence: SILENCE,
        expecting: () => this.#expected > 0,
      },
    });
  }

  /** So many more outcomes will be recorded soon; less than 0: fewer. They share a commit where they can. */
  expect(more: number): void {
    this.#expected += more;
  }

  record(outcome: Outcome): Promise<void> {
    return this.#group.add(outcome);
  }

  idle(): Promise<void> {
    return this.#group.idle();
  }

  async #flush(take: () => readonly Outcome[]): Promise<void[]> {
    await this.#write(take);
    const references = take().flatMap(({ reference, messageIds }) => [
      ...(reference === undefined ? [] : [reference]),
      ...(messageIds?.values() ?? []),
    ]);
    // A failure here loses nothing: the sweep matches what still waits.
    if (references.length > 0) void this.onReferences(references).catch(() => undefined);
    return take().map(() => undefined);
  }

  async #write(take: () => readonly Outcome[]): Promise<void> {
    const at = this.clock.now() * 1_000;
    const alone = this.#accepted.atOnce && !this.writer.listened;
    const whole = alone ? take() : [];
    try {
      if (alone && whole.every(isWhole)) {
        const accepted = await this.#accepted.record(this.database.standalone, whole, at);
        this.#publish({ changes: accepted.changes, completed: accepted.completed.map(batchOf) });
        if (accepted.missed.length > 0) await this.#transact(() => accepted.missed, at, false);
      } else await this.#transact(take, at, true);
    } catch (error) {
      if (!(error instanceof ConcurrentChangeError)) throw error;
      await this.#transact(take, at, false);
    }
  }

  async #transact(take: () => readonly Outcome[], at: number, plainly: boolean): Promise<void> {
    this.#publish(
      await this.database.transaction((tx) => {
        const outcomes = take();
        return plainly && outcomes.every(isPlain)
          ? this.#accept(tx, outcomes, at)
          : this.#judge(tx, outcomes, at);
      }),
    );
  }

  async #accept(tx: Transaction, outcomes: readonly PlainOutcome[], at: number): Promise<Written> {
    const { changes, completed, missed } = await this.#accepted.record(tx, outcomes, at);
    if (missed.length > 0) throw new ConcurrentChangeError();
    if (this.writer.listened) await this.writer.tell(tx, changes());
    const done = new Set<Outcome>(completed);
    const others = outcomes.filter((outcome) => !done.has(outcome));
    return {
      changes,
      completed: [...completed.map(batchOf), ...(await this.#complete(tx, others, at))],
    };
  }

  async #judge(tx: Transaction, outcomes: readonly Outcome[], at: number): Promise<Written> {
    const changes = await this.#held.record(tx, outcomes, at);
    return { changes: () => changes, completed: await this.#complete(tx, outcomes, at) };
  }

  #complete(tx: Transaction, outcomes: readonly Outcome[], at: number): Promise<CompletedBatch[]> {
    const unknown = outcomes.flatMap(({ batch, result }) => (result === 'unknown' ? [batch] : []));
    const batches = outcomes.map(({ batch }) => batch);
    return this.completion.after(tx, batches, at, new Set(unknown));
  }

  #publish({ changes, completed }: Written): void {
    if (this.writer.heard) this.writer.publish(changes());
    this.completion.publish(completed);
  }
}

function isWhole(outcome: Outcome): outcome is PlainOutcome {
  return isPlain(outcome) && outcome.intended.whole;
}

function batchOf({ batch, intended: { submission } }: PlainOutcome): CompletedBatch {
  return { id: batch, tenant: submission.tenant, channel: submission.channel };
}
