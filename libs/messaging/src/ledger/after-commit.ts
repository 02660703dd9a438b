import type { EntitySubscriberInterface, QueryRunner, DataSource } from 'typeorm';

type Callback = () => void;

/**
 * Runs callbacks after the *outermost* commit of a caller's transaction, once per key, and drops them
 * on its rollback. TypeORM also tells of savepoints; those leave the transaction active. A callback
 * neither delays nor fails the commit. Commits nobody tells of are covered by the wake job.
 */
export class AfterCommit implements EntitySubscriberInterface {
  readonly #waiting = new WeakMap<QueryRunner, Map<string, Callback>>();

  constructor(private readonly dataSource: DataSource) {
    dataSource.subscribers.push(this);
  }

  on(runner: QueryRunner, key: string, callback: Callback): void {
    const callbacks = this.#waiting.get(runner) ?? new Map<string, Callback>();
    callbacks.set(key, callback);
    this.#waiting.set(runner, callbacks);
  }

  afterTransactionCommit({ queryRunner }: { queryRunner: QueryRunner }): void {
    if (queryRunner.isTransactionActive) return;
    const callbacks = this.#waiting.get(queryRunner);
    if (!callbacks) return;
    this.#waiting.delete(queryRunner);
    setImmediate(() => {
      for (const callback of callbacks.values()) callback();
    });
  }

  afterTransactionRollback({ queryRunner }: { queryRunner: QueryRunner }): void {
    if (!queryRunner.isTransactionActive) this.#waiting.delete(queryRunner);
  }

  close(): void {
    const at = this.dataSource.subscribers.indexOf(this);
    if (at >= 0) this.dataSource.subscribers.splice(at, 1);
  }
}
