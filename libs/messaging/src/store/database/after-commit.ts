import type { EntitySubscriberInterface, QueryRunner, DataSource } from 'typeorm';
import { depthOf } from './transaction-state.js';

interface Waiting {
  readonly callback: () => void;
  /** Depth of the savepoint whose rollback drops the callback. */
  readonly depth: number;
}

/**
 * Runs callbacks after the *outermost* commit of a caller's transaction, once per key, and drops
 * them on its rollback. TypeORM reports savepoints as transactions, too. A callback neither delays
 * nor fails the commit; the wake job covers commits that TypeORM does not report.
 */
export class AfterCommit implements EntitySubscriberInterface {
  readonly #waiting = new WeakMap<QueryRunner, Map<string, Waiting>>();

  constructor(private readonly dataSource: DataSource) {
    dataSource.subscribers.push(this);
  }

  on(runner: QueryRunner, key: string, callback: () => void): void {
    const callbacks = this.#waiting.get(runner) ?? new Map<string, Waiting>();
    const depth = Math.min(depthOf(runner), callbacks.get(key)?.depth ?? Infinity);
    callbacks.set(key, { callback, depth });
    this.#waiting.set(runner, callbacks);
  }

  afterTransactionCommit({ queryRunner }: { queryRunner: QueryRunner }): void {
    const callbacks = this.#waiting.get(queryRunner);
    if (!callbacks) return;
    if (queryRunner.isTransactionActive) {
      const outer = depthOf(queryRunner);
      for (const [key, { callback, depth }] of callbacks)
        if (depth > outer) callbacks.set(key, { callback, depth: outer });
      return;
    }
    this.#waiting.delete(queryRunner);
    setImmediate(() => {
      for (const { callback } of callbacks.values()) callback();
    });
  }

  afterTransactionRollback({ queryRunner }: { queryRunner: QueryRunner }): void {
    const callbacks = this.#waiting.get(queryRunner) ?? new Map<string, Waiting>();
    const outer = queryRunner.isTransactionActive ? depthOf(queryRunner) : 0;
    for (const [key, { depth }] of callbacks) if (depth > outer) callbacks.delete(key);
  }

  close(): void {
    const at = this.dataSource.subscribers.indexOf(this);
    if (at >= 0) this.dataSource.subscribers.splice(at, 1);
  }
}
