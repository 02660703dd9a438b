import { IdempotencyKeyInUseError, type IdempotencyKeyReusedError } from '../../message/errors.js';
import { fastOrSlow } from '../database/concurrent-change.error.js';
import { isDataError, isLockTimeout } from '../database/database-errors.js';
import { type Flush, GroupCommit } from '../database/group-commit.js';
import type { EnqueuedBatch, NewBatch } from '../rows/new-batch.js';
import { enqueued, EnqueueSlowPath } from '../slow-path/enqueue.js';
import type { Sql, StoreDatabase, Transaction } from '../database/store-database.js';
import type { StatusWriter } from './status-writer.js';
import { retryWhileUnavailable } from '../database/retry.js';

type Result = EnqueuedBatch | IdempotencyKeyReusedError;

/**
 * Longest wait, in ms, for a transaction that holds a key; also the delay after a group has waited
 * that long.
 */
const KEY_TIMEOUT = 1_000;
const KEY_TIMEOUT_AGAIN = 100;

/** Stores new batches. Concurrent sends share commits; each resolves after its own commit. */
export class NewBatches {
  readonly #slow: EnqueueSlowPath;
  readonly #plain: GroupCommit<NewBatch, Result>;
  /** A separate group: only batches with keys may wait for a key that an open transaction holds. */
  readonly #keyed: GroupCommit<NewBatch, Result>;
  /** Batches whose group commit hit a lock timeout on an idempotency key. */
  readonly #timedOut = new WeakSet<NewBatch>();

  constructor(
    private readonly database: StoreDatabase,
    private readonly writer: StatusWriter,
    idempotencyWindow: number,
  ) {
    this.#slow = new EnqueueSlowPath(database.dialect, writer, idempotencyWindow);
    const group = (flush: Flush<NewBatch, Result>) =>
      new GroupCommit<NewBatch, Result>(
        // The response to a commit may be lost: the retry skips batches that are already stored.
        (take) => retryWhileUnavailable(() => flush(take)),
        {
          maxItems: 2_000,
          weight: ({ recipients }) => 1 + recipients.length / 100,
          isItemError: (error) => isDataError(error) || isLockTimeout(error),
        },
      );
    this.#plain = group((take) => this.#flushPlain(take));
    this.#keyed = group((take) => this.#flushKeyed(take));
  }

  /**
   * Stores the batch in a commit shared with other concurrent sends.
   * @throws IdempotencyKeyReusedError where the key was used for another message
   * @throws IdempotencyKeyInUseError where an open transaction holds the key
   */
  enqueue(batch: NewBatch): Promise<EnqueuedBatch> {
    this.database.refuseWithin();
    const group = batch.idempotencyKey === null ? this.#plain : this.#keyed;
    return group.add(batch).then(
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

  /**
   * Stores the batch in the caller's transaction; call {@link publish} with the result after its
   * commit.
   */
  async enqueueWithin(tx: Transaction, batch: NewBatch): Promise<EnqueuedBatch> {
    return answer((await this.#slow.store(tx, [batch]))[0]!);
  }

  /** Publishes the initial statuses of the batch's messages. */
  publish({ changes }: EnqueuedBatch): void {
    if (changes.length > 0) this.writer.publish(changes);
  }

  /**
   * The earlier batch with this idempotency key.
   * @throws IdempotencyKeyReusedError where the key was used for another message
   */
  async replayOf(batch: NewBatch, sql: Pick<Sql, 'all'>): Promise<EnqueuedBatch | undefined> {
    const earlier = await this.#slow.earlier(sql, batch);
    return earlier && answer(earlier);
  }

  async idle(): Promise<void> {
    await Promise.all([this.#plain.idle(), this.#keyed.idle()]);
  }

  #flushPlain(take: () => readonly NewBatch[]): Promise<readonly Result[]> {
    const { database } = this;
    const { enqueue } = database.fastPaths;
    const fast = async (sql: Sql) => {
      const batches = take();
      await enqueue!(sql, batches);
      return batches.map((batch) => enqueued(batch));
    };
    return fastOrSlow<readonly Result[]>(enqueue && (() => database.fastPath(fast)), () =>
      database.transaction((tx) => this.#slow.store(tx, take())),
    );
  }

  /** A key that an open transaction holds delays its group by at most the timeout. */
  async #flushKeyed(take: () => readonly NewBatch[]): Promise<readonly Result[]> {
    const batches = take();
    const again = batches.every((batch) => this.#timedOut.has(batch));
    try {
      return await this.database.transaction(
        (tx) => this.#slow.store(tx, batches),
        again ? KEY_TIMEOUT_AGAIN : KEY_TIMEOUT,
      );
    } catch (error) {
      if (isLockTimeout(error)) for (const batch of batches) this.#timedOut.add(batch);
      throw error;
    }
  }
}

function answer(result: Result): EnqueuedBatch {
  if (result instanceof Error) throw result;
  return result;
}
