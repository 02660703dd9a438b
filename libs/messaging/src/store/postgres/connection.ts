import type { EventEmitter } from 'node:events';
import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import type { FastPaths } from '../store.js';
import {
  ServerDatabase,
  type Sql,
  type StoreDatabaseOptions,
  type Transaction,
} from '../database/store-database.js';
import { setInTransaction } from '../database/transaction-state.js';
import { retryTransient } from '../database/retry.js';
import { POSTGRES_DIALECT } from './dialect.js';
import { enqueue } from './enqueue.js';
import { intend } from './intend.js';
import { releaseLanes, takeLanes } from './lanes.js';
import { plan } from './plan.js';
import { PreparedStatements } from './prepared-statements.js';
import { report } from './report.js';
import { settle } from './settle.js';

const FAST_PATHS: FastPaths = { enqueue, intend, plan, releaseLanes, report, settle, takeLanes };

export class PostgresDatabase extends ServerDatabase {
  readonly #prepared: PreparedStatements | undefined;

  constructor(dataSource: DataSource, options: StoreDatabaseOptions) {
    super(dataSource, POSTGRES_DIALECT, options, FAST_PATHS);
    if (options.preparedStatements && dataSource.options.type === 'postgres')
      this.#prepared = new PreparedStatements();
  }

  override async open(): Promise<void> {
    listenFromTheStart(this.dataSource);
  }

  readonly #standalone: Sql = {
    all: (sql, params) => retryTransient(() => this.all(sql, params)),
    run: (sql, params) => retryTransient(() => this.alone((one) => one.run(sql, params))),
  };

  override fastPath<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return work(this.#standalone);
  }

  /** Prepares only the store's own statements: a caller's could not be repeated after a loss. */
  protected override on(runner: QueryRunner, manager: EntityManager, isOwn = false): Transaction {
    const tx = super.on(runner, manager);
    const prepared = this.#prepared;
    if (!prepared || !isOwn) return tx;
    const named = (sql: string, params?: readonly unknown[]) => {
      const text = this.dialect.placeholders(sql);
      const name = prepared.nameOf(text);
      return name === undefined ? undefined : prepared.run(runner, name, text, params);
    };
    return {
      manager,
      all: async <T>(sql: string, params?: readonly unknown[]) => {
        const result = await named(sql, params);
        return result ? (result.rows as T[]) : tx.all<T>(sql, params);
      },
      run: async (sql, params) => {
        const result = await named(sql, params);
        return result ? (result.rowCount ?? 0) : tx.run(sql, params);
      },
    };
  }

  protected async begin(runner: QueryRunner, lockTimeout: number | undefined): Promise<void> {
    setInTransaction(runner, true);
    const lock =
      lockTimeout === undefined ? '' : `; SET LOCAL lock_timeout = ${Math.ceil(lockTimeout)}`;
    await runner.query(
      `START TRANSACTION ISOLATION LEVEL READ COMMITTED;
       SET LOCAL idle_in_transaction_session_timeout = ${Math.ceil(this.options.idleTimeout)}${lock}`,
    );
  }
}

/**
 * TypeORM adds its error listener a moment after a connection opens; one that breaks in between (a
 * failover, a pooler at its limit) would end the process with an unhandled error.
 */
function listenFromTheStart({ driver }: DataSource): void {
  const { master, slaves = [] } = driver as { master?: EventEmitter; slaves?: EventEmitter[] };
  for (const pool of [master, ...slaves])
    if (pool && !pool.listeners('connect').includes(listen)) pool.on('connect', listen);
}

function listen(connection: EventEmitter): void {
  connection.on('error', () => undefined);
}
