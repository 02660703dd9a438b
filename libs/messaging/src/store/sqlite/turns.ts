import { AsyncLocalStorage } from 'node:async_hooks';
import { Logger } from '@nestjs/common';
import type { QueryRunner } from 'typeorm';
import { TransactionRequiredError } from '../../message/errors.js';
import { isUndone, methodOf, setInTransaction } from '../database/transaction-state.js';
import { LONG_WAIT, type WriteLock } from './write-lock.js';

interface Waiting {
  readonly work: (runner: QueryRunner) => Promise<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Settles the caller, after the commit. */
  settle?: () => void;
}

/** SQLite rolled back the whole turn because of its last transaction. */
export class UndoneError extends Error {
  constructor(options?: ErrorOptions) {
    super('SQLite rolled back the transaction: an earlier statement in it failed', options);
  }
}

/** Milliseconds after which a turn takes no more transactions: the driver blocks the event loop. */
const LONG_TURN = 5;

/**
 * Exclusive turns follow each other for so many times the length of a store's turn. One after each turn
 * of the store is less than an app asks for where another process holds the lock for half of the time.
 */
const EXCLUSIVE_TURNS = 20;

/**
 * SQLite has one writer at a time, so writers take turns. Waiting transactions of the store share a
 * turn and its commit, the expensive part; each resolves after the commit, and fails alone. Between two
 * turns of the store exclusive turns run for a bounded time, so that neither kind waits for all turns of
 * the other.
 */
export class SqliteTurns {
  readonly #waiting: Waiting[] = [];
  /** Begin exclusive turns, in their order. */
  readonly #exclusive: ((end: () => void) => void)[] = [];
  #running: Promise<void> | undefined;
  /** Committed turns whose sync to the disk is under way. */
  #syncing: Promise<unknown> = Promise.resolve();
  /** Tracks foreign code only: where Node hooks each promise, it costs a tenth of throughput. */
  readonly #turnOf = new AsyncLocalStorage<{ over: boolean }>();
  #foreignRuns = 0;
  #warning: NodeJS.Timeout | undefined;

  constructor(
    private readonly runnerOf: () => QueryRunner,
    private readonly lock: Pick<WriteLock, 'take'>,
    /** Resolves when the committed data is on the disk. @default the commit itself waits for it */
    private readonly synced: () => Promise<void> | undefined = () => undefined,
    private readonly longTurn = LONG_TURN,
  ) {}

