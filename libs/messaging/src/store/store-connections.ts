import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import type { Dialect } from './dialect.js';
import { PreparedStatements } from './prepared-statements.js';
import { limitSession, limitTransaction, UNLIMIT_SESSION } from './session-limits.js';
import { type Sql, statementsOn, type Transaction } from './statements-on.js';
import { began } from './transaction-state.js';

export interface StoreConnectionOptions {
  /** Milliseconds after which a transaction of a process that fell silent is given up. */
  readonly silence: number;
  /** PostgreSQL plans what runs often once for each connection. */
  readonly preparedStatements: boolean;
}

/** Connections of a data source, each taken for one statement or one transaction of the store's own. */
export class StoreConnections {
  readonly #prepared: PreparedStatements | undefined;

  constructor(
    private readonly dialect: Dialect,
    /** Whose they are by now. */
    private readonly source: () => DataSource,
    private readonly ways: StoreConnectionOptions,
  ) {
    if (ways.preparedStatements) this.#prepared = new PreparedStatements();
  }

  /** Statements on a connection that somebody has. */
  on(runner: QueryRunner, manager: EntityManager): Transaction {
    return statementsOn(runner, manager, (sql) => {
      const text = this.dialect.placeholders(sql);
      this.#prepared?.count(text);
      return text;
    });
  }

  async statement<T>(work: (one: Sql) => Promise<T>): Promise<T> {
    const runner = this.source().createQueryRunner();
    try {
      await this.#prepared?.attach(runner);
      return await work(this.on(runner, runner.manager));
    } finally {
      await runner.release();
    }
  }

  /** @param patience milliseconds it waits for each lock; without: as the server has it */
  async transaction<T>(work: (tx: Transaction) => Promise<T>, patience?: number): Promise<T> {
    const runner = this.source().createQueryRunner();
    try {
      await this.#begin(runner, patience);
      const result = await work(this.on(runner, runner.manager));
      await runner.commitTransaction();
      return result;
    } catch (error) {
      if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
      throw error;
    } finally {
      // The connection is the app's, and may be long idle in its pool. One that broke has no limits.
      if (this.dialect.kind === 'mysql') await runner.query(UNLIMIT_SESSION).catch(() => undefined);
      await runner.release();
    }
  }

  /**
   * A frozen process must not keep the locks of the transaction it is in the middle of from those who
   * take over its work: the server ends a transaction in which nothing is said for too long.
   */
  async #begin(runner: QueryRunner, patience?: number): Promise<void> {
    const limits = { silence: this.ways.silence, patience };
    if (this.dialect.kind === 'mysql') {
      await runner.query(limitSession(limits));
      return runner.startTransaction('READ COMMITTED');
    }
    await this.#prepared?.attach(runner);
    began(runner);
    await runner.query(
      `START TRANSACTION ISOLATION LEVEL READ COMMITTED; ${limitTransaction(limits)}`,
    );
  }
}
