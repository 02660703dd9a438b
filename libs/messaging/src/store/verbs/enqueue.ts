import {
  AcceptRefusedError,
  IdempotencyKeyInUseError,
  SpendBusyError,
} from '../../message/errors.js';
import type { SpendGuards } from '../../ports/spend-guard.js';
import { ConcurrentChangeError, fastOrSlow } from '../database/concurrent-change.error.js';
import { isDataError, isLockTimeout } from '../database/database-errors.js';
import { type Flush, GroupCommit } from '../database/group-commit.js';
import { retryWhileUnavailable } from '../database/retry.js';
import type { Sql, StoreDatabase, Transaction } from '../database/store-database.js';
import {
  bytesOf,
  hasData,
  REJECTIONS,
  takesTurns,
  TURN_BYTES,
  WATCHED,
} from '../rows/batch-data.js';
import type { EnqueuedBatch, NewBatch, OwnRows } from '../rows/new-batch.js';
import type { StatusChange } from '../rows/status.js';
import { BatchGuards } from './batch-guards.js';
import { enqueued, type Enqueued, NewBatchRows } from './new-batch-rows.js';
import type { StatusWriter } from './status-writer.js';

/** Longest wait, in ms, for a transaction that holds a key; `AGAIN`: for batches that timed out. */
const KEY_TIMEOUT = 1_000;
const KEY_TIMEOUT_AGAIN = 100;

/** Longest wait, in ms, for the rows of the guards, in a group whose waits for keys are short. */
const GUARD_TIMEOUT = 10_000;

/** Most weight of a group: two batches of 100,000 recipients do not share one. */
const MOST = 2_000;

/** Stores new batches. Concurrent sends share commits; each resolves after its own commit. */
export class NewBatches {
  readonly #rows: NewBatchRows;
  readonly #guards: BatchGuards;
  readonly #plain: GroupCommit<NewBatch, Enqueued>;
  /** A separate group: the fast path and its statements stay without the further rows. */
  readonly #extended: GroupCommit<NewBatch, Enqueued>;
  /** A separate group: the spend guard takes their money in the statement that stores them. */
  readonly #reserved: GroupCommit<NewBatch, Enqueued>;
  /** A separate group: only batches with keys may wait for a key that an open transaction holds. */
  readonly #keyed: GroupCommit<NewBatch, Enqueued>;
  /** Batches that take several turns, one at a time; see {@link takesTurns}. */
  readonly #long: GroupCommit<NewBatch, Enqueued>;
  /** Batches whose group commit hit a lock timeout on an idempotency key. */
  readonly #timedOut = new WeakSet<NewBatch>();

