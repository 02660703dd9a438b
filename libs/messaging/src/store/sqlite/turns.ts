import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { QueryRunner } from 'typeorm';
import { TransactionRequiredError } from '../../message/errors.js';
import { isBusy } from '../database/database-errors.js';
import { isUndone, setInTransaction } from '../database/transaction-state.js';

interface Waiting {
  readonly work: (runner: QueryRunner) => Promise<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Settles the caller, after the commit. */
  settle?: () => void;
}

/** SQLite rolled back the whole turn because of its last transaction. */
class UndoneError extends Error {
  constructor(options?: ErrorOptions) {
    super('SQLite rolled back the transaction: an earlier statement in it failed', options);
  }
}

/** Milliseconds after which a turn takes no more transactions: the driver blocks the event loop. */
const LONG_TURN = 5;

/**
 * SQLite has one writer at a time, so writers take turns. Waiting transactions of the store share a
 * turn and its commit, the expensive part; each resolves after the commit, and fails alone.
 */
export class SqliteTurns {
  readonly #waiting: Waiting[] = [];
  #scheduled = false;
  /** Committed turns whose sync to the disk is under way. */
  #syncing: Promise<unknown> = Promise.resolve();
  #tail: Promise<unknown> = Promise.resolve();
  /** Tracks foreign code only: where Node hooks each promise, it costs a tenth of throughput. */
  readonly #turnOf = new AsyncLocalStorage<{ over: boolean }>();
  #foreignRuns = 0;

  constructor(
    private readonly runnerOf: () => QueryRunner,
    /** Resolves when the committed data is on the disk. @default the commit itself waits for it */
    private readonly synced: () => Promise<void> | undefined = () => undefined,
    /** Aborted when waits for other processes must end. */
    private readonly over?: AbortSignal,
    private readonly longTurn = LONG_TURN,
  ) {}

  /** Within one turn of the event loop: the driver is synchronous, so only microtasks run. */
  async transaction<T>(work: (runner: QueryRunner) => Promise<T>): Promise<T> {
    this.refuseWithin();
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, resolve: resolve as (result: unknown) => void, reject });
      this.#schedule();
    });
  }

  /** In a turn of any length. */
  async exclusively<T>(work: () => Promise<T>): Promise<T> {
    this.refuseWithin();
    const result = this.#tail.then(work, work);
    this.#tail = result.catch(() => undefined);
    return result;
  }

  /** Runs foreign code within a turn; waits that could never end are refused. */
  async runForeign<T>(work: () => Promise<T>): Promise<T> {
    const flow = { over: false };
    this.#foreignRuns++;
    try {
      return await this.#turnOf.run(flow, work);
    } finally {
      flow.over = true;
      // The promise hooks cover the whole process until they are disabled.
      if (--this.#foreignRuns === 0) this.#turnOf.disable();
    }
  }

  /** @throws TransactionRequiredError within {@link runForeign}: the wait would never end */
  refuseWithin(): void {
    const flow = this.#turnOf.getStore();
    if (flow && !flow.over)
      throw new TransactionRequiredError(
        'manager: on SQLite what is done inside messaging.transaction() must join it; pass the manager you were given',
      );
  }

  async idle(): Promise<void> {
    while (this.#scheduled) await this.#tail;
    await this.#tail;
    await this.#syncing;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const next = () => this.#turn();
    this.#tail = this.#tail.then(next, next);
  }

  /** Never rejects. */
  async #turn(): Promise<void> {
    const done: Waiting[] = [];
    try {
      const runner = this.runnerOf();
      await whenFree(async () => {
        await turn();
        await runner.query('BEGIN IMMEDIATE');
      }, this.over);
      await this.#share(runner, done);
      const before = this.#syncing;
      this.#syncing = this.#settle(done).then(() => before);
    } catch (error) {
      if (done.length === 0) done.push(...this.#waiting.splice(0));
      // Transactions before the failed one are intact but were rolled back with it: they run again.
      if (error instanceof UndoneError) this.#waiting.unshift(...done.splice(0, done.length - 1));
      for (const { reject } of done) reject(error instanceof UndoneError ? error.cause : error);
    }
    this.#scheduled = false;
    if (this.#waiting.length > 0) this.#schedule();
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
    const query = Reflect.get(runner, 'query') as QueryRunner['query'];
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

/** Wait for another process's lock, in ms, after which a warning is logged. */
const LONG_WAIT = 5_000;

/** Waits for SQLite's write lock without blocking the event loop. @throws the reason of `over` */
export async function whenFree<T>(work: () => Promise<T>, over?: AbortSignal): Promise<T> {
  let warnAt = Date.now() + LONG_WAIT;
  for (;;) {
    over?.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (Date.now() > warnAt) {
        warnAt = Infinity;
        new Logger('StoreDatabase').warn(
          'SQLite has been locked by another process for 5 s; waiting for it',
        );
      }
      await wait(1 + Math.random() * 10);
    }
  }
}
