import { AsyncLocalStorage } from 'node:async_hooks';
import type { QueryRunner } from 'typeorm';
import { TransactionRequiredError } from '../message/errors.js';
import { whenFree } from './sqlite-connection.js';
import { began, ended } from './transaction-state.js';

interface Waiting {
  readonly work: (runner: QueryRunner) => Promise<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Milliseconds after which a turn takes no further transaction: the driver blocks the event loop. */
const LONG_TURN = 5;

/**
 * On SQLite there is one writer at a time, so writers take turns. The ledger's transactions that wait
 * at the same time share a turn and its commit, which is what takes the time: each resolves after it,
 * and stands or falls alone.
 */
export class SqliteTurns {
  readonly #waiting: Waiting[] = [];
  #scheduled = false;
  #tail: Promise<unknown> = Promise.resolve();
  /**
   * The turn in which somebody else's code runs. The ledger's own code is not followed: where Node has
   * no cheaper way than a hook on each promise, that costs a tenth of everything.
   */
  readonly #turnOf = new AsyncLocalStorage<{ over: boolean }>();
  #guests = 0;

  constructor(
    private readonly runnerOf: () => QueryRunner,
    private readonly longTurn = LONG_TURN,
  ) {}

  /** A transaction of the ledger, within one turn of the event loop: the driver is synchronous, so only microtasks pass. */
  async transaction<T>(work: (runner: QueryRunner) => Promise<T>): Promise<T> {
    this.refuseWithin();
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, resolve: resolve as (result: unknown) => void, reject });
      this.#schedule();
    });
  }

  /** A turn of one's own, however long. */
  async exclusively<T>(work: () => Promise<T>): Promise<T> {
    this.refuseWithin();
    const result = this.#tail.then(work, work);
    this.#tail = result.catch(() => undefined);
    return result;
  }

  /** Code that is not the ledger's, within a turn: what it would wait for in vain is refused. */
  async guest<T>(work: () => Promise<T>): Promise<T> {
    const flow = { over: false };
    this.#guests++;
    try {
      return await this.#turnOf.run(flow, work);
    } finally {
      flow.over = true;
      // Once on, the hooks stay on for the whole process until they are switched off.
      if (--this.#guests === 0) this.#turnOf.disable();
    }
  }

  /**
   * Who waits for a turn from within one would wait for ever.
   * @throws TransactionRequiredError within a {@link guest}'s code
   */
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
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const turn = () => this.#turn();
    this.#tail = this.#tail.then(turn, turn);
  }

  /** Never rejects. */
  async #turn(): Promise<void> {
    const done: Waiting[] = [];
    const settle: (() => void)[] = [];
    try {
      const runner = this.runnerOf();
      await whenFree(async () => {
        await new Promise((resolve) => setImmediate(resolve));
        await runner.query('BEGIN IMMEDIATE');
      });
      await this.#share(runner, done, settle);
      for (const tell of settle) tell();
    } catch (error) {
      if (done.length === 0) done.push(...this.#waiting.splice(0));
      for (const { reject } of done) reject(error);
    }
    this.#scheduled = false;
    if (this.#waiting.length > 0) this.#schedule();
  }

  /** From BEGIN to COMMIT; throws where all of it is undone. */
  async #share(runner: QueryRunner, done: Waiting[], settle: (() => void)[]): Promise<void> {
    const until = performance.now() + this.longTurn;
    began(runner);
    try {
      for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
        done.push(next);
        const alone = done.length === 1 && this.#waiting.length === 0;
        settle.push(await (alone ? all(runner, next) : step(runner, next)));
        if (performance.now() > until) break;
      }
      await runner.query('COMMIT');
    } catch (error) {
      await runner.query('ROLLBACK').catch(() => undefined);
      throw error;
    } finally {
      ended(runner);
    }
  }
}

async function all(runner: QueryRunner, { work, resolve }: Waiting): Promise<() => void> {
  const result = await work(runner);
  return () => resolve(result);
}

/** One transaction among several: what it did is undone where it fails, and only that. */
async function step(runner: QueryRunner, { work, resolve, reject }: Waiting): Promise<() => void> {
  await runner.query('SAVEPOINT turn');
  try {
    const result = await work(runner);
    await runner.query('RELEASE turn');
    return () => resolve(result);
  } catch (error) {
    // Where SQLite has undone everything there is no savepoint any more, and all of them have failed.
    await runner.query('ROLLBACK TO turn').catch(() => {
      throw error;
    });
    await runner.query('RELEASE turn');
    return () => reject(error);
  }
}