  /** Within one turn of the event loop: the driver is synchronous, so only microtasks run. */
  async transaction<T>(work: (runner: QueryRunner) => Promise<T>): Promise<T> {
    this.refuseWithin();
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, resolve: resolve as (result: unknown) => void, reject });
      this.#running ??= this.#run();
    });
  }

  /** In a turn of any length. */
  async exclusively<T>(work: () => Promise<T>): Promise<T> {
    this.refuseWithin();
    const end = await new Promise<() => void>((begin) => {
      this.#exclusive.push(begin);
      this.#running ??= this.#run();
    });
    try {
      return await work();
    } finally {
      end();
    }
  }

  /** Whether foreign code holds the turn. */
  get isForeign(): boolean {
    return this.#foreignRuns > 0;
  }

  /** Whether the present flow is foreign code that holds the turn. */
  get isWithin(): boolean {
    return this.#turnOf.getStore()?.over === false;
  }

  /**
   * Runs foreign code within a turn; waits that could never end are refused.
   * @param holder what the log calls it where it holds the turn for long
   */
  async runForeign<T>(work: () => Promise<T>, holder: string): Promise<T> {
    const flow = { over: false };
    if (this.#foreignRuns++ === 0)
      this.#warning = setTimeout(() => warnOf(holder), LONG_WAIT).unref();
    try {
      return await this.#turnOf.run(flow, work);
    } finally {
      flow.over = true;
      if (--this.#foreignRuns === 0) {
        clearTimeout(this.#warning);
        // The promise hooks cover the whole process until they are disabled.
        this.#turnOf.disable();
      }
    }
  }

  /** @throws TransactionRequiredError within {@link runForeign}: the wait would never end */
  refuseWithin(): void {
    if (this.isWithin)
      throw new TransactionRequiredError(
        'manager: on SQLite what is done inside a transaction must join it; pass the manager that messaging.transaction() or dataSource.transaction() gave you',
      );
  }

  async idle(): Promise<void> {
    while (this.#running) await this.#running;
    await this.#syncing;
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    while (this.#waiting.length > 0 || this.#exclusive.length > 0) {
      if (this.#waiting.length > 0) await this.#turn();
      const until = performance.now() + EXCLUSIVE_TURNS * this.longTurn;
      do {
        const begin = this.#exclusive.shift();
        if (begin) await new Promise<void>(begin);
      } while (this.#exclusive.length > 0 && performance.now() < until);
    }
    this.#running = undefined;
  }

  /** Never rejects. */
  async #turn(): Promise<void> {
    const done: Waiting[] = [];
    try {
      const runner = this.runnerOf();
      await this.lock.take(async () => {
        await runner.query('BEGIN IMMEDIATE');
        return true;
      });
      await this.#share(runner, done);
      const before = this.#syncing;
      this.#syncing = this.#settle(done).then(() => before);
    } catch (error) {
      if (done.length === 0) done.push(...this.#waiting.splice(0));
      // Transactions before the failed one are intact but were rolled back with it: they run again.
      if (error instanceof UndoneError) this.#waiting.unshift(...done.splice(0, done.length - 1));
      for (const { reject } of done) reject(error instanceof UndoneError ? error.cause : error);
    }
  }

  /** Settles the callers while the next turn runs. Never rejects. */
  async #settle(done: readonly Waiting[]): Promise<void> {
    try {
      await this.synced();
      for (const { settle } of done) settle?.();
    } catch (error) {
      for (const { reject } of done) reject(error);
    }
  }

  /** From BEGIN to COMMIT; throws where SQLite rolled back the whole turn. */
  async #share(runner: QueryRunner, done: Waiting[]): Promise<void> {
    const until = performance.now() + this.longTurn;
    const query = methodOf(runner, 'query');
    setInTransaction(runner, true);
    runner.query = ((...statement: Parameters<QueryRunner['query']>) =>
      isUndone(runner)
        ? Promise.reject(new UndoneError())
        : query.apply(runner, statement)) as QueryRunner['query'];
    let ending = false;
    try {
      for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
        done.push(next);
        next.settle = await run(runner, next, done.length === 1);
        if (performance.now() > until) break;
      }
      ending = true;
      await runner.query('COMMIT');
    } catch (error) {
      if (!ending && isUndone(runner)) throw new UndoneError({ cause: error });
      await runner.query('ROLLBACK').catch(() => undefined);
      throw error;
    } finally {
      runner.query = query;
      setInTransaction(runner, false);
    }
  }
}

/**
 * In a savepoint, so that a failure rolls back its own changes only; the first of a turn needs
 * none, because the next turn takes those after it. @returns settles the caller after the commit
 */
async function run(
  runner: QueryRunner,
  { work, resolve, reject }: Waiting,
  isFirst: boolean,
): Promise<() => void> {
  if (!isFirst) await runner.query('SAVEPOINT turn');
  try {
    const result = await work(runner);
    if (isUndone(runner)) throw new UndoneError();
    if (!isFirst) await runner.query('RELEASE turn');
    return () => resolve(result);
  } catch (error) {
    // After a full rollback the savepoint no longer exists, and all transactions have failed.
    if (isFirst || isUndone(runner)) throw error;
    await runner.query('ROLLBACK TO turn');
    await runner.query('RELEASE turn');
    return () => reject(error);
  }
}

function warnOf(holder: string): void {
  new Logger('StoreDatabase').warn(
    `${holder} of this process has held SQLite for ${LONG_WAIT / 1_000} s; all other writes wait until it ends`,
  );
}
