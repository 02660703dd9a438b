import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import type { EntityManager, QueryRunner } from 'typeorm';
import { TransactionRequiredError } from '../../message/errors.js';
import { isOpen, isUndone, methodOf, setInTransaction } from '../database/transaction-state.js';
import { type SqliteTurns, UndoneError } from './turns.js';
import type { WriteLock } from './write-lock.js';

/** Longest wait, in ms, of another flow's transaction. */
const LONGEST_WAIT = 30_000;

/** Told of the state of a caller's transaction. */
export interface CallerWatch {
  /** It has begun, or a statement of it runs. */
  works(): void;
}

/**
 * Transactions of callers on the app's connection, which TypeORM shares among all flows of the process.
 * While one is open, statements of other flows run within it, and transactions that they begin wait for
 * its end: as savepoints they would end it, or be ended by it.
 */
export class CallerTransactions {
  constructor(
    private readonly runnerOf: () => QueryRunner,
    private readonly turns: SqliteTurns,
    private readonly lock: WriteLock,
    /** Milliseconds for which a statement on this connection waits for a lock, the event loop with it. */
    private readonly busyTimeout: number,
  ) {}

  /** In the turn of its caller. No transaction stays open, however it ends. */
  async run<T>(work: (manager: EntityManager) => Promise<T>, watch: CallerWatch): Promise<T> {
    const runner = this.runnerOf();
    const { manager, broadcaster } = runner;
    await broadcaster.broadcast('BeforeTransactionStart');
    await this.lock.take(() => this.#begin(runner));
    const guard = new Guard(runner, this.turns, watch);
    try {
      await broadcaster.broadcast('AfterTransactionStart');
      const result = await this.turns.runForeign(
        () => work(manager),
        'a transaction of messaging.transaction()',
      );
      if (isUndone(runner)) throw new UndoneError();
      // A savepoint that its flow has left open does not keep the transaction open.
      setInTransaction(runner, true);
      await runner.commitTransaction();
      return result;
    } catch (error) {
      await guard.rollBack();
      throw guard.causeOf(error);
    } finally {
      guard.release();
      setInTransaction(runner, false);
    }
  }

  /** Leaves TypeORM's state as it is where SQLite refuses. */
  async #begin(runner: QueryRunner): Promise<boolean> {
    if (isOpen(runner)) return false;
    const waits = this.busyTimeout > 0;
    if (waits) await runner.query('PRAGMA busy_timeout = 0');
    try {
      await runner.query('BEGIN IMMEDIATE');
      setInTransaction(runner, true);
      return true;
    } finally {
      if (waits) await runner.query(`PRAGMA busy_timeout = ${this.busyTimeout}`);
    }
  }
}

/** Stands before the shared connection while a caller's transaction is open on it. */
class Guard {
  readonly #query: QueryRunner['query'];
  readonly #start: QueryRunner['startTransaction'];
  readonly #rollBack: QueryRunner['rollbackTransaction'];
  readonly #ended = new AbortController();
  /** The error with which SQLite rolled back the transaction. */
  #undoneBy: unknown;

  constructor(
    private readonly runner: QueryRunner,
    private readonly turns: SqliteTurns,
    watch: CallerWatch,
  ) {
    this.#query = methodOf(runner, 'query');
    this.#start = methodOf(runner, 'startTransaction');
    this.#rollBack = methodOf(runner, 'rollbackTransaction');
    watch.works();
    runner.query = (async (...statement: Parameters<QueryRunner['query']>) => {
      if (!turns.isWithin) return this.#query.apply(runner, statement);
      watch.works();
      return this.#own(statement);
    }) as QueryRunner['query'];
    runner.startTransaction = async (level) => {
      if (turns.isWithin) return this.#start.call(runner, level);
      await this.#untilEnded();
      return runner.startTransaction(level);
    };
    // Where its start failed, TypeORM rolls back what is open on the connection.
    runner.rollbackTransaction = async () => {
      if (turns.isWithin) await this.#rollBack.call(runner);
    };
  }

  /** Also where SQLite has rolled back by itself, which TypeORM does not see, and counts on. */
  async rollBack(): Promise<void> {
    const { runner } = this;
    setInTransaction(runner, true);
    if (!isUndone(runner)) await this.#rollBack.call(runner).catch(() => undefined);
    // A subscriber may have failed before it.
    if (isOpen(runner)) await runner.query('ROLLBACK').catch(() => undefined);
    if (!runner.isTransactionActive) return;
    setInTransaction(runner, false);
    await runner.broadcaster.broadcast('AfterTransactionRollback').catch(() => undefined);
  }

  causeOf(error: unknown): unknown {
    return error instanceof UndoneError ? (this.#undoneBy ?? error) : error;
  }

  release(): void {
    const { runner } = this;
    runner.query = this.#query;
    runner.startTransaction = this.#start;
    runner.rollbackTransaction = this.#rollBack;
    this.#ended.abort();
  }

  /** A statement after SQLite has rolled back would be a transaction by itself. */
  async #own(statement: Parameters<QueryRunner['query']>): Promise<unknown> {
    if (isUndone(this.runner)) throw new UndoneError();
    try {
      return await this.#query.apply(this.runner, statement);
    } catch (error) {
      if (isUndone(this.runner)) this.#undoneBy ??= error;
      throw error;
    }
  }

  async #untilEnded(): Promise<void> {
    const { signal } = this.#ended;
    await wait(LONGEST_WAIT, undefined, { signal, ref: false }).catch(() => undefined);
    if (!signal.aborted)
      throw new TransactionRequiredError(
        `manager: a transaction of messaging.transaction() has been open on this data source for ${LONGEST_WAIT / 1_000} s; end it, or use its manager inside it`,
      );
    // One after the other, or the second would begin within the first.
    await turn();
  }
}
