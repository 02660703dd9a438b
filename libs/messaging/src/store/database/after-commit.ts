import type { EntitySubscriberInterface, QueryRunner, DataSource } from 'typeorm';
import { depthOf } from './transaction-state.js';

interface Waiting {
  readonly callback: () => void;
  /** Depth of the savepoint whose rollback drops the callback. */
  depth: number;
}

/**
 * Runs callbacks after the *outermost* commit of a caller's transaction, and drops them on its
 * rollback. TypeORM reports savepoints as transactions, too. A callback neither delays nor fails
 * the commit; the wake job covers commits that TypeORM does not report.
 */
export class AfterCommit implements EntitySubscriberInterface {
  readonly #waiting = new WeakMap<QueryRunner, Waiting[]>();
  /** Commits whose callbacks run in this turn of the event loop. */
  #due = 0;

  constructor(private readonly dataSource: DataSource) {
    dataSource.subscribers.push(this);
  }

  /** Whether callbacks of a commit have not run yet. */
  get isDue(): boolean {
    return this.#due > 0;
  }

  on(runner: QueryRunner, callback: () => void): void {
    const waiting = this.#waiting.get(runner) ?? [];
    waiting.push({ callback, depth: depthOf(runner) });
    this.#waiting.set(runner, waiting);
  }

  afterTransactionCommit({ queryRunner }: { queryRunner: QueryRunner }): void {
    const waiting = this.#waiting.get(queryRunner) ?? [];
    if (queryRunner.isTransactionActive) {
      const outer = depthOf(queryRunner);
      for (const one of waiting) one.depth = Math.min(one.depth, outer);
      return;
    }
    this.#waiting.delete(queryRunner);
    this.#due++;
    setImmediate(() => {
      this.#due--;
      for (const { callback } of waiting) callback();
    });
  }

  afterTransactionRollback({ queryRunner }: { queryRunner: QueryRunner }): void {
    const outer = queryRunner.isTransactionActive ? depthOf(queryRunner) : 0;
    const waiting = this.#waiting.get(queryRunner) ?? [];
    this.#waiting.set(
      queryRunner,
      waiting.filter(({ depth }) => depth <= outer),
    );
  }

  close(): void {
    const at = this.dataSource.subscribers.indexOf(this);
    if (at >= 0) this.dataSource.subscribers.splice(at, 1);
  }
}