  constructor(
    private readonly database: StoreDatabase,
    private readonly writer: StatusWriter,
    /** Retention of idempotency keys in milliseconds. */
    idempotencyWindow: number,
    private readonly spend: SpendGuards,
  ) {
    this.#guards = new BatchGuards(database, spend);
    this.#rows = new NewBatchRows(database, writer, idempotencyWindow, this.#guards);
    const group = (flush: Flush<NewBatch, Enqueued>) =>
      new GroupCommit<NewBatch, Enqueued>(
        // The response to a commit may be lost: the retry skips batches that are already stored.
        (take) => retryWhileUnavailable(() => flush(take)),
        {
          maxItems: MOST,
          weight: (batch) =>
            1 +
            batch.recipients.length / 50 +
            (batch.watched ? (batch.recipients.length * MOST) / WATCHED : 0) +
            (batch.denied.length * MOST) / REJECTIONS +
            (bytesOf(batch) * MOST) / TURN_BYTES,
          isItemError: (error) =>
            isDataError(error) || isLockTimeout(error) || error instanceof SpendBusyError,
        },
      );
    this.#plain = group((take) => this.#flushPlain(take));
    this.#extended = group((take) => this.#flushExtended(take));
    this.#reserved = group((take) => this.#flushReserved(take));
    this.#keyed = group((take) => this.#flushKeyed(take));
    this.#long = group((take) => {
      const batches = take();
      const isKeyed = batches.some(({ idempotencyKey }) => idempotencyKey !== null);
      const timeout = isKeyed ? KEY_TIMEOUT : undefined;
      const guardTimeout = isKeyed ? GUARD_TIMEOUT : undefined;
      return this.database.longTransaction(
        (tx) => this.#rows.store(tx, batches, guardTimeout),
        timeout,
      );
    });
  }

  /**
   * @throws IdempotencyKeyReusedError where the key was used for another message
   * @throws IdempotencyKeyInUseError where an open transaction holds the key
   */
  enqueue(given: NewBatch): Promise<EnqueuedBatch> {
    this.database.refuseWithin();
    const batch = this.#sealed(given);
    return this.#groupOf(batch)
      .add(batch)
      .then(
        (result) => {
          const stored = answer(result);
          this.publish(stored);
          return stored;
        },
        (error: unknown) => {
          throw isLockTimeout(error) ? new IdempotencyKeyInUseError({ cause: error }) : error;
        },
      );
  }

  /** Call {@link publish} with the result after the commit of `tx`. */
  async enqueueWithin(tx: Transaction, batch: NewBatch): Promise<EnqueuedBatch> {
    return answer((await this.#rows.store(tx, [this.#sealed(batch)]))[0]!);
  }

  /**
   * As {@link enqueueWithin}, for batches without keys.
   * @param refused `stored`: a batch that a guard refuses is stored with its messages rejected
   * @returns the changes of rejected messages, to publish after the commit
   * @throws AcceptRefusedError of the first refused batch, without `refused`
   */
  async enqueueAllWithin(
    tx: Transaction,
    batches: readonly NewBatch[],
    refused?: 'stored',
  ): Promise<readonly StatusChange[]> {
    if (batches.length === 0) return [];
    const given = batches.map(this.#sealed);
    const results = await this.#rows.store(tx, given);
    const rejected = new Map<Enqueued, NewBatch>();
    if (refused)
      for (const [index, result] of results.entries())
        if (result instanceof AcceptRefusedError)
          rejected.set(result, rejectedBatch(given[index]!, result));
    const stored = results.filter((result) => !rejected.has(result));
    if (rejected.size > 0) stored.push(...(await this.#rows.store(tx, [...rejected.values()])));
    return stored.flatMap((result) => answer(result).changes);
  }

  /**
   * Stores batches without keys and denied recipients, with further rows.
   * @throws ConcurrentChangeError where the guard changed too few rows; nothing is stored
   * @throws AcceptRefusedError of the first batch that a guard refuses; nothing is stored
   */
  async storeWith(given: readonly NewBatch[], own: OwnRows): Promise<void> {
    const { database } = this;
    const batches = given.map(this.#sealed);
    await fastOrSlow(this.#fastWith(batches, own), () => {
      const work = async (tx: Transaction) => {
        if (own.guard) {
          const { statement, rows } = own.guard;
          const changed = await tx.run(statement.sql, statement.params);
          if (changed < rows) throw new ConcurrentChangeError();
        }
        for (const result of await this.#rows.store(tx, batches)) answer(result);
        await tx.run(own.insert.sql, own.insert.params);
      };
      return batches.some(takesTurns) ? database.longTransaction(work) : database.transaction(work);
    });
  }

  /** The fast path of {@link storeWith}, where there is one. */
  #fastWith(batches: readonly NewBatch[], own: OwnRows): (() => Promise<void>) | undefined {
    const { database } = this;
    const { enqueue, reserve } = database.fastPaths;
    // It writes no rows of labels.
    if (batches.some((batch) => batch.watched || hasData(batch))) return undefined;
    if (batches.every((batch) => !batch.guarded))
      return enqueue && (() => database.fastPath((sql) => enqueue(sql, batches, own)));
    const money = reserve && this.#reservationOf(batches);
    // In a transaction: where a guard fails, what the other statements have changed does not stay.
    return money && (() => database.transaction((tx) => reserve(tx, batches, own, money)));
  }

  /** What the spend guard adds to guarded batches; `undefined`: it does not expect all of them. */
  #reservationOf(batches: readonly NewBatch[]): OwnRows | undefined {
    const guarded = batches.filter((batch) => batch.guarded);
    // Made again: what a weak map keeps for each batch outlives it, and is collected late.
    const taken = this.spend.guard?.reserve?.(
      guarded.map((batch) => this.#guards.guardedOf(batch)),
    );
    return taken && { guard: { statement: taken.take, rows: taken.rows }, insert: taken.insert };
  }

  /** See {@link StatusWriter.guardTogether}. */
  guardTogether(tx: Transaction, tenants: readonly string[]): Promise<void> {
    return this.writer.guardTogether(tx, tenants);
  }

  publish({ changes }: Pick<EnqueuedBatch, 'changes'>): void {
    if (changes.length > 0) this.writer.publish(changes);
  }

  /** The batch with this key. @throws IdempotencyKeyReusedError where it is another message */
  async replayOf(batch: NewBatch, sql: Pick<Sql, 'all'>): Promise<EnqueuedBatch | undefined> {
    const known = await this.#rows.replayOf(batch, sql);
    return known && answer(known);
  }

  async idle(): Promise<void> {
    const groups = [this.#plain, this.#extended, this.#reserved, this.#keyed, this.#long];
    await Promise.all(groups.map((group) => group.idle()));
  }

  readonly #sealed = (batch: NewBatch): NewBatch =>
    this.#guards.marked(this.database.seals.seal(batch.id, batch));

  #flushPlain(take: () => readonly NewBatch[]): Promise<readonly Enqueued[]> {
    const { database } = this;
    const { enqueue } = database.fastPaths;
    const fast = async (sql: Sql) => {
      const batches = take();
      await enqueue!(sql, batches);
      return batches.map((batch) => enqueued(batch));
    };
    return fastOrSlow<readonly Enqueued[]>(enqueue && (() => database.fastPath(fast)), () =>
      database.transaction((tx) => this.#rows.store(tx, take())),
    );
  }

  #groupOf(batch: NewBatch): GroupCommit<NewBatch, Enqueued> {
    if (takesTurns(batch)) return this.#long;
    if (batch.idempotencyKey !== null) return this.#keyed;
    if (!isExtended(batch)) return this.#plain;
    return this.#isExpected(batch) ? this.#reserved : this.#extended;
  }

  /** Whether the spend guard accepts the batch from memory, and only it has more to write. */
  #isExpected(batch: NewBatch): boolean {
    const { guard } = this.spend;
    if (!batch.guarded || !guard?.reserve || !guard.expects) return false;
    if (batch.watched || batch.denied.length > 0 || hasData(batch)) return false;
    return guard.expects(this.#guards.guardedOf(batch));
  }

  /** Batches that the guard refuses, or does not know, are accepted or refused by the slow path. */
  #flushReserved(take: () => readonly NewBatch[]): Promise<readonly Enqueued[]> {
    const { database } = this;
    const { reserve } = database.fastPaths;
    const fast = async (sql: Sql) => {
      const batches = take();
      const money = this.#reservationOf(batches);
      if (!money) throw new ConcurrentChangeError();
      await reserve!(sql, batches, money);
      return batches.map((batch) => enqueued(batch));
    };
    return fastOrSlow<readonly Enqueued[]>(reserve && (() => database.fastPath(fast)), () =>
      database.transaction((tx) => this.#rows.store(tx, take())),
    );
  }

  #flushExtended(take: () => readonly NewBatch[]): Promise<readonly Enqueued[]> {
    return this.database.transaction((tx) => this.#rows.store(tx, take()));
  }

  /** A key that an open transaction holds delays its group by at most the timeout. */
  async #flushKeyed(take: () => readonly NewBatch[]): Promise<readonly Enqueued[]> {
    const batches = take();
    const again = batches.every((batch) => this.#timedOut.has(batch));
    try {
      return await this.database.transaction(
        (tx) => this.#rows.store(tx, batches, again ? KEY_TIMEOUT_AGAIN : GUARD_TIMEOUT),
        again ? KEY_TIMEOUT_AGAIN : KEY_TIMEOUT,
      );
    } catch (error) {
      const hasWaited = isLockTimeout(error) || error instanceof SpendBusyError;
      if (hasWaited) for (const batch of batches) this.#timedOut.add(batch);
      throw error;
    }
  }
}

/** Whether the batch needs more than its own row and those of its recipients. */
function isExtended(batch: NewBatch): boolean {
  return batch.guarded === true || batch.watched === true || hasData(batch);
}

/** The batch as if policy had denied every recipient. */
function rejectedBatch(batch: NewBatch, { code }: AcceptRefusedError): NewBatch {
  return { ...batch, guarded: false, watched: false, denied: batch.recipients.map(() => code) };
}

/** Whether one batch of a group is the cause of an error that concerns no other. */
export function isOwnError(error: unknown): boolean {
  return isDataError(error) || error instanceof AcceptRefusedError;
}

function answer(result: Enqueued): EnqueuedBatch {
  if (result instanceof Error) throw result;
  return result;
}
